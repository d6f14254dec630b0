package eval

import (
	"fmt"

	"dbg/symbols/types"
)

// NumChildren returns the number of parts of a value: the fields of a structure, or the elements of
// an array. A string has none. A pointer to a structure has the structure's fields. Any other
// pointer has its target as the only part. A null pointer, a char pointer, and a pointer to void or
// to a function have no parts.
func NumChildren(v Value, env Env) int {
	n := newTree(v, env).count
	return int(min(n, 1<<31-1))
}

// NumItems returns how many of the parts are items of a view, or 0 if the value has none. They are the
// first parts.
func NumItems(v Value, env Env) int {
	v, err := follow(v, env)
	if err == nil && kindOf(v.Type) == types.Pointer && isStruct(v.Type.Strip().ElemAsDeclared()) {
		v, err = indirect(v, env)
	}
	if err != nil {
		return 0
	}
	if t, ok := viewTree(v, env); ok {
		return int(min(t.count-1, 1<<31-1))
	}
	return 0
}

// PartsElsewhere reports whether a value is a pointer to a structure that is only declared in the
// pointer's file. To count its parts, its definition would have to be searched in the whole
// program. That is done only when the value is opened.
func PartsElsewhere(v Value, env Env) bool {
	v, err := follow(v, env)
	if err != nil || v.Avail != Available || kindOf(v.Type) != types.Pointer {
		return false
	}
	to := v.Type.Strip().ElemAsDeclared()
	if kindOf(to) != types.Opaque || to.Strip().DeclaredKind() == types.Enum {
		return false
	}
	v = load(v, env)
	return v.Avail == Available && integerOf(v) != 0
}

// Children returns count parts from part start on. A count <= 0 means all of them, up to 10000. A
// part that can't be read contains its error.
func Children(v Value, env Env, start, count int) ([]Value, error) {
	t := newTree(v, env)
	if start < 0 {
		start = 0
	}
	if count <= 0 || count > maxChildren {
		count = maxChildren
	}
	if int64(start) >= t.count {
		return nil, t.err
	}
	n := min(int64(count), t.count-int64(start))
	out := make([]Value, 0, n)
	for i := int64(start); i < int64(start)+n; i++ {
		c := t.at(i)
		if byteSize(c) <= maxKeep {
			c = load(c, env)
		}
		out = append(out, c)
	}
	return out, t.err
}

// tree describes the parts of a value.
type tree struct {
	count int64
	at    func(int64) Value
	err   error
}

func newTree(v Value, env Env) tree {
	name := v.Name
	v, err := follow(v, env)
	if err != nil {
		return tree{err: err}
	}
	if to, ok := implied(v); ok {
		if isStruct(to.Type) {
			return fieldTree(to, env)
		}
		to.Name = "*" + name
		return tree{count: 1, at: func(int64) Value { return to }}
	}
	if v.Avail != Available && v.Avail != Partial {
		return tree{}
	}
	if t, ok := goTree(v, env); ok {
		return t
	}
	if t, ok := viewTree(v, env); ok {
		return t
	}
	if s, ok := sequenceOf(v, env); ok {
		if s.text {
			return tree{}
		}
		return tree{count: s.count, at: func(i int64) Value {
			c := s.at(i)
			c.Name = fmt.Sprintf("[%d]", i)
			return c
		}}
	}
	switch kindOf(v.Type) {
	case types.Struct, types.Union:
		return fieldTree(asObject(v, env), env)
	case types.Array:
		elem := elemOf(v.Type)
		size, total := sizeOf(elem), sizeOf(v.Type)
		if size <= 0 || total <= 0 {
			return tree{}
		}
		return tree{count: total / size, at: func(i int64) Value {
			return part(v, i*size, elem, fmt.Sprintf("[%d]", i))
		}}
	case types.Pointer:
		elem := elemOf(v.Type)
		if _, text := charKind(elem); text || sizeOf(elem) <= 0 || kindOf(elem) == types.Func || kindOf(elem) == types.Void {
			return tree{}
		}
		if v = load(v, env); v.Avail != Available || integerOf(v) == 0 {
			return tree{}
		}
		p, err := indirect(v, env)
		if err != nil {
			return tree{err: err}
		}
		p = asObject(p, env)
		if t, ok := viewTree(p, env); ok {
			return t
		}
		if _, isSequence := sequenceOf(p, env); isStruct(elem) && !isSequence {
			return fieldTree(p, env)
		}
		p.Name = "*" + name
		return tree{count: 1, at: func(int64) Value { return p }}
	}
	return tree{}
}

// fieldTree returns the members of a structure, with base classes as "<Base>".
func fieldTree(v Value, env Env) tree {
	if size := sizeOf(v.Type); size > 0 && size <= maxKeep {
		if r := load(v, env); r.Avail != Unreadable {
			v = r
		}
	}
	if form, ok := variantOf(v, env); ok {
		if form.Avail != Available && form.Avail != Partial || !isStruct(form.Type) {
			return tree{}
		}
		v = form
	}
	fields := v.Type.Strip().Fields()
	return tree{count: int64(len(fields)), at: func(i int64) Value {
		f := &fields[i]
		switch {
		case f.Static:
			return staticMember(v, f, env)
		case f.Base:
			c := fieldOf(v, f, env)
			c.Name, c.base = "<"+baseName(f)+">", true
			return c
		}
		c := fieldOf(v, f, env)
		if c.Name == "" {
			c.Name = "<anonymous>"
			if kindOf(f.Type) == types.Union {
				c.Name = "<anonymous union>"
			}
		}
		return c
	}}
}
