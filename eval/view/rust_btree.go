package view

import (
	"errors"
	"fmt"

	"dbg/eval"
	"dbg/symbols/types"
)

// A BTreeMap (alloc/src/collections/btree) has a root and a length. A node of height 0 is a
// LeafNode {parent, parent_idx, len, keys: [K; 11], vals: [V; 11]}. A node above is an
// InternalNode, which is a LeafNode with 12 edges directly after it (repr(C)). All leaves have the
// same height.
type btree struct {
	r      *rust
	leaf   *types.Type
	length int64
	parent int64 // the offset of the parent in a node

	stack []btreePlace
	found []btreePlace // elements in order
	err   error
}

// btreePlace is an element of a node, or the next edge to follow.
type btreePlace struct {
	node   addr
	index  int64
	count  int64  // elements of the node
	edges  []byte // of an internal node
	height int64
}

const (
	btreeCapacity = 11
	wholeTree     = 1 << 10 // elements; a smaller tree is checked whole
)

func rustBTree(r *rust) bool {
	v := r.v
	isMap := r.name == "BTreeMap"
	if !isMap {
		m, ok := dig(v, r.env, "map|base")
		if !ok {
			return false
		}
		v = m
	}
	root, ok := dig(v, r.env, "root")
	if _, ok2 := dig(v, r.env, "length"); !ok || !ok2 {
		return false
	}
	b := &btree{r: r}
	r.list = &rustItems{form: eval.Braces, at: func(i int64) eval.Value {
		k, value, err := b.pair(i)
		switch {
		case err != nil:
			return named(unreadable(err), i)
		case isMap:
			return pairItem(k, value, r.env)
		}
		return named(k, i)
	}}
	if isMap {
		r.list.form = eval.Keyed
	}
	r.check = func() error { return b.open(v, root) }
	r.collection()
	r.keyed(isMap, b.pair)
	return true
}

// open reads and checks the root.
func (b *btree) open(v, root eval.Value) error {
	env := b.r.env
	length, ok := digNumber(v, env, "length")
	form, ok2 := eval.Variant(root, env)
	if !ok || !ok2 || form.Avail == eval.Unreadable {
		return errors.New("its root can't be read")
	}
	ref, some := dig(form, env, "0")
	if !some {
		if length != 0 {
			return fmt.Errorf("%d elements without a root", uint64(length))
		}
		return nil
	}
	height, ok := digNumber(ref, env, "height")
	node, ok2 := dig(ref, env, "node")
	if !ok || !ok2 {
		return errors.New("its root can't be read")
	}
	pointer, ok := pointerPart(node, env)
	if !ok {
		return errors.New("its root can't be read")
	}
	b.leaf = pointer.Type.Strip().Elem()
	at, err := eval.Number(pointer, env)
	if err != nil {
		return err
	}
	// Nodes other than the root have at least five elements.
	least, most := int64(1), int64(btreeCapacity)
	for h := int64(0); h < height && most < 1<<47; h++ {
		least, most = least*6+5, most*12+btreeCapacity
	}
	if height > 0 {
		least = (least+1)/3 - 1 // 2*6^height - 1
	}
	b.length, b.r.list.n = length, length
	switch {
	case b.leaf == nil || b.leaf.Strip().Kind != types.Struct:
		return errors.New("the type of its nodes is not known")
	case length < 0 || length >= 1<<47 || height < 0 || height > 24 || length > most:
		return fmt.Errorf("%d elements in a tree of height %d", uint64(length), uint64(height))
	case length == 0 && height == 0:
	case length < least:
		return fmt.Errorf("%d elements in a tree of height %d", length, height)
	}
	fields := b.leaf.Strip().Fields()
	b.parent = -1
	for i := range fields {
		if fields[i].Name == "parent" {
			b.parent = fields[i].Offset
		}
	}
	if b.parent < 0 || b.leaf.Strip().Size <= 0 {
		return errors.New("the type of its nodes is not known")
	}
	if err := b.enter(addr(at), 0, height); err != nil {
		return err
	}
	if length <= wholeTree {
		for b.more() {
		}
		if b.err == nil && int64(len(b.found)) != length {
			b.err = fmt.Errorf("its nodes have %d elements, not %d", len(b.found), length)
		}
	}
	return b.err
}

// enter checks a node, and goes down to its first leaf.
func (b *btree) enter(at, parent addr, height int64) error {
	env := b.r.env
	for {
		n, ok := digNumber(eval.Value{Type: b.leaf, Addr: at, HasAddr: true}, env, "len")
		up, err := word(at+addr(b.parent), env)
		switch {
		case err != nil:
			return err
		case !ok:
			return errors.New("a node can't be read")
		case n < 0 || n > btreeCapacity || n == 0 && (parent != 0 || height > 0):
			return fmt.Errorf("a node with %d elements", n)
		case addr(up) != parent:
			return fmt.Errorf("the node at %v has another parent", at)
		}
		p := btreePlace{node: at, count: n, height: height}
		if height > 0 {
			size := env.Arch().PtrSize
			p.edges = make([]byte, int(n+1)*size)
			if got, err := env.ReadMemory(at+addr(b.leaf.Strip().Size), p.edges); got < len(p.edges) {
				return errors.Join(err, errors.New("the edges of a node can't be read"))
			}
		}
		b.stack = append(b.stack, p)
		if height == 0 {
			return nil
		}
		parent, at, height = at, addr(wordIn(p.edges[:env.Arch().PtrSize])), height-1
	}
}

// more finds the next element.
func (b *btree) more() bool {
	for b.err == nil && len(b.stack) > 0 {
		if int64(len(b.found)) > b.length {
			b.err = errors.New("its nodes have more elements than it")
			return false
		}
		top := &b.stack[len(b.stack)-1]
		if top.index >= top.count {
			b.stack = b.stack[:len(b.stack)-1]
			continue
		}
		b.found = append(b.found, btreePlace{node: top.node, index: top.index})
		top.index++
		if top.height > 0 {
			p := int64(b.r.env.Arch().PtrSize)
			edge := top.edges[top.index*p : (top.index+1)*p]
			b.err = b.enter(addr(wordIn(edge)), top.node, top.height-1)
		}
		return b.err == nil
	}
	return false
}

// pair returns the key and the value of an element. The value of a set has no size.
func (b *btree) pair(i int64) (k, v eval.Value, err error) {
	for i >= int64(len(b.found)) {
		if len(b.found) >= maxNodes {
			b.err = errTooMany
		}
		if !b.more() {
			break
		}
	}
	if i >= int64(len(b.found)) {
		if b.err == nil {
			b.err = fmt.Errorf("the tree ends after %d elements", len(b.found))
		}
		return k, v, b.err
	}
	p := b.found[i]
	node := eval.Value{Type: b.leaf, Addr: p.node, HasAddr: true}
	part := func(name string) (eval.Value, error) {
		list, ok := dig(node, b.r.env, name)
		if !ok || list.Type.Strip().Kind != types.Array {
			return eval.Value{}, errors.New("the type of its nodes is not known")
		}
		elem := list.Type.Strip().Elem()
		size := max(elem.Strip().Size, 0)
		e := eval.Value{Type: elem, Addr: list.Addr + addr(size*p.index), HasAddr: true}
		if size == 0 {
			e.Bytes = []byte{}
		}
		e = eval.Fetch(unwrap(e, b.r.env), b.r.env)
		return e, availability(e)
	}
	if k, err = part("keys"); err == nil {
		v, err = part("vals")
	}
	return k, v, err
}
