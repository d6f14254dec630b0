package natvis

import (
	"cmp"
	"slices"
	"strings"
)

// Layer tells where a file comes from. A view of a higher layer is preferred to all of a lower one
// (natvis.xsd, "PriorityType").
type Layer uint8

const (
	System  Layer = iota // embedded in the debugger
	User                 // given by the user
	Project              // given by the launch configuration
)

// A Set finds the views of a type in several files. The zero Set is empty. Match may be called by
// several goroutines at once, but not while Add is.
type Set struct {
	views      map[string][]view // by TypeName.key, in order of preference
	intrinsics []*Intrinsic
	count      int
}

// A view is one pattern of a type.
type view struct {
	pattern  *Pattern
	typ      *Type
	layer    Layer
	specific specificity
	order    int
}

// Add adds the views of a file. The Set keeps it.
func (s *Set) Add(f *File, layer Layer) {
	if s.views == nil {
		s.views = map[string][]view{}
	}
	changed := map[string]bool{}
	for _, t := range f.Types {
		for i := range t.Patterns {
			p := &t.Patterns[i]
			v := view{p, t, layer, p.Name.specificity(), s.count}
			s.count++
			key := p.Name.key()
			s.views[key] = append(s.views[key], v)
			changed[key] = true
		}
	}
	for key := range changed {
		slices.SortFunc(s.views[key], prefer)
	}
	s.intrinsics = append(s.intrinsics, f.Intrinsics...)
}

// prefer orders views of the same key: the preferred is first. The schema ranks the specificity of
// the template arguments and the constraint to views above the priority (natvis.xsd,
// "PriorityType"). The rest is the order of the files.
func prefer(a, b view) int {
	return cmp.Or(
		cmp.Compare(b.layer, a.layer),
		cmp.Compare(b.specific.names, a.specific.names),
		cmp.Compare(b.specific.wildcards, a.specific.wildcards),
		cmp.Compare(included(b), included(a)),
		cmp.Compare(b.pattern.Priority, a.pattern.Priority),
		cmp.Compare(a.order, b.order),
	)
}

// included is 1 for a type that only some views show.
func included(v view) int { return min(1, len(v.typ.Views.Include)) }

// Intrinsics returns the functions that belong to no type, in the order of the files.
func (s *Set) Intrinsics() []*Intrinsic { return s.intrinsics }

// Match returns the views of a type in order of preference. If the first can't be used for the
// object, the next is tried (Natvis, "Visualizer type matching"). Type.Views still has to be
// asked, and Pattern.Inheritable if name is of a base class. const and volatile do not count. It
// costs one map lookup if there is no view.
func (s *Set) Match(name string) []Match {
	if len(name) > maxText || len(s.views) == 0 {
		return nil
	}
	views := s.views[typeKey(name)]
	if len(views) == 0 {
		return nil
	}
	concrete := ParseTypeName(name)
	if !strings.ContainsAny(concrete.Suffix, "*&[.") {
		concrete.Suffix = ""
	}
	var found []Match
	for _, v := range views {
		if slices.ContainsFunc(found, func(m Match) bool { return m.Type == v.typ }) {
			continue // another of its names is more specific
		}
		if args, ok := v.pattern.Name.Match(concrete); ok {
			found = append(found, Match{v.typ, v.pattern, args})
		}
	}
	return found
}
