package names

import (
	"bytes"
	"slices"
	"strings"

	"dbg/dwarf/nameindex"
	"dbg/symbols/spelling"
)

// coveredByGDB marks the units of which .gdb_index has a symbol. It marks none if the index lists
// type units: gdb 13 gives these the numbers of compile units.
func (x *tables) coveredByGDB(out []bool) {
	seen := x.gdb.UnitsWithSymbols()
	for i, has := range seen {
		if u, _ := x.gdb.Unit(i); u.IsType {
			clear(out)
			return
		}
		if n, ok := x.indexed(i); ok && has {
			out[n] = true
		}
	}
}

// indexed returns the number of a unit of the .gdb_index; false if it is not known.
func (x *tables) indexed(i int) (n int, ok bool) {
	u, ok := x.gdb.Unit(i)
	if ok {
		n, ok = x.number[u.Offset]
	}
	return n, ok
}

// completeInGDB is complete for .gdb_index. The version tells which programs may have written it.
//
// Version 7 is made by linkers from .debug_gnu_pubnames and .debug_gnu_pubtypes: it has all
// functions, from compilers that write DWARF 5; but not the members that are declared in a class.
// An old gdb wrote it too: that gdb left out functions that are inlined everywhere, and knew no
// DWARF 5. Version 8 may or may not have those functions; it has all types and enumerators. Version
// 9 has everything.
//
// gdb writes some types differently from compilers: "unsigned long" for "long unsigned int".
func (x *tables) completeInGDB(kind Kind, name string) bool {
	switch {
	case x.gdb.Version <= 7:
		return x.gdb.Version == 7 && kind == Function && !x.old
	case canonical(name):
		return false
	case x.gdb.Version == 8:
		return kind == Type || kind == Enumerator
	}
	return true
}

// canonical reports whether a name may be written in more than one way: the name of an integer
// type, or of a conversion to a type.
func canonical(name string) bool {
	if strings.HasPrefix(name, "operator") || strings.ContainsAny(name, "(&*[{") {
		return true
	}
	for _, word := range strings.Fields(name) {
		switch word {
		case "char", "short", "int", "long", "signed", "unsigned", "double", "__int128":
			return true
		}
	}
	return false
}

// inGDB marks the units for which .gdb_index has a name, as the last component of a qualified one.
// It returns false if a list cannot be read.
func (x *tables) inGDB(name string, kinds kindSet, found []bool) bool {
	plain := spelling.WithoutTemplate(name)
	if plain == "" {
		plain = name
	}
	text := []byte(plain)
	var lists []uint32 // many names have the same units
	x.gdb.Mentioning(plain, func(full []byte, units uint32) bool {
		if endsIn(full, text) {
			lists = append(lists, units)
		}
		return true
	})
	slices.Sort(lists)
	known, visits := true, uint64(0)
	for _, units := range slices.Compact(lists) {
		err := x.gdb.Units(units, func(s nameindex.GDBSymbol) bool {
			n, ok := x.indexed(int(s.Unit))
			if ok && symbolOfKinds(s.Kind, kinds) {
				found[n] = true
			}
			visits++
			known = ok && visits <= x.gdb.Size() // lists that overlap
			return known
		})
		if err != nil || !known {
			return false
		}
	}
	return true
}

// symbolOfKinds reports whether a symbol can be of one of the kinds.
func symbolOfKinds(kind nameindex.SymbolKind, kinds kindSet) bool {
	switch kind {
	case nameindex.KindType:
		return kinds.has(Type)
	case nameindex.KindVariable:
		return kinds.has(Variable) || kinds.has(Enumerator)
	case nameindex.KindFunction:
		return kinds.has(Function)
	}
	return true
}

// endsIn reports whether a name can be the last component of a qualified name, with template
// arguments or without.
func endsIn(full, name []byte) bool {
	for at := 0; ; {
		i := bytes.Index(full[at:], name)
		if i < 0 {
			return false
		}
		lo, hi := at+i, at+i+len(name)
		if (lo == 0 || !inWord(full[lo-1], name[0])) && (hi == len(full) || !inWord(full[hi], name[len(name)-1])) && !goesOn(full[hi:]) {
			return true
		}
		at = lo + 1
	}
}

// inWord reports whether two characters next to each other can be in one identifier.
func inWord(a, b byte) bool { return isWord(a) && isWord(b) }

func isWord(c byte) bool {
	return c == '_' || c >= 0x80 || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}

// goesOn reports whether a "::" follows that is not in brackets: the text before it is then not the
// last component.
func goesOn(rest []byte) bool {
	if bytes.Contains(rest, []byte("operator")) {
		return false // the brackets of an operator do not match
	}
	depth := 0
	for i, c := range rest {
		switch c {
		case '<', '(', '[', '{':
			depth++
		case '>', ')', ']', '}':
			if c != '>' || rest[max(i, 1)-1] != '-' {
				depth--
			}
		case ':':
			if depth <= 0 && i+1 < len(rest) && rest[i+1] == ':' {
				return true
			}
		}
	}
	return false
}
