package facts

import (
	"fmt"
	"strings"
)

// SkeletonID identifies a skeleton in a Universe.
type SkeletonID uint32

// SkeletonOf returns what types that are Convertible have in common: kinds and
// sizes, two levels deep, without names of types and tags. It is cached.
func (u *Universe) SkeletonOf(t TypeID) SkeletonID {
	for len(u.skeletonOf) < len(u.Types) {
		u.skeletonOf = append(u.skeletonOf, 0)
	}
	if k := u.skeletonOf[t]; k != 0 {
		return k
	}
	k := u.skeleton(u.bones(t))
	u.skeletonOf[t] = k
	return k
}

// SliceSkeleton returns the skeleton of slices of t.
func (u *Universe) SliceSkeleton(t TypeID) SkeletonID {
	return u.skeleton(fmt.Sprint(Slice, 24, u.bone(t)))
}

func (u *Universe) skeleton(text string) SkeletonID {
	k, ok := u.skeletons[text]
	if !ok {
		if u.skeletons == nil {
			u.skeletons = map[string]SkeletonID{}
		}
		k = SkeletonID(len(u.skeletons) + 1)
		u.skeletons[text] = k
	}
	return k
}

// bones is a type's skeleton as text, bone that of a part.
func (u *Universe) bones(t TypeID) string {
	ty := &u.Types[t]
	var b strings.Builder
	fmt.Fprint(&b, ty.Kind, ty.Size)
	switch ty.Kind {
	case Struct:
		for i := range ty.Fields {
			b.WriteString(ty.Fields[i].Name + u.bone(ty.Fields[i].Type))
		}
	case FuncKind:
		for i := range ty.Fields {
			b.WriteString(u.bone(ty.Fields[i].Type))
		}
	case Pointer, Slice, Array, Chan:
		b.WriteString(u.bone(ty.Elem))
	case Map:
		b.WriteString(u.bone(ty.Key) + u.bone(ty.Elem))
	default:
		b.WriteString(ty.Shape)
	}
	return b.String()
}

func (u *Universe) bone(t TypeID) string {
	ty := &u.Types[t]
	if ty.Kind == Scalar {
		return ty.Shape + ";"
	}
	return fmt.Sprint(ty.Kind, ty.Size, ";")
}
