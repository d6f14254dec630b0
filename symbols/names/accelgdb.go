package names

import (
	"bytes"
	"slices"
	"strings"

	"dbg/dwarf"
	"dbg/symbols/spelling"
)

// coveredByGDB marks the units that .gdb_index has a symbol of; none of an index that lists type units, as gdb 13 gives these the numbers that
// compile units have.
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

// indexed is the number of a unit of the .gdb_index.
func (x *tables) indexed(i int) (n int, ok bool) {
	u, ok := x.gdb.Unit(i)
	if ok {
		n, ok = x.number[u.Offset]
	}
	return n, ok
}

// completeInGDB is complete for .gdb_index, whose version says who may have written it.
//
// Version 7 is what linkers make of .debug_gnu_pubnames and .debug_gnu_pubtypes: all functions, of compilers that write DWARF 5; but not what is declared
// in a class. The old gdb that wrote it too left out functions that are inlined everywhere, and knew no DWARF 5. The gdb of version 8 may or may not have
// them; it has all types and enumerators. That of version 9 has everything.
//
// gdb writes some types otherwise than compilers do: "unsigned long" for "long unsigned int".
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

// canonical reports whether a name may be written in more than one way: that of an integer type, or of a conversion to a type.
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

// inGDB marks the units that .gdb_index has a name for, as the last component of a qualified one. False if a list can't be read.
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
		err := x.gdb.Units(units, func(s dwarf.IndexedSymbol) bool {
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
func symbolOfKinds(kind dwarf.SymbolKind, kinds kindSet) bool {
	switch kind {
	case dwarf.SymbolType:
		return kinds.has(Type)
	case dwarf.SymbolVariable:
		return kinds.has(Variable) || kinds.has(Enumerator)
	case dwarf.SymbolFunction:
		return kinds.has(Function)
	}
	return true
}

// endsIn reports whether the last component of a qualified name can be this one, with template arguments or without.
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

// inWord reports whether two characters beside each other can be of one identifier.
func inWord(a, b byte) bool { return isWord(a) && isWord(b) }

func isWord(c byte) bool {
	return c == '_' || c >= 0x80 || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}

// goesOn reports whether a "::" follows that is not in brackets: what is before it is not the last component.
func goesOn(rest []byte) bool {
	if bytes.Contains(rest, []byte("operator")) {
		return false // whose brackets are none
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
