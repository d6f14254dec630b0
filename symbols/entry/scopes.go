package entry

import (
	"cmp"
	"slices"
	"strings"

	"dbg/dwarf"
	"dbg/symbols/lang"
	"dbg/symbols/spelling"
)

// Scopes finds the namespaces and classes around entries, and so their qualified names. It caches
// the scopes of each unit once many entries of the unit have been asked for. The zero value is
// ready to use. It is for one goroutine at a time.
type Scopes struct {
	units map[*dwarf.Unit]*unitScopes
}

// unitScopes are the scopes of one unit.
type unitScopes struct {
	dw    *dwarf.Unit
	lang  lang.Lang
	list  []scope // in the order of the entries; nil until many names have been asked for
	asked int     // how many entries have been asked for
}

// scope is a namespace or type, and its contents: the entries from start to end.
type scope struct {
	start, end uint64
	parent     int32 // index in the list, -1 at the top
}

// unit returns the scopes of a unit; of a skeleton unit, those of the full one.
func (s *Scopes) unit(du *dwarf.Unit) *unitScopes {
	du = du.Full()
	u := s.units[du]
	if u == nil {
		u = &unitScopes{dw: du, lang: lang.Of(du)}
		if s.units == nil {
			s.units = map[*dwarf.Unit]*unitScopes{}
		}
		s.units[du] = u
	}
	return u
}

// Lang returns the language of a unit; of a skeleton unit, that of the full one.
func (s *Scopes) Lang(du *dwarf.Unit) lang.Lang { return s.unit(du).lang }

// Qualified returns the name with its namespaces and classes, as gdb prints it; "" if the entry has
// no name. The scope that counts is that of the last origin: the declaration in the class.
func (s *Scopes) Qualified(e *dwarf.Entry) string {
	name := Name(e)
	if name == "" {
		if l := Linkage(e); l != "" {
			return spelling.Demangle(l)
		}
		return ""
	}
	last := e
	Origins(e, func(e *dwarf.Entry) bool { last = e; return false })
	u := s.unit(last.Unit)
	if u.lang.Flat() {
		return name
	}
	if p := u.prefix(last.Offset); p != "" {
		return p + "::" + name
	}
	return name
}

// Prefix returns the qualified name of the scope around an entry, "" at the top. Functions are not
// part of names.
func (s *Scopes) Prefix(e *dwarf.Entry) string { return s.unit(e.Unit).prefix(e.Offset) }

func (u *unitScopes) prefix(off uint64) string {
	var parts []string
	size := 0
	for _, at := range u.around(off) {
		if part := u.name(at); part != "" && size < 64<<10 {
			size += len(part)
			parts = append(parts, part)
		}
	}
	slices.Reverse(parts)
	return strings.Join(parts, "::")
}

// name returns the name of a scope.
func (u *unitScopes) name(off uint64) string {
	e, err := u.dw.Entry(off)
	if err != nil {
		return ""
	}
	switch e.Tag {
	case dwarf.TagNamespace, dwarf.TagModule:
		if name := Name(e); name != "" {
			return name
		}
		return "(anonymous namespace)"
	case dwarf.TagStructureType, dwarf.TagClassType, dwarf.TagUnionType, dwarf.TagInterfaceType:
		return Name(e)
	}
	return ""
}

// find makes the list of all scopes.
func (u *unitScopes) find() {
	if u.list != nil {
		return
	}
	u.list = []scope{}
	c, err := u.dw.Cursor(u.dw.First)
	if err != nil || !c.Next() || !c.Children() {
		return
	}
	type level struct {
		scope int32
		depth int
	}
	open := []level{{-1, 0}}
	for c.Next() {
		for top := open[len(open)-1]; top.depth > 0 && c.Depth() <= top.depth; top = open[len(open)-1] {
			u.list[top.scope].end = c.Offset()
			open = open[:len(open)-1]
		}
		if !c.Children() {
			continue
		}
		switch c.Tag() {
		case dwarf.TagNamespace, dwarf.TagModule, dwarf.TagStructureType, dwarf.TagClassType, dwarf.TagUnionType, dwarf.TagInterfaceType:
			if len(open) < MaxNesting {
				u.list = append(u.list, scope{start: c.Offset(), end: u.dw.End, parent: open[len(open)-1].scope})
				open = append(open, level{int32(len(u.list) - 1), c.Depth()})
				continue
			}
		case dwarf.TagSubprogram, dwarf.TagLexicalBlock:
			continue // a class may be in it
		}
		c.Skip()
	}
	u.list = slices.Clip(u.list)
}

// walksForNames is how many entries are searched for one by one before the list of all scopes is
// made.
const walksForNames = 16

// around returns the namespaces and types that an entry is in, innermost first.
func (u *unitScopes) around(off uint64) []uint64 {
	var out []uint64
	if u.asked++; u.asked > walksForNames {
		u.find()
		i, _ := slices.BinarySearchFunc(u.list, off, func(s scope, off uint64) int { return cmp.Compare(s.start, off) })
		i-- // an entry is not in its own scope
		for ; i >= 0; i = int(u.list[i].parent) {
			if off < u.list[i].end {
				out = append(out, u.list[i].start)
			}
		}
		return out
	}
	c, err := u.dw.Cursor(u.dw.First)
	if err != nil || !c.Next() {
		return nil
	}
	for c.Next() && c.Offset() < off {
		if !c.Children() {
			continue
		}
		past := c
		if past.Skip(); past.End() <= off {
			c = past
			continue
		}
		switch c.Tag() {
		case dwarf.TagNamespace, dwarf.TagModule, dwarf.TagStructureType, dwarf.TagClassType, dwarf.TagUnionType, dwarf.TagInterfaceType:
			if out = append(out, c.Offset()); len(out) > MaxNesting {
				return nil
			}
		}
	}
	slices.Reverse(out)
	return out
}
