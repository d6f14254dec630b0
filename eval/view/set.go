package view

import (
	"embed"
	"sync"

	"dbg/eval"
	"dbg/eval/natvis"
	"dbg/symbols/types"
)

//go:embed libs/*.natvis
var libs embed.FS

// ours parses the embedded files, once.
var ours = sync.OnceValues(func() ([]*natvis.File, []natvis.Problem) {
	var files []*natvis.File
	var problems []natvis.Problem
	list, err := libs.ReadDir("libs")
	if err != nil {
		panic(err) // they are embedded
	}
	for _, e := range list {
		data, err := libs.ReadFile("libs/" + e.Name())
		if err != nil {
			panic(err)
		}
		f, p := natvis.Parse(e.Name(), data)
		files, problems = append(files, f), append(problems, p...)
	}
	return files, problems
})

// Set has the views of a session. It is made by NewSet.
type Set struct {
	natvis  natvis.Set
	added   map[string]string      // files, by name
	loaded  bool                   // our own views are in natvis
	classes map[*types.Type]*class // by stripped type; nil: it has no view
	walks   map[walkKey]*nodes     // of this stop
	slots   map[slotTable]*slotWalk
	btrees  map[btreeKey]*btreeWalk
	cache   *pageCache // of the query that was the last to show a value
	cacheOf eval.Env
}

// maxClasses limits the types whose views are kept.
const maxClasses = 1 << 14

// NewSet returns a Set with our own views, which are read when the first value is shown.
func NewSet() *Set {
	return &Set{classes: map[*types.Type]*class{}, walks: map[walkKey]*nodes{}}
}

// Add adds the views of a .natvis file, which are preferred to ours. name is for problems.
func (s *Set) Add(name string, data []byte) []natvis.Problem {
	if string(data) == s.added[name] {
		return nil // a restart of the program adds its files again
	}
	if s.added == nil {
		s.added = map[string]string{}
	}
	s.added[name] = string(data)
	f, problems := natvis.Parse(name, data)
	s.natvis.Add(f, natvis.User)
	s.Forget()
	return problems
}

// Forget drops what is known of types. Call it when a file of the program has changed.
func (s *Set) Forget() {
	clear(s.classes)
	s.Changed()
}

// Changed drops what is known of objects. Call it when the program continues, and when its memory is
// written.
func (s *Set) Changed() {
	clear(s.walks)
	clear(s.slots)
	clear(s.btrees)
	s.cache, s.cacheOf = nil, nil
}

// View returns the view of a value, or nil if its type has none.
func (s *Set) View(v eval.Value, env eval.Env) eval.View { return s.view(v, env, 0) }

// maxLevel limits views inside of summaries of views.
const maxLevel = 20

func (s *Set) view(v eval.Value, env eval.Env, level int) eval.View {
	if v.Type == nil || level > maxLevel {
		return nil
	}
	t := v.Type.Strip()
	if t.Name == "" {
		return nil
	}
	switch t.Kind {
	case types.Struct, types.Union:
	case types.Opaque: // the layout of some classes is part of the ABI
		if builtins[templateName(t.Name)] == nil {
			return nil
		}
	default:
		return nil
	}
	c, known := s.classes[t]
	if !known {
		if len(s.classes) > maxClasses {
			s.Forget()
		}
		c = s.classOf(t, env)
		s.classes[t] = c
	}
	if c == nil {
		return nil
	}
	in := &inner{Env: env, set: s, level: level}
	if outer, ok := env.(*inner); ok {
		in.Env, in.memory = outer.Env, outer.memory
	} else {
		if s.cacheOf != env || s.cache == nil { // of one query
			s.cacheOf, s.cache = env, &pageCache{mem: env, size: smallPiece}
		}
		in.memory = s.cache
	}
	if c.builtin != nil {
		return c.builtin(v, in)
	}
	return &object{class: c, v: c.base(v, in), env: in}
}

// load adds our own views, before the first use.
func (s *Set) load() {
	if s.loaded {
		return
	}
	s.loaded = true
	files, _ := ours()
	for _, f := range files {
		s.natvis.Add(f, natvis.System)
	}
}

// inner is the Env of what is shown inside a view.
type inner struct {
	eval.Env
	set    *Set
	level  int
	memory *pageCache
}

// View implements eval.Viewer.
func (e *inner) View(v eval.Value) eval.View { return e.set.view(v, e, e.level+1) }

// ReadMemory implements eval.Env.
func (e *inner) ReadMemory(a addr, b []byte) (int, error) {
	if e.memory == nil {
		return e.Env.ReadMemory(a, b)
	}
	return e.memory.ReadMemory(a, b)
}

// Interrupted implements eval.Interruptible.
func (e *inner) Interrupted() bool {
	i, ok := e.Env.(eval.Interruptible)
	return ok && i.Interrupted()
}
