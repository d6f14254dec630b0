package eval

import (
	"sort"
	"strings"

	"dbg/symbols/types"
)

// Ranks of a conversion, the best first: C++17, section 16.3.3.1.
const (
	exact = iota
	promotion
	conversion
	ellipsis
	impossible
)

// resolve chooses among functions by the types of the arguments.
func (e *evaluator) resolve(name string, list []candidate, args []Value) (*candidate, error) {
	if len(list) == 1 {
		return &list[0], nil
	}
	type ranked struct {
		*candidate
		ranks []int
	}
	var viable []ranked
	for i := range list {
		c := &list[i]
		if len(args) < len(c.params) || len(args) > len(c.params) && !c.fn.Type.Strip().Variadic() {
			continue
		}
		ranks, ok := []int{c.objectRank()}, c.objectRank() < impossible
		for j, a := range args {
			r := ellipsis
			if j < len(c.params) {
				r = rank(a, c.params[j])
			}
			ranks, ok = append(ranks, r), ok && r < impossible
		}
		if ok {
			viable = append(viable, ranked{c, ranks})
		}
	}
	better := func(a, b []int) bool {
		some := false
		for i := range a {
			if a[i] > b[i] {
				return false
			}
			some = some || a[i] < b[i]
		}
		return some
	}
	var best []ranked
	for i, v := range viable {
		wins := true
		for j, w := range viable {
			wins = wins && (i == j || better(v.ranks, w.ranks))
		}
		if wins {
			return v.candidate, nil
		}
		best = append(best, v)
	}
	if len(best) == 0 {
		kind := "function"
		if list[0].method != nil {
			kind = "method"
		}
		return nil, errorf("Cannot resolve %s %s to any overloaded instance", kind, name)
	}
	var texts []string
	for _, b := range best {
		var ps []string
		for _, p := range b.params {
			ps = append(ps, p.String())
		}
		texts = append(texts, b.fn.function+"("+strings.Join(ps, ", ")+")")
	}
	sort.Strings(texts)
	return nil, errorf("The call of %s is ambiguous; candidates are:\n%s", name, strings.Join(texts, "\n"))
}

// objectRank prefers a method that is not const for an object that is not.
func (c *candidate) objectRank() int {
	if c.object == nil || c.method == nil {
		return exact
	}
	this := c.method.Type.Params()
	if len(this) == 0 {
		return exact
	}
	to := elemOf(this[0])
	constant := to != nil && to.Kind == types.Const
	switch object := c.object.Type.Kind == types.Const; {
	case object && !constant:
		return impossible
	case !object && constant:
		return promotion
	}
	return exact
}

// rank tells how well an argument fits a parameter.
func rank(v Value, param *types.Type) int {
	from := v.Type
	lvalue := v.HasAddr || v.InReg
	if isReference(from) {
		from, lvalue = elemOf(from), true
	}
	if isReference(param) {
		to := elemOf(param)
		constant := to != nil && to.Kind == types.Const
		r := rank(Value{Type: from, Bytes: v.Bytes}, to)
		switch {
		case kindOf(param) == types.RvalueReference && lvalue:
			return impossible
		case kindOf(param) == types.Reference && !constant && (!lvalue || r == promotion || r == conversion && !isStruct(to)):
			return impossible
		case kindOf(param) == types.Reference && constant && r == exact && (from == nil || from.Kind != types.Const || !lvalue):
			return promotion // T& and T&& are better
		}
		return r
	}
	a, b := kindOf(from), kindOf(param)
	number := func(k types.Kind) bool {
		return k == types.Bool || k == types.Int || k == types.Uint || k == types.Char || k == types.Float || k == types.Enum
	}
	switch {
	case equivalent(from, param):
		return exact
	case a == types.Array && b == types.Pointer, a == types.Pointer && b == types.Pointer:
		f, t := elemOf(from), elemOf(param)
		switch {
		case equivalent(f, t):
			if f != nil && f.Kind == types.Const && t.Kind != types.Const && v.HasAddr {
				return impossible
			}
			if f != nil && f.Kind != types.Const && t.Kind == types.Const && a == types.Pointer {
				return promotion
			}
			return exact
		case kindOf(t) == types.Void:
			return conversion
		case isStruct(f) && isStruct(t):
			if _, ok := baseOffset(f, t, 0); ok {
				return conversion
			}
		}
		return impossible
	case a == types.Func && b == types.Pointer:
		if kindOf(elemOf(param)) == types.Func {
			return exact
		}
		return impossible
	case number(a) && number(b):
		small := a != types.Float && (sizeOf(from) < 4 || a == types.Enum)
		switch {
		case b == types.Enum:
			return impossible
		case small && b == types.Int && sizeOf(param) == 4, a == types.Float && sizeOf(from) == 4 && b == types.Float && sizeOf(param) == 8:
			return promotion
		}
		return conversion
	case a == types.Pointer && b == types.Bool:
		return conversion
	case a == types.Int && b == types.Pointer && len(v.Bytes) > 0 && !lvalue && strings.Trim(string(v.Bytes), "\x00") == "":
		return conversion // the null pointer
	case isStruct(from) && isStruct(param):
		if _, ok := baseOffset(from, param, 0); ok {
			return conversion
		}
	}
	return impossible
}

// equivalent compares types without their qualifiers. Base types have several spellings: "long",
// "long int".
func equivalent(a, b *types.Type) bool {
	for range 32 {
		if a == nil || b == nil {
			return kindOf(a) == types.Void && kindOf(b) == types.Void
		}
		a, b = a.Strip(), b.Strip()
		if a == b {
			return true
		}
		if sizeOf(a) != sizeOf(b) {
			return false
		}
		if a.Kind != b.Kind {
			// In C++ wchar_t and its like are base types, which DWARF calls integers.
			return a.Name == b.Name && strings.HasSuffix(a.Name, "_t") && isIntegral(a) && isIntegral(b)
		}
		switch a.Kind {
		case types.Pointer, types.Reference, types.RvalueReference, types.Array:
			a, b = a.Elem(), b.Elem()
			continue
		case types.Func:
			return true
		}
		return usualName(a) == usualName(b)
	}
	return false
}

func usualName(t *types.Type) string {
	words := strings.Fields(t.Name)
	for _, w := range words {
		if !isTypeWord(w) {
			return t.Name
		}
	}
	_, name := builtinType(words)
	return name
}
