package progen

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"math/rand/v2"
	"strings"
)

// A mutation edits a program at a random place where it applies. It need not
// give a valid program: the result is parsed and type-checked.
type mutation struct {
	name   string
	weight int
	apply  func(*editor) bool
}

// mutations is the table of all of them.
var mutations = []mutation{
	{"drop-sync", 6, func(e *editor) bool { return e.drop(isSync) }},
	{"drop", 2, func(e *editor) bool { return e.drop(func(ast.Stmt) bool { return true }) }},
	{"drop-lock", 5, dropLock},
	{"swap", 8, swap},
	{"move-access", 6, func(e *editor) bool { return e.move(isAccess) }},
	{"move-sync", 6, func(e *editor) bool { return e.move(isSync) }},
	{"double", 5, double},
	{"copy-access", 8, func(e *editor) bool { return e.copyTo(isAccess, "%s") }},
	{"copy-sync", 3, func(e *editor) bool { return e.copyTo(isSync, "%s") }},
	{"spawn-access", 5, func(e *editor) bool { return e.copyTo(isAccess, "go func() {\n%s\n}()") }},
	{"spawn-sync", 3, func(e *editor) bool { return e.copyTo(isSync, "go func() {\n%s\n}()") }},
	{"rename", 8, renameVar},
	{"read-lock", 4, readLock},
	{"maybe", 5, func(e *editor) bool { return e.wrap("if maybe() {\n%s\n}") }},
	{"loop", 4, func(e *editor) bool { return e.wrap("for range 2 {\n%s\n}") }},
	{"leave", 4, leave},
	{"other-mutex", 5, otherMutex},
	{"hoist", 4, hoist},
	{"capacity", 4, capacity},
	{"channel", 5, channel},
	{"defer", 4, toggleDefer},
	{"go", 4, toggleGo},
	{"alias", 5, alias},
	{"try", 4, try},
	{"again", 4, again},
	{"helper", 4, helper},
}

// weighted draws the index of a mutation.
func weighted(rng *rand.Rand) int {
	total := 0
	for _, m := range mutations {
		total += m.weight
	}
	n := rng.IntN(total)
	for i, m := range mutations {
		if n -= m.weight; n < 0 {
			return i
		}
	}
	return 0
}

func (e *editor) drop(ok func(ast.Stmt) bool) bool {
	p, found := choose(e.rng, e.places(ok))
	if found {
		e.replace(p.stmt(), "")
	}
	return found
}

// lockPair finds a Lock or RLock and the Unlock after it in the same list, or
// deferred next to it.
func (e *editor) lockPair() (lock, unlock ast.Stmt, ok bool) {
	type pair struct{ lock, unlock ast.Stmt }
	var pairs []pair
	for _, l := range e.lists {
		for i, s := range l.stmts {
			x, m := methodCall(s)
			if m != "Lock" && m != "RLock" {
				continue
			}
			for _, u := range l.stmts[i+1:] {
				if y, n := methodCall(u); n == strings.Replace(m, "Lock", "Unlock", 1) && e.text(x) == e.text(y) {
					pairs = append(pairs, pair{s, u})
					break
				}
			}
		}
	}
	p, ok := choose(e.rng, pairs)
	return p.lock, p.unlock, ok
}

func dropLock(e *editor) bool {
	l, u, ok := e.lockPair()
	if ok {
		e.replace(l, "")
		e.replace(u, "")
	}
	return ok
}

func swap(e *editor) bool {
	p, ok := choose(e.rng, e.places(func(ast.Stmt) bool { return true }))
	if !ok || p.i+1 >= len(p.l.stmts) {
		return false
	}
	a, b := p.stmt(), p.l.stmts[p.i+1]
	e.replace(a, e.text(b))
	e.replace(b, e.text(a))
	return true
}

// target picks a place for one more statement, in the function decl if it is
// not nil.
func (e *editor) target(decl *ast.FuncDecl) (list, int, bool) {
	var ls []list
	for _, l := range e.lists {
		if decl == nil || l.decl == decl {
			ls = append(ls, l)
		}
	}
	l, ok := choose(e.rng, ls)
	return l, e.rng.IntN(len(l.stmts) + 1), ok
}

func (e *editor) move(is func(ast.Stmt) bool) bool {
	p, ok := choose(e.rng, e.places(is))
	if !ok {
		return false
	}
	l, i, ok := e.target(p.l.decl)
	if !ok {
		return false
	}
	text := e.text(p.stmt())
	e.replace(p.stmt(), "")
	e.insert(l, i, text)
	return true
}

func (e *editor) copyTo(is func(ast.Stmt) bool, format string) bool {
	p, ok := choose(e.rng, e.places(is))
	if !ok {
		return false
	}
	if _, isGo := p.stmt().(*ast.GoStmt); isGo && format != "%s" {
		return false
	}
	l, i, ok := e.target(nil)
	if ok {
		e.insert(l, i, fmt.Sprintf(format, e.text(p.stmt())))
	}
	return ok
}

