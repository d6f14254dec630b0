package view

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"dbg/eval"
	"dbg/eval/natvis"
	"dbg/symbols/types"
	"dbg/target"
)

// maxNodes limits the nodes that are visited for one container, and walkTime one walk.
const (
	maxNodes = 1 << 22
	walkTime = 2 * time.Second
)

// nodes are the nodes of a list or a tree, as far as they were visited. The Set keeps them until the
// program continues: an editor that opens a container in the middle asks page by page.
type nodes struct {
	o     *object
	typ   *types.Type // of a node
	value *natvis.ValueNode
	n     int64 // the size that the container tells; -1: none
	found []addr
	seen  map[addr]bool // the first maxSeen nodes
	mark  addr          // a later node: see add
	power int           // nodes until the next mark
	done  bool
	err   error  // why the walk has ended early
	visit func() // visits one node more, or sets done

	links [2]link    // the two expressions that lead to other nodes
	cache *pageCache // while a walk goes on
}

// link is an expression that tells where another node is.
type link struct {
	x     *natvis.Expr
	known bool
	place linkPlace
}

// linkPlace tells where the pointer to another node is, if that is at an offset of the node.
type linkPlace struct {
	offset addr
	size   int64
	ok     bool
}

// walkKey identifies the walk over a container.
type walkKey struct {
	class *class
	item  natvis.Item
	at    addr
}

// keptNodes limits the addresses of nodes that a Set keeps.
const keptNodes = 1 << 23

// walk returns the walk over a container, which may have begun before. start makes it.
func (o *object) walk(item natvis.Item, start func() (*nodes, error)) (*nodes, error) {
	key := walkKey{o.class, item, o.v.Addr}
	set := o.env.set
	if w := set.walks[key]; w != nil && o.v.HasAddr {
		w.o = o
		return w, nil
	}
	w, err := start()
	if err != nil || !o.v.HasAddr {
		return w, err
	}
	total := 0
	for _, k := range set.walks {
		total += len(k.found)
	}
	if total > keptNodes || len(set.walks) > 1<<12 {
		clear(set.walks)
	}
	set.walks[key] = w
	return w, nil
}

// Len returns the number of elements: what the container tells, or what a walk finds.
func (w *nodes) Len() int64 {
	if w.n >= 0 {
		return w.n
	}
	w.reach(maxNodes)
	return int64(len(w.found))
}

// At returns an element.
func (w *nodes) At(i int64) eval.Value {
	w.reach(i + 1)
	if i >= int64(len(w.found)) {
		err := w.err
		if err == nil {
			err = fmt.Errorf("the container ends after %d elements", len(w.found))
		}
		return named(unreadable(err), i)
	}
	return w.o.element(w.value, w.o.in(w.node(w.found[i]), i))
}

func (w *nodes) node(a addr) eval.Value { return eval.Value{Type: w.typ, Addr: a, HasAddr: true} }

// reach visits nodes until n were found.
func (w *nodes) reach(n int64) {
	if w.done || int64(len(w.found)) >= n {
		return
	}
	if n-int64(len(w.found)) > 16 {
		w.cache = &pageCache{mem: w.o.env.Env, size: largePiece, little: w.o.env.Arch().ByteOrder == binary.LittleEndian}
		defer func() { w.cache = nil }()
	}
	late := time.Now().Add(walkTime)
	for !w.done && int64(len(w.found)) < n {
		switch {
		case len(w.found) >= maxNodes:
			w.done, w.err = true, fmt.Errorf("more than %d nodes", maxNodes)
		case len(w.found)%1024 == 1023 && time.Now().After(late):
			w.done, w.err = true, errors.New("the walk over the nodes takes too long")
		case len(w.found)%1024 == 1023 && w.o.env.Interrupted():
			return
		default:
			w.visit()
		}
	}
}

// maxSeen limits the nodes that are remembered to recognise one that comes again.
const maxSeen = 1 << 12

// add adds a node. It returns false and ends the walk if the node was visited before: the links of a
// damaged container may form a circle. Of a long walk, only nodes at distances that double are compared
// (Brent's algorithm).
func (w *nodes) add(a addr) bool {
	again := w.seen[a] || w.mark != 0 && a == w.mark
	switch n := len(w.found); {
	case again:
		w.done, w.err = true, errors.New("the links form a circle")
		return false
	case n < maxSeen:
		if w.seen == nil {
			w.seen = map[addr]bool{}
		}
		w.seen[a], w.power = true, 2*maxSeen
	case n >= w.power || w.mark == 0:
		w.mark, w.power = a, 2*n
	}
	w.found = append(w.found, a)
	return true
}

