package facts

import (
	"reflect"
	"slices"
	"testing"
)

// TestUses fills each kind of row with registers of its own, by reflection, and
// asks for all of them back but the one that the point defines: a register that
// is added to a row and forgotten in Uses is found.
func TestUses(t *testing.T) {
	for op, name := range map[Op]string{
		OpAlloc: "Allocs", OpCopy: "Copies", OpPhi: "Phis", OpAddr: "Addrs", OpMem: "Mems", OpDeep: "Deeps", OpReach: "Reaches",
		OpAssert: "Asserts", OpCall: "Calls", OpAny: "Anys", OpSync: "Syncs", OpSelect: "Selects", OpGhost: "Ghosts", OpNew: "News", OpArith: "Ariths",
	} {
		f := &Func{Lins: []Lin{{}, {Terms: []Term{{Reg: 91, Coef: 1}}}, {Terms: []Term{{Reg: 92, Coef: 1}}}, {Terms: []Term{{Reg: 93, Coef: 1}}}}}
		rows := reflect.ValueOf(f).Elem().FieldByName(name)
		rows.Set(reflect.MakeSlice(rows.Type(), 1, 1))
		row, next, lins := rows.Index(0), Reg(1), uint32(1)
		var all []Reg
		var fill func(v reflect.Value)
		fill = func(v reflect.Value) {
			for i := range v.NumField() {
				fv := v.Field(i)
				switch fv.Interface().(type) {
				case Reg:
					fv.SetUint(uint64(next))
					all = append(all, next)
					next++
				case []Reg:
					fv.Set(reflect.ValueOf([]Reg{next, next + 1}))
					all = append(all, next, next+1)
					next += 2
				case []SelectCase:
					fv.Set(reflect.ValueOf([]SelectCase{{Chan: next}, {Chan: next + 1}}))
					all = append(all, next, next+1)
					next += 2
				case uint32:
					switch v.Type().Field(i).Name {
					case "Index", "High", "Max":
						fv.SetUint(uint64(lins))
						all = append(all, 90+Reg(lins))
						lins++
					}
				}
			}
		}
		fill(row)
		pt := Point{Op: op}
		def := f.Defines(pt)
		var got []Reg
		f.Uses(pt, func(r Reg) { got = append(got, r) })
		for _, r := range all {
			if r != def && !slices.Contains(got, r) {
				t.Errorf("%s: register %d of %+v is not among the uses %v", name, r, row, got)
			}
		}
		if slices.Contains(got, NoReg) {
			t.Errorf("%s: no register among the uses", name)
		}
	}
}
