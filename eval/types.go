package eval

import (
	"strings"

	"dbg/symbols/lang"
	"dbg/symbols/types"
)

// Types of constants and results. They never change.
var (
	typeBool       = types.New(types.Bool, "bool", 1, false, nil)
	typeChar       = types.New(types.Char, "char", 1, true, nil)
	typeSignedChar = types.New(types.Char, "signed char", 1, true, nil)
	typeUchar      = types.New(types.Char, "unsigned char", 1, false, nil)
	typeShort      = types.New(types.Int, "short", 2, true, nil)
	typeUshort     = types.New(types.Uint, "unsigned short", 2, false, nil)
	typeInt        = types.New(types.Int, "int", 4, true, nil)
	typeUint       = types.New(types.Uint, "unsigned int", 4, false, nil)
	typeLong       = types.New(types.Int, "long", 8, true, nil)
	typeUlong      = types.New(types.Uint, "unsigned long", 8, false, nil)
	typeGoInt      = types.New(types.Int, "int", 8, true, nil) // of a constant in Go
	typeLonglong   = types.New(types.Int, "long long", 8, true, nil)
	typeUlonglong  = types.New(types.Uint, "unsigned long long", 8, false, nil)
	typeInt128     = types.New(types.Int, "__int128", 16, true, nil)
	typeUint128    = types.New(types.Uint, "unsigned __int128", 16, false, nil)
	typeFloat      = types.New(types.Float, "float", 4, true, nil)
	typeDouble     = types.New(types.Float, "double", 8, true, nil)
	typeLongDouble = types.New(types.Float, "long double", 16, true, nil)
	typeVoid       = types.New(types.Void, "void", 0, false, nil)
	typeWchar      = types.New(types.Char, "wchar_t", 4, true, nil)
	typeChar16     = types.New(types.Char, "char16_t", 2, false, nil)
	typeChar32     = types.New(types.Char, "char32_t", 4, false, nil)

	unknownFunction = types.NewFunc(typeInt, nil)
)

// sizeOf returns the type's size in bytes: 0 for void, -1 if it is unknown.
func sizeOf(t *types.Type) int64 { return sizeAt(t, 0) }

func sizeAt(t *types.Type, depth int) int64 {
	if t == nil {
		return 0
	}
	t = t.Strip()
	switch t.Kind {
	case types.Void:
		return 0
	case types.Func:
		return 1
	case types.Array:
		if t.Size > 0 || t.Count == 0 {
			return t.Size
		}
		e := int64(-1)
		if depth < maxNesting {
			e = sizeAt(t.Elem(), depth+1)
		}
		if e <= 0 || t.Count < 0 || t.Count > (1<<62)/e {
			return -1
		}
		return e * t.Count
	case types.Reference, types.RvalueReference, types.Pointer:
		if t.Size <= 0 {
			return 8
		}
	}
	return t.Size
}

// kindOf returns the kind of the type without typedefs and qualifiers.
func kindOf(t *types.Type) types.Kind {
	if t == nil {
		return types.Void
	}
	return t.Strip().Kind
}

// elemOf returns the element or target type of a pointer, reference, array or function; nil means
// void.
func elemOf(t *types.Type) *types.Type {
	if t == nil {
		return nil
	}
	return t.Strip().Elem()
}

func isReference(t *types.Type) bool {
	k := kindOf(t)
	return k == types.Reference || k == types.RvalueReference
}

func isStruct(t *types.Type) bool {
	k := kindOf(t)
	return k == types.Struct || k == types.Union
}

// isIntegral reports whether the type's bytes are an integer.
func isIntegral(t *types.Type) bool {
	switch kindOf(t) {
	case types.Bool, types.Int, types.Uint, types.Char, types.Enum, types.Pointer, types.MemberPointer,
		types.Reference, types.RvalueReference:
		return true
	}
	return false
}

// isSigned reports whether an integral type is extended with its sign.
func isSigned(t *types.Type) bool {
	t = t.Strip()
	switch t.Kind {
	case types.Int:
		return true
	case types.Char, types.Enum:
		return t.Signed
	}
	return false
}

// charKind reports whether the type is a character type, and returns the prefix of its literals.
// wchar_t and similar types are integers that are identified by the names of their typedefs, as in
// gdb.
func charKind(t *types.Type) (prefix string, ok bool) {
	for range 100 {
		if t == nil {
			return "", false
		}
		switch t.Name {
		case "wchar_t":
			return "L", true
		case "char8_t":
			return "u8", true
		case "char16_t":
			return "u", true
		case "char32_t":
			return "U", true
		}
		switch t.Kind {
		case types.Typedef, types.Const, types.Volatile, types.Restrict, types.Atomic:
			t = t.Elem()
			continue
		case types.Char:
			if t.Size == 4 && t.Lang == lang.Rust {
				return "", true
			}
			return map[int64]string{2: "u", 4: "U"}[t.Size], t.Size == 1 || t.Size == 2 || t.Size == 4
		}
		return "", false
	}
	return "", false
}

// pointerTo returns a pointer type.
func pointerTo(t *types.Type, size int) *types.Type {
	if t == nil {
		t = typeVoid
	}
	return types.New(types.Pointer, "", int64(size), false, t)
}

// arrayOf returns an array type, or false if it would be larger than an address space.
func arrayOf(t *types.Type, n int64) (*types.Type, bool) {
	size := sizeOf(t)
	if t == nil || size <= 0 || n < 0 || n > (1<<47)/size {
		return nil, false
	}
	a := types.NewArray(t, n)
	a.Size = size * n
	return a, true
}

// builtinType returns the type that C keywords name, in any order: "long unsigned int". The second
// result is its usual name.
func builtinType(words []string) (*types.Type, string) {
	n := map[string]int{}
	for _, w := range words {
		n[w]++
	}
	unsigned := n["unsigned"] > 0
	pick := func(s, u *types.Type) (*types.Type, string) {
		if unsigned {
			s = u
		}
		return s, s.Name
	}
	switch {
	case n["void"] > 0:
		return typeVoid, "void"
	case n["_Bool"] > 0:
		return typeBool, "_Bool"
	case n["bool"] > 0:
		return typeBool, "bool"
	case n["char"] > 0:
		if n["signed"] > 0 {
			return typeSignedChar, "signed char"
		}
		return pick(typeChar, typeUchar)
	case n["float"] > 0:
		return typeFloat, "float"
	case n["double"] > 0:
		if n["long"] > 0 {
			return typeLongDouble, "long double"
		}
		return typeDouble, "double"
	case n["__int128"] > 0:
		return pick(typeInt128, typeUint128)
	case n["short"] > 0:
		return pick(typeShort, typeUshort)
	case n["long"] > 1:
		return pick(typeLonglong, typeUlonglong)
	case n["long"] > 0:
		return pick(typeLong, typeUlong)
	case n["int"]+n["signed"]+n["unsigned"] > 0:
		return pick(typeInt, typeUint)
	}
	return nil, strings.Join(words, " ")
}

// isTypeWord reports whether builtinType knows a word.
func isTypeWord(w string) bool {
	switch w {
	case "void", "_Bool", "bool", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "__int128":
		return true
	}
	return false
}
