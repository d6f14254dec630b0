package types

import (
	"strings"

	"dbg/dwarf"
	"dbg/symbols/entry"
	"dbg/symbols/lang"
	"dbg/symbols/spelling"
)

// Named returns the type of a name: "int", "unsigned long", "struct foo", a typedef, a class,
// qualified or not. If the program has none of that name but C has, Named returns C's type on this
// architecture; else nil.
func (r *Reader) Named(name string) *Type {
	words := strings.Fields(name)
	if len(words) == 0 {
		return nil
	}
	want := dwarf.Tag(0)
	switch words[0] {
	case "struct", "class":
		want = dwarf.TagStructureType
	case "union":
		want = dwarf.TagUnionType
	case "enum":
		want = dwarf.TagEnumerationType
	}
	if want != 0 {
		return r.typeNamed(strings.Join(words[1:], " "), want)
	}
	plain := strings.Join(words, " ")
	c, isC := cType(words)
	if isC {
		// gcc writes "long unsigned int" for what the user calls
		// "unsigned long"; clang writes "unsigned long".
		for _, spelling := range []string{plain, c.Name, c.dwarfName} {
			if t := r.typeNamed(spelling, 0); t != nil {
				return t
			}
		}
		return r.builtin(c)
	}
	if t := r.typeNamed(plain, 0); t != nil {
		return t
	}
	for _, s := range spelling.TypeSpellings(plain) {
		if s != plain {
			if t := r.typeNamed(s, 0); t != nil {
				return t
			}
		}
	}
	return nil
}

// typeNamed finds a type in the debug information: with the same number of
// components before one in a namespace.
func (r *Reader) typeNamed(name string, want dwarf.Tag) *Type {
	q, ok := spelling.ParseQuery(name)
	if !ok {
		return nil
	}
	// The index has the last components with their template arguments; Go's
	// dots and Rust's brackets are part of the name.
	var nested *Type
	for _, k := range []struct{ name, qualified string }{{q.Last(), name}, {q.Last(), q.Last()}, {name, name}} {
		key := k.name
		list := r.finder.TypesNamed(key, k.qualified)
		for _, d := range list {
			e, err := d.Unit.Entry(d.Off)
			if err != nil || want != 0 && kindOf(e.Tag) != want {
				continue
			}
			// In C a structure is found by "struct foo" only.
			tagged := kindOf(e.Tag) == dwarf.TagStructureType || e.Tag == dwarf.TagUnionType || e.Tag == dwarf.TagEnumerationType
			if want == 0 && tagged && r.scopes.Lang(d.Unit) == lang.C && !r.onlyTagged(list) {
				continue
			}
			qualified := r.scopes.Qualified(e)
			if qualified == name {
				return r.At(d)
			}
			if nested == nil && (qualified == name || q.Matches(qualified)) {
				nested = r.At(d)
			}
		}
	}
	return nested
}

// onlyTagged reports whether no typedef or base type is among the entries.
func (r *Reader) onlyTagged(list []entry.Ref) bool {
	for _, d := range list {
		e, err := d.Unit.Entry(d.Off)
		if err == nil && (e.Tag == dwarf.TagTypedef || e.Tag == dwarf.TagBaseType) {
			return false
		}
	}
	return true
}

// cBase is a basic type of C: its name, the name that gcc gives it, and its
// size (0: that of a pointer).
type cBase struct {
	Name, dwarfName string
	kind            Kind
	size            int64
	signed          bool
}

var cBases = []cBase{
	{"char", "char", Char, 1, true},
	{"signed char", "signed char", Char, 1, true},
	{"unsigned char", "unsigned char", Char, 1, false},
	{"short", "short int", Int, 2, true},
	{"unsigned short", "short unsigned int", Uint, 2, false},
	{"int", "int", Int, 4, true},
	{"unsigned int", "unsigned int", Uint, 4, false},
	{"long", "long int", Int, 0, true},
	{"unsigned long", "long unsigned int", Uint, 0, false},
	{"long long", "long long int", Int, 8, true},
	{"unsigned long long", "long long unsigned int", Uint, 8, false},
	{"float", "float", Float, 4, true},
	{"double", "double", Float, 8, true},
	{"long double", "long double", Float, 16, true},
	{"_Bool", "_Bool", Bool, 1, false},
	{"bool", "bool", Bool, 1, false},
	{"__int128", "__int128", Int, 16, true},
	{"unsigned __int128", "__int128 unsigned", Uint, 16, false},
}

// cType understands the words of a basic type in any order (C11, 6.7.2).
func cType(words []string) (cBase, bool) {
	n := map[string]int{}
	for _, w := range words {
		switch w {
		case "char", "short", "int", "long", "signed", "unsigned", "float", "double", "_Bool", "bool", "__int128":
			n[w]++
		default:
			return cBase{}, false
		}
	}
	name := ""
	switch {
	case n["double"] > 0:
		name = strings.Repeat("long ", n["long"]) + "double"
	case n["float"] > 0:
		name = "float"
	case n["bool"]+n["_Bool"] > 0:
		name = words[0]
	case n["char"] > 0:
		name = "char"
		if n["signed"] > 0 {
			name = "signed char"
		}
	case n["short"] > 0:
		name = "short"
	case n["__int128"] > 0:
		name = "__int128"
	case n["long"] > 0:
		name = strings.TrimSpace(strings.Repeat("long ", n["long"]))
	default:
		name = "int"
	}
	if n["unsigned"] > 0 {
		name = "unsigned " + name
	}
	for _, c := range cBases {
		if c.Name == name {
			return c, true
		}
	}
	return cBase{}, false
}

func (r *Reader) builtin(c cBase) *Type {
	size := c.size
	if size == 0 {
		size = 8
		if !r.file.Is64() {
			size = 4
		}
	}
	t := New(c.kind, c.Name, size, c.signed, nil)
	t.Lang, t.Quad = lang.C, r.quad()
	return t
}
