package registry

import (
	"fmt"

	"dbg/target"
)

// Nodes of libgcc's b-tree: a lock (a word), entry_count and type (numbers of 4 bytes), and the entries: a
// separator and a child, or the base and the size of a range and its object.
const (
	innerNode = 0
	leafNode  = 1

	maxInner = 15 // max_fanout_inner
	maxLeaf  = 10 // max_fanout_leaf
	maxDepth = 12 // 7^12 entries
	maxNodes = 1 << 13
)

// treeReader is a walk through a tree.
type treeReader struct {
	Layout
	mem   target.Memory
	seen  map[target.Addr]bool
	list  []Entry
	total int // entries of leaves
}

// ReadTree reads a b-tree: struct btree begins with the address of the root.
func (l Layout) ReadTree(mem target.Memory, tree target.Addr) ([]Entry, error) {
	w, err := l.words(mem, tree, 1, "the tree of registered frames")
	if err != nil || w[0] == 0 {
		return nil, err
	}
	r := treeReader{Layout: l, mem: mem, seen: map[target.Addr]bool{}}
	err = r.node(target.Addr(w[0]), 0)
	return r.list, err
}

// node reads a node and those below it.
func (r *treeReader) node(at target.Addr, depth int) error {
	switch {
	case depth == maxDepth || len(r.seen) == maxNodes:
		return fmt.Errorf("the tree of registered frames is too large")
	case r.seen[at]:
		return fmt.Errorf("the tree of registered frames contains node %s twice", at)
	case uint64(at)%uint64(r.Word) != 0:
		return fmt.Errorf("the node %s of the tree of registered frames is not aligned", at)
	}
	r.seen[at] = true
	var head [16]byte
	b := head[:r.Word+8]
	if _, err := r.mem.ReadMemory(at, b); err != nil {
		return fmt.Errorf("a node of the tree of registered frames: %w", err)
	}
	count, kind := r.Order.Uint32(b[r.Word:]), r.Order.Uint32(b[r.Word+4:])
	first := at + target.Addr(len(b))
	switch {
	case kind == innerNode && count > 0 && count <= maxInner:
		return r.inner(first, int(count), depth)
	case kind == leafNode && count <= maxLeaf:
		return r.leaf(first, int(count))
	}
	return fmt.Errorf("node %s of the tree of registered frames has type %d and %d entries", at, kind, count)
}

func (r *treeReader) inner(first target.Addr, count, depth int) error {
	w, err := r.words(r.mem, first, 2*count, "a node of the tree of registered frames")
	if err != nil {
		return err
	}
	for i := range count {
		if i > 0 && w[2*i] <= w[2*i-2] {
			return fmt.Errorf("the separators at %s are out of order", first)
		}
		if err := r.node(target.Addr(w[2*i+1]), depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (r *treeReader) leaf(first target.Addr, count int) error {
	w, err := r.words(r.mem, first, 3*count, "a node of the tree of registered frames")
	if err != nil {
		return err
	}
	for i := range count {
		base, size, at := w[3*i], w[3*i+1], target.Addr(w[3*i+2])
		if base+size < base || i > 0 && base < w[3*i-3]+w[3*i-2] {
			return fmt.Errorf("the range 0x%x..0x%x of the tree of registered frames is invalid", base, base+size)
		}
		if r.total++; r.total > MaxEntries {
			return fmt.Errorf("the tree of registered frames has more than %d entries", MaxEntries)
		}
		o, err := r.readObject(r.mem, at)
		if err != nil {
			return err
		}
		list, err := r.entries(r.mem, at, o)
		if err != nil {
			return err
		}
		// Since GCC 13.2 a second tree of the same form, registered_objects, has the addresses of the
		// information instead of the code. Its ranges are of one byte.
		if len(list) == 1 && size > 1 {
			list[0].Lo, list[0].Hi = base, base+size
		}
		if len(r.list)+len(list) > MaxEntries {
			return fmt.Errorf("the tree of registered frames has more than %d entries", MaxEntries)
		}
		r.list = append(r.list, list...)
	}
	return nil
}
