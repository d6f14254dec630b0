package dap

import (
	"dbg/session"
	"dbg/target"
)

// frameKey is a frame of the current stop.
type frameKey struct {
	thread target.ThreadID
	level  int
}

// scopeRef is a scope of a frame.
type scopeRef struct {
	frame frameKey
	kind  session.ScopeKind
}

// valueRef is a value that has parts.
type valueRef struct {
	frame frameKey
	value session.Value
	path  string // an expression for it, or ""
	// arrow means that members are accessed with "->".
	arrow   bool
	indexed bool
	items   int // the first parts, which are the items of a view; 0: it has none
}

// childKey identifies a part of the object with a reference.
type childKey struct {
	parent int
	name   string
	index  int
}

// references numbers frames, scopes and values. A number is valid until the program runs, and is
// never reused. If an object is requested twice in one stop, it gets the same number.
type references struct {
	next     int
	things   map[int]any
	frames   map[frameKey]int
	scopes   map[scopeRef]int
	children map[childKey]int
}

func newReferences() references {
	r := references{next: 1}
	r.reset()
	return r
}

// reset invalidates all numbers.
func (r *references) reset() {
	r.things = map[int]any{}
	r.frames = map[frameKey]int{}
	r.scopes = map[scopeRef]int{}
	r.children = map[childKey]int{}
}

func (r *references) add(thing any) int {
	id := r.next
	r.next++
	r.things[id] = thing
	return id
}

func (r *references) frame(k frameKey) int {
	id, ok := r.frames[k]
	if !ok {
		id = r.add(k)
		r.frames[k] = id
	}
	return id
}

func (r *references) scope(k scopeRef) int {
	id, ok := r.scopes[k]
	if !ok {
		id = r.add(k)
		r.scopes[k] = id
	}
	return id
}

// child returns the number of a part. v is its current value.
func (r *references) child(k childKey, v valueRef) int {
	id, ok := r.children[k]
	if !ok {
		id = r.add(v)
		r.children[k] = id
	} else {
		r.things[id] = v
	}
	return id
}

// find returns the object with a number.
func (r *references) find(id int) (any, error) {
	if t, ok := r.things[id]; ok {
		return t, nil
	}
	if id > 0 && id < r.next {
		return nil, errStale
	}
	return nil, badArguments("there is no reference %d", id)
}

// findFrame returns the frame with a number.
func (r *references) findFrame(id int) (frameKey, error) {
	t, err := r.find(id)
	if err != nil {
		return frameKey{}, err
	}
	k, ok := t.(frameKey)
	if !ok {
		return frameKey{}, badArguments("%d is not the id of a frame", id)
	}
	return k, nil
}
