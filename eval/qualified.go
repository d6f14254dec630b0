package eval

import (
	"strings"

	"dbg/symbols/types"
)

// qualifiedMember evaluates "Class::member" where that is no variable: a static member of a class that
// has another name (std::string::npos), a member of the current method's object, or a member that only
// sizeof and decltype can name.
func (e *evaluator) qualifiedMember(name string) (v Value, found bool, err error) {
	i := strings.LastIndex(name, "::")
	if i <= 0 {
		return Value{}, false, nil
	}
	class, last := e.env.Type(name[:i]), name[i+2:]
	if !isStruct(class) {
		return Value{}, false, nil
	}
	path, ok, err := memberPath(class, last, 0)
	if !ok || err != nil {
		return Value{}, false, nil
	}
	f := path[len(path)-1]
	if f.Static {
		of := class
		if len(path) > 1 {
			of = path[len(path)-2].Type
		}
		return staticMember(Value{Type: of}, f, e.env), true, nil
	}
	if obj, err := e.env.Variable("this"); err == nil {
		if obj, err = e.pointee(obj); err == nil {
			if base, ok := baseNamed(obj, className(class), e.env, 0); ok {
				v, ok = member(base, last, e.env)
				return v, ok, nil
			}
		}
	}
	if e.dry > 0 {
		return Value{Type: f.Type, Name: last, Avail: OptimizedOut}, true, nil
	}
	return Value{}, true, errorf("Cannot reference non-static field %q", last)
}

func className(t *types.Type) string { return t.Strip().Name }