func double(e *editor) bool {
	p, ok := choose(e.rng, e.places(isSync))
	if ok {
		e.insert(p.l, p.i+1+e.rng.IntN(len(p.l.stmts)-p.i), e.text(p.stmt()))
	}
	return ok
}

// renameVar makes one use of a variable a use of another one of its type.
func renameVar(e *editor) bool {
	uses := e.vars()
	id, ok := choose(e.rng, uses)
	if !ok {
		return false
	}
	v := e.p.info.Uses[id]
	var names []string
	for _, o := range uses {
		if w := e.p.info.Uses[o]; w != v && w.Name() != v.Name() && types.Identical(w.Type(), v.Type()) {
			names = append(names, w.Name())
		}
	}
	name, ok := choose(e.rng, names)
	if ok {
		e.replace(id, name)
	}
	return ok
}

// readLock makes a pair of Lock and Unlock one of RLock and RUnlock.
func readLock(e *editor) bool {
	l, u, ok := e.lockPair()
	if !ok || strings.Contains(e.text(l), "RLock") {
		return false
	}
	ast.Inspect(e.p.file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && e.text(s) == "sync.Mutex" {
			e.replace(s, "sync.RWMutex")
		}
		return true
	})
	e.replace(l, strings.Replace(e.text(l), "Lock", "RLock", 1))
	e.replace(u, strings.Replace(e.text(u), "Unlock", "RUnlock", 1))
	return true
}

func (e *editor) wrap(format string) bool {
	p, ok := choose(e.rng, e.places(func(s ast.Stmt) bool {
		_, isDecl := s.(*ast.DeclStmt)
		a, isAssign := s.(*ast.AssignStmt)
		return !isDecl && !(isAssign && a.Tok == token.DEFINE)
	}))
	if ok {
		e.replace(p.stmt(), fmt.Sprintf(format, e.text(p.stmt())))
	}
	return ok
}

// leave adds an early exit.
func leave(e *editor) bool {
	l, i, ok := e.target(nil)
	if !ok {
		return false
	}
	how := "return"
	if l.loop != nil {
		how = []string{"return", "continue", "break"}[e.rng.IntN(3)]
	}
	e.insert(l, i, "if maybe() {\n"+how+"\n}")
	return true
}

// otherMutex gives one pair of Lock and Unlock, or one of the two, a new mutex.
func otherMutex(e *editor) bool {
	l, u, ok := e.lockPair()
	if !ok {
		return false
	}
	x, _ := methodCall(l)
	y, _ := methodCall(u)
	t := "sync.Mutex"
	if _, m := methodCall(l); m == "RLock" {
		t = "sync.RWMutex"
	}
	name := "mu3"
	if e.rng.IntN(8) > 0 {
		e.replace(x, name)
	}
	e.replace(y, name)
	e.declare("var " + name + " " + t)
	return true
}

// declare adds a declaration before the first function.
func (e *editor) declare(text string) {
	at := e.off(e.funcs()[0].Pos())
	e.edits = append(e.edits, edit{at, at, text + "\n\n"})
}

// hoist moves a declaration out of the loop whose body it is in.
func hoist(e *editor) bool {
	var ps []place
	for _, l := range e.lists {
		if l.loop == nil {
			continue
		}
		for i, s := range l.stmts {
			switch s := s.(type) {
			case *ast.DeclStmt:
				ps = append(ps, place{l, i})
			case *ast.AssignStmt:
				if s.Tok == token.DEFINE {
					ps = append(ps, place{l, i})
				}
			}
		}
	}
	p, ok := choose(e.rng, ps)
	if !ok {
		return false
	}
	at := e.off(p.l.loop.Pos())
	e.edits = append(e.edits, edit{at, at, e.text(p.stmt()) + "\n"})
	e.replace(p.stmt(), "")
	return true
}

// capacity changes that of a channel.
func capacity(e *editor) bool {
	var calls []*ast.CallExpr
	for _, d := range e.p.file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == "maybe" {
			continue
		}
		ast.Inspect(d, func(n ast.Node) bool {
			if c, ok := n.(*ast.CallExpr); ok {
				if id, ok := c.Fun.(*ast.Ident); ok && id.Name == "make" {
					if _, ok := c.Args[0].(*ast.ChanType); ok {
						calls = append(calls, c)
					}
				}
			}
			return true
		})
	}
	c, ok := choose(e.rng, calls)
	if ok {
		e.replace(c, "make("+e.text(c.Args[0])+[]string{"", ", 1", ", 2"}[e.rng.IntN(3)]+")")
	}
	return ok
}