// follow returns the address of another node, which a link tells.
func (w *nodes) follow(l *link, a addr) (addr, error) {
	if !l.known {
		l.known, l.place = true, w.place(l.x)
	}
	if l.place.ok {
		if l.place.size == 8 && w.cache != nil {
			if v, ok := w.cache.word(a + l.place.offset); ok {
				return v, nil
			}
		}
		return w.read(a+l.place.offset, l.place.size)
	}
	s := w.o.in(w.node(a), int64(len(w.found)))
	v, err := w.o.eval(l.x, s)
	if err != nil {
		return 0, err
	}
	n, err := eval.Number(v, s)
	return addr(n), err
}

// place finds out whether an expression is a pointer at a fixed offset of the node: evaluated at two
// addresses, without reading, it is at the same distance.
func (w *nodes) place(x *natvis.Expr) (out linkPlace) {
	const first, second = addr(0x10000), addr(0x7fff0000)
	for i, a := range []addr{first, second} {
		s := w.o.in(w.node(a), 0)
		s.blind = true
		v, err := w.o.eval(x, s)
		if err != nil || !v.HasAddr || v.BitSize > 0 || v.Type.Strip().Kind != types.Pointer {
			return linkPlace{}
		}
		here := linkPlace{v.Addr - a, v.Type.Strip().Size, true}
		if i > 0 && here != out {
			return linkPlace{}
		}
		out = here
	}
	out.ok = out.size == 4 || out.size == 8
	return out
}

// read reads a pointer.
func (w *nodes) read(a addr, size int64) (addr, error) {
	var b [8]byte
	mem := target.Memory(w.o.env)
	if w.cache != nil {
		mem = w.cache
	}
	if n, err := mem.ReadMemory(a, b[:size]); n < int(size) {
		return 0, fmt.Errorf("can't read a node at %s: %w", a, err)
	}
	v := addr(0)
	for i := size - 1; i >= 0; i-- {
		v = v<<8 | addr(b[i])
	}
	return v, nil
}

// nodeType returns the type of the nodes that a pointer points to, and the first one's address.
func nodeType(head eval.Value, env eval.Env) (*types.Type, addr, error) {
	t := head.Type.Strip()
	if t.Kind != types.Pointer || t.Elem() == nil {
		return nil, 0, errors.New("the pointer to the first node is not a pointer")
	}
	n, err := eval.Number(head, env)
	return t.Elem(), addr(n), err
}

// newListWalk prepares to walk a list. It ends after n nodes, at a null pointer, or when it comes back to
// the first node.
func newListWalk(o *object, it *natvis.LinkedListItems, head eval.Value, n int64) (*nodes, error) {
	t, first, err := nodeType(head, o.env)
	if err != nil {
		return nil, err
	}
	w := &nodes{o: o, typ: t, value: &it.Value, n: n}
	w.links[0].x = &it.Next
	next := first
	w.visit = func() {
		if next == 0 || n >= 0 && int64(len(w.found)) >= n {
			w.done = true
			return
		}
		at := next
		if next, w.err = w.follow(&w.links[0], at); w.err != nil {
			w.done = true
			return
		}
		if w.add(at) && next == first {
			w.done = true
		}
	}
	return w, nil
}

// maxTreeDepth limits the depth of a tree that tells its size: a balanced one of 2^40 nodes has 80.
const maxTreeDepth = 256

// newTreeWalk prepares to walk a tree in order.
func newTreeWalk(o *object, it *natvis.TreeItems, head eval.Value, n int64) (*nodes, error) {
	t, root, err := nodeType(head, o.env)
	if err != nil {
		return nil, err
	}
	w := &nodes{o: o, typ: t, value: &it.Value, n: n}
	w.links[0].x, w.links[1].x = &it.Left, &it.Right
	var path []addr // nodes whose left side was visited
	down := root
	fail := func(err error) { w.done, w.err = true, err }
	w.visit = func() {
		if n >= 0 && int64(len(w.found)) >= n {
			w.done = true
			return
		}
		for down != 0 && !w.leaf(down) {
			if len(path) >= maxTreeDepth && n >= 0 || len(path) >= 1<<20 {
				fail(errors.New("the tree is too deep"))
				return
			}
			path = append(path, down)
			if down, err = w.follow(&w.links[0], down); err != nil {
				fail(err)
				return
			}
		}
		if len(path) == 0 {
			w.done = true
			return
		}
		at := path[len(path)-1]
		path = path[:len(path)-1]
		if down, err = w.follow(&w.links[1], at); err != nil {
			fail(err)
			return
		}
		w.add(at)
	}
	return w, nil
}

// leaf reports whether a node is none: the condition of the value does not hold.
func (w *nodes) leaf(a addr) bool {
	if w.value.Condition == nil {
		return false
	}
	ok, err := w.o.holds(w.value.Condition, w.o.in(w.node(a), int64(len(w.found))))
	return err == nil && !ok
}
