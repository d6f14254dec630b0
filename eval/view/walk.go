package view

import (
	"errors"
	"fmt"
	"time"

	"dbg/eval"
	"dbg/eval/natvis"
	"dbg/symbols/types"
)

// maxNodes limits the nodes that are visited for one container.
const maxNodes = 1 << 20

// walkTime limits one walk.
const walkTime = 2 * time.Second

// nodes are the nodes of a list or a tree, as far as they were visited.
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
	visit func() // visits at least one node more, or sets done
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
	var late time.Time
	for !w.done && int64(len(w.found)) < n {
		if len(w.found)%1024 == 1023 {
			if now := time.Now(); late.IsZero() {
				late = now.Add(walkTime)
			} else if now.After(late) {
				w.done, w.err = true, errors.New("the walk over the nodes takes too long")
				return
			}
		}
		if len(w.found) >= maxNodes {
			w.done, w.err = true, fmt.Errorf("more than %d nodes", maxNodes)
			return
		}
		w.visit()
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

// link evaluates an expression for the address of another node.
func (w *nodes) link(x *natvis.Expr, a addr) (addr, error) {
	s := w.o.in(w.node(a), int64(len(w.found)))
	v, err := w.o.eval(x, s)
	if err != nil {
		return 0, err
	}
	n, err := eval.Number(v, s)
	return addr(n), err
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
	next := first
	w.visit = func() {
		if next == 0 || n >= 0 && int64(len(w.found)) >= n {
			w.done = true
			return
		}
		at := next
		if next, w.err = w.link(&it.Next, at); w.err != nil {
			w.done = true
			return
		}
		if w.add(at) && next == first {
			w.done = true
		}
	}
	return w, nil
}

// newTreeWalk prepares to walk a tree in order.
func newTreeWalk(o *object, it *natvis.TreeItems, head eval.Value, n int64) (*nodes, error) {
	t, root, err := nodeType(head, o.env)
	if err != nil {
		return nil, err
	}
	w := &nodes{o: o, typ: t, value: &it.Value, n: n}
	const deepest = 256 // of a balanced tree of 2^40 nodes: 80
	var path []addr     // nodes whose left side was visited
	down := root
	w.visit = func() {
		for {
			if n >= 0 && int64(len(w.found)) >= n {
				w.done = true
				return
			}
			for down != 0 {
				if leaf := w.leaf(down); leaf {
					break
				}
				if len(path) >= deepest && n >= 0 || len(path) >= maxNodes {
					w.done, w.err = true, errors.New("the tree is too deep")
					return
				}
				path = append(path, down)
				if down, w.err = w.link(&it.Left, down); w.err != nil {
					w.done = true
					return
				}
			}
			if len(path) == 0 {
				w.done = true
				return
			}
			at := path[len(path)-1]
			path = path[:len(path)-1]
			if down, w.err = w.link(&it.Right, at); w.err != nil {
				w.done = true
				return
			}
			w.add(at)
			return
		}
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