// channel adds an operation on a channel, by another goroutine or not.
func channel(e *editor) bool {
	var ids []*ast.Ident
	for _, id := range e.vars() {
		if _, ok := e.p.info.Uses[id].Type().Underlying().(*types.Chan); ok {
			ids = append(ids, id)
		}
	}
	id, ok := choose(e.rng, ids)
	if !ok {
		return false
	}
	zero := "nil"
	switch t := e.p.info.Uses[id].Type().Underlying().(*types.Chan).Elem(); {
	case isInteger(t):
		zero = "0"
	case types.Identical(t, types.Typ[types.Bool]):
		zero = "true"
	}
	ops := []string{"<-%s", "<-%s", "close(%s)", "%s <- " + zero, "%s <- " + zero,
		"select {\ncase <-%s:\ndefault:\n}", "for range %s {\n}"}
	op := fmt.Sprintf(ops[e.rng.IntN(len(ops))], id.Name)
	if e.rng.IntN(2) == 0 {
		op = "go func() {\n" + op + "\n}()"
	}
	l, i, ok := e.target(nil)
	if ok {
		e.insert(l, i, op)
	}
	return ok
}

// toggleDefer defers a call, or calls at once what was deferred.
func toggleDefer(e *editor) bool {
	p, ok := choose(e.rng, e.places(func(s ast.Stmt) bool {
		switch s := s.(type) {
		case *ast.DeferStmt:
			return true
		case *ast.ExprStmt:
			_, ok := s.X.(*ast.CallExpr)
			return ok && isSync(s)
		}
		return false
	}))
	if !ok {
		return false
	}
	text, deferred := strings.CutPrefix(e.text(p.stmt()), "defer ")
	if !deferred {
		text = "defer " + text
	}
	e.replace(p.stmt(), text)
	return true
}

// toggleGo spawns a call, or calls what was spawned.
func toggleGo(e *editor) bool {
	p, ok := choose(e.rng, e.places(func(s ast.Stmt) bool {
		switch s := s.(type) {
		case *ast.GoStmt:
			return true
		case *ast.ExprStmt:
			c, ok := s.X.(*ast.CallExpr)
			if !ok || !isSync(s) {
				return false
			}
			switch fun := c.Fun.(type) {
			case *ast.Ident:
				return true
			case *ast.SelectorExpr:
				return e.rng.IntN(4) == 0 && fun.Sel.Name != "Lock"
			}
		}
		return false
	}))
	if !ok {
		return false
	}
	text, spawned := strings.CutPrefix(e.text(p.stmt()), "go ")
	if !spawned {
		text = "go " + text
	}
	e.replace(p.stmt(), text)
	return true
}

// alias makes a pointer, channel or function variable equal to another, always or
// on a branch.
func alias(e *editor) bool {
	var ids []*ast.Ident
	for _, id := range e.vars() {
		switch e.p.info.Uses[id].Type().Underlying().(type) {
		case *types.Pointer, *types.Chan, *types.Slice, *types.Map, *types.Signature:
			ids = append(ids, id)
		}
	}
	a, ok := choose(e.rng, ids)
	if !ok {
		return false
	}
	var others []*ast.Ident
	for _, b := range ids {
		if a.Name != b.Name && types.Identical(e.p.info.Uses[a].Type(), e.p.info.Uses[b].Type()) {
			others = append(others, b)
		}
	}
	b, ok := choose(e.rng, others)
	if !ok {
		return false
	}
	text := a.Name + " = " + b.Name
	if e.rng.IntN(2) == 0 {
		text = "if maybe() {\n" + text + "\n}"
	}
	l, i, ok := e.target(nil)
	if ok {
		e.insert(l, i, text)
	}
	return ok
}

// try makes a Lock a TryLock, whose failure skips the section, or is ignored.
func try(e *editor) bool {
	l, u, ok := e.lockPair()
	if !ok {
		return false
	}
	call := strings.Replace(e.text(l), "Lock()", "TryLock()", 1)
	if strings.Contains(call, "RTryLock") {
		call = strings.Replace(call, "RTryLock", "TryRLock", 1)
	}
	if e.rng.IntN(3) == 0 {
		e.replace(l, call)
		return true
	}
	not := ""
	if e.rng.IntN(4) == 0 {
		not = "!"
	}
	e.replace(l, "if "+not+call+" {")
	e.replace(u, e.text(u)+"\n}")
	return true
}

// again runs the body of main twice.
func again(e *editor) bool {
	for _, d := range e.funcs() {
		if d.Recv == nil && d.Name.Name == "main" {
			e.replace(d.Name, "run")
			how := []string{"go run()\nrun()", "run()\nrun()", "for range 2 {\ngo run()\n}"}
			e.declare("func main() {\n" + how[e.rng.IntN(len(how))] + "\n}")
			return true
		}
	}
	return false
}

// helper moves a statement that names package-level variables only into a
// function of its own.
func helper(e *editor) bool {
	p, ok := choose(e.rng, e.places(func(s ast.Stmt) bool { return isSync(s) || isAccess(s) }))
	if !ok {
		return false
	}
	e.declare("func helper3() {\n" + e.text(p.stmt()) + "\n}")
	e.replace(p.stmt(), "helper3()")
	return true
}
