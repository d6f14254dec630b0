package eval

import (
	"testing"

	"dbg/symbols/types"
)

// A name that is a type and something else: what is in scope hides the type, and the member function of a class does not.
func TestTypeNameAndOthers(t *testing.T) {
	t.Parallel()
	node := types.NewStruct(types.Struct, "node", 24, []types.Field{{Name: "n", Type: typeInt}})
	inner := types.NewStruct(types.Struct, "inner", 8, []types.Field{{Name: "node", Type: typeChar}})
	outer := types.NewStruct(types.Struct, "outer", 8, []types.Field{{Name: "inner", Base: true, Type: inner}})
	method := types.NewFunc(typeInt, []*types.Type{typeInt})
	for _, tc := range []struct {
		name string
		vars map[string]Value
		want string
	}{
		{"nothing else", nil, "24"},
		{"constructor", map[string]Value{"node": FunctionValue("node::node", 0x10, method)}, "24"},
		{"constructor of a template", map[string]Value{"node": FunctionValue("a::node<b::c>::node", 0x10, method)}, "24"},
		{"member function of another class", map[string]Value{"node": FunctionValue("outer::node", 0x10, method)}, "24"},
		{"function", map[string]Value{"node": FunctionValue("node", 0x10, method)}, "1"},
		{"function of a namespace", map[string]Value{"node": FunctionValue("space::node", 0x10, method)}, "1"},
		{"variable", map[string]Value{"node": {Type: typeChar16, Bytes: []byte{1, 0}}}, "2"},
		{"member of a base class", map[string]Value{"this": {Type: pointerTo(outer, 8), Bytes: make([]byte, 8)}}, "1"},
	} {
		e := newFakeEnv()
		e.types["node"], e.types["outer"] = node, outer
		for name, v := range tc.vars {
			v.Name = name
			e.vars[name] = v
		}
		e.memory[0] = make([]byte, 16)
		if got := e.print2("sizeof(node)"); got != tc.want {
			t.Errorf("%s: sizeof(node) is %s, want %s", tc.name, got, tc.want)
		}
	}
}
