package view

import (
	"errors"
	"fmt"

	"dbg/eval"
)

// btreeKey identifies a B-tree of Abseil: its root, and the size and the alignment of its elements.
type btreeKey struct {
	root              addr
	size, align, full int64
}

// btreeWalk visits the elements of a B-tree in order. A node (container/internal/btree.h) has a pointer to its
// parent, four bytes (its position in the parent, a zero, the number of elements, and the most elements, or 0 for
// a node with children), the elements, and after the room for the most elements the children.
type btreeWalk struct {
	key   btreeKey
	slots int64 // that a node with children has
	path  []btreeStep
	found []addr
	err   error
}

// btreeStep is a node whose element next is the next one.
type btreeStep struct {
	node        addr
	next, count int64
	leaf        bool
}

const (
	btreeNode  = 256 // bytes that a node should have
	btreeDepth = 64
	maxBtrees  = 1 << 10 // that are kept
)

// elementsAt returns where the elements of a node begin.
func (k *btreeKey) elementsAt() int64 { return (12 + k.align - 1) / k.align * k.align }

// fits returns the number of elements that a node of the size that it should have can have.
func (k *btreeKey) fits() int64 { return (btreeNode - k.elementsAt()) / k.size }

// btreeSlot is __btree(root, size, alignment, count, i): the address of element i of count.
func btreeSlot(s *scope, args []eval.Value) (eval.Value, error) {
	n, err := numbers(s, "__btree", args, 5)
	if err != nil {
		return eval.Value{}, err
	}
	k := btreeKey{addr(n[0]), n[1], n[2], n[3]}
	if k.size < 1 || k.size > 1<<20 || k.align < 1 || k.align > 1<<12 {
		return eval.Value{}, errors.New("a B-tree of elements without a size")
	}
	w := s.set.btrees[k]
	if w == nil {
		w = &btreeWalk{key: k}
		if s.set.btrees == nil || len(s.set.btrees) >= maxBtrees {
			s.set.btrees = map[btreeKey]*btreeWalk{}
		}
		s.set.btrees[k] = w
		w.err = w.start(s)
	}
	for n[4] >= int64(len(w.found)) && w.err == nil {
		if int64(len(w.found)) >= min(k.full, maxNodes) {
			w.err = fmt.Errorf("the tree has %d elements", len(w.found))
			break
		}
		w.err = w.visit(s)
	}
	if n[4] < 0 || n[4] >= int64(len(w.found)) {
		return eval.Value{}, errors.Join(errNoElement, w.err)
	}
	return eval.FromInt(int64(w.found[n[4]])), nil
}

// start finds out how many elements a node with children has room for: at least 4, or 3 in older releases. The
// children are where the first one's parent is the root.
func (w *btreeWalk) start(s *scope) error {
	step, err := w.open(w.key.root, s)
	if err != nil {
		return err
	}
	if !step.leaf {
		for _, slots := range []int64{max(w.key.fits(), 4), max(w.key.fits(), 3)} {
			w.slots = slots
			child, err := w.child(w.key.root, 0, s)
			if err != nil {
				continue
			}
			if parent, err := readPointer(child, s); err == nil && parent == w.key.root {
				return w.descend(w.key.root, s)
			}
		}
		return errors.New("the children of the root are not known")
	}
	return w.descend(w.key.root, s)
}

// open reads the header of a node.
func (w *btreeWalk) open(node addr, s *scope) (btreeStep, error) {
	var b [12]byte
	if err := readAll(node, b[:], s); err != nil {
		return btreeStep{}, err
	}
	step := btreeStep{node: node, count: int64(b[10]), leaf: b[11] != 0}
	if most := max(w.key.fits(), 4); b[9] != 0 || step.count > most || step.leaf && step.count > int64(b[11]) {
		return btreeStep{}, fmt.Errorf("a node with %d elements", step.count)
	}
	return step, nil
}

// child returns the address of a child.
func (w *btreeWalk) child(node addr, i int64, s *scope) (addr, error) {
	at := (w.key.elementsAt() + w.slots*w.key.size + 7) / 8 * 8
	return readPointer(node+addr(at+8*i), s)
}

// descend goes to the first element under a node.
func (w *btreeWalk) descend(node addr, s *scope) error {
	for {
		step, err := w.open(node, s)
		if err != nil {
			return err
		}
		if w.path = append(w.path, step); len(w.path) > btreeDepth {
			return errors.New("the tree is too deep")
		}
		if step.leaf {
			return nil
		}
		if node, err = w.child(node, 0, s); err != nil {
			return err
		}
	}
}

// visit finds one element more.
func (w *btreeWalk) visit(s *scope) error {
	for len(w.path) > 0 {
		step := &w.path[len(w.path)-1]
		if step.next >= step.count {
			w.path = w.path[:len(w.path)-1]
			continue
		}
		w.found = append(w.found, step.node+addr(w.key.elementsAt()+step.next*w.key.size))
		step.next++
		if step.leaf {
			return nil
		}
		child, err := w.child(step.node, step.next, s)
		if err != nil {
			return err
		}
		return w.descend(child, s)
	}
	return fmt.Errorf("the tree ends after %d elements", len(w.found))
}
