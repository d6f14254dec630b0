package types

import (
	"regexp"
	"slices"
	"strings"

	"dbg/dwarf"
	"dbg/symbols/entry"
	"dbg/symbols/spelling"
)

// maxClasses bounds the classes of one name that are returned.
const maxClasses = 16

// Classes returns the classes that a demangled symbol names, as in "vtable for NAME": one for each
// unit that defines a class of that name. Classes in functions are not found: debug information does
// not give them the name that a symbol has.
func (r *Reader) Classes(name string) []*Type {
	for _, s := range symbolSpellings(name) {
		if list := r.classesSpelled(s); len(list) > 0 {
			return list
		}
	}
	return nil
}

func (r *Reader) classesSpelled(name string) []*Type {
	var out []*Type
	seen := map[entry.Ref]bool{}
	for _, qualified := range []string{name, spelling.Last(name)} {
		for _, d := range r.finder.TypesNamed(spelling.Last(name), qualified) {
			e, err := d.Unit.Entry(d.Off)
			if err != nil || seen[d] || kindOf(e.Tag) != dwarf.TagStructureType || r.scopes.Qualified(e) != name {
				continue
			}
			seen[d] = true
			if t := r.At(d); t.Kind == Struct && len(out) < maxClasses && !slices.Contains(out, t) {
				out = append(out, t)
			}
		}
	}
	return out
}

// literal matches an integer in template arguments. Demanglers write "3ul", gcc's debug information
// "3", and clang's "3UL".
var literal = regexp.MustCompile(`\b([0-9]+)(ull|ul|ll|u|l)\b`)

// integers matches the types that gcc's debug information writes in full: "long int".
var integers = regexp.MustCompile(`\b(unsigned )?(long long|long|short)\b( double)?`)

func inFull(name string) string {
	return integers.ReplaceAllStringFunc(name, func(s string) string {
		if strings.HasSuffix(s, "double") {
			return s
		}
		if size, ok := strings.CutPrefix(s, "unsigned "); ok {
			return size + " unsigned int"
		}
		return s + " int"
	})
}

// symbolSpellings returns how debug information may write the name that a symbol gives to a class.
func symbolSpellings(name string) []string {
	out := []string{name}
	if !strings.Contains(name, "<") || len(name) > spelling.MaxMangled {
		return out
	}
	add := func(s string) {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	plain := literal.ReplaceAllString(name, "$1")
	add(plain)
	add(literal.ReplaceAllStringFunc(name, strings.ToUpper))
	add(inFull(plain))
	for _, base := range []string{plain, inFull(plain), name} {
		for _, s := range spelling.TypeSpellings(base) {
			add(s)
		}
	}
	return out
}
