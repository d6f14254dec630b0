package view

import (
	"errors"
	"fmt"

	"dbg/eval"
	"dbg/symbols/types"
)

// rustDeque shows a VecDeque: a ring in a buffer. Since Rust 1.67 it has the place of its first
// element (head) and its length. Before, it had the places of the first one (tail) and after the
// last one (head).
func rustDeque(r *rust) bool {
	elem := typeArg(r.v.Type, 0)
	buf, ok := dig(r.v, r.env, "buf")
	_, isNew := dig(r.v, r.env, "len")
	_, isOld := dig(r.v, r.env, "tail")
	if !ok || elem == nil || !isNew && !isOld {
		return false
	}
	size := max(elem.Strip().Size, 0)
	var first, capacity int64
	var at addr
	r.check = func() error {
		p, ok1 := dig(buf, r.env, "ptr")
		if !ok1 {
			p, ok1 = dig(buf, r.env, "inner", "ptr")
		}
		c, ok2 := digNumber(buf, r.env, "cap")
		if !ok2 {
			c, ok2 = digNumber(buf, r.env, "inner", "cap")
		}
		n, ok3 := digNumber(r.v, r.env, "len")
		head, ok4 := digNumber(r.v, r.env, "head")
		if !isNew {
			var tail int64
			tail, ok3 = digNumber(r.v, r.env, "tail")
			n, head = head-tail, tail
			if n < 0 {
				n += c
			}
		}
		if !ok1 || !ok2 || !ok3 || !ok4 {
			return errors.New("its header can't be read")
		}
		a, ok := scalarIn(p, r.env)
		if size == 0 {
			c = 1 << 47
		}
		switch {
		case !ok:
			return errors.New("its buffer can't be read")
		case c < 0 || c > 1<<47/max(size, 1) || n < 0 || n > c || head < 0 || head > c || head == c && n > 0:
			return fmt.Errorf("%d elements from place %d on in a buffer of %d", uint64(n), uint64(head), uint64(c))
		}
		r.list.n, first, capacity, at = n, head, c, addr(a)
		return readable(r.env, at+addr(size*(first%max(c, 1))), min(n, 1)*size)
	}
	r.list = &rustItems{form: eval.Runs, at: func(i int64) eval.Value {
		return slotAt(elem, at, (first+i)%capacity, i, r.env)
	}}
	r.collection()
	r.indexed()
	r.method("capacity", func() (eval.Value, error) { return eval.FromInt(capacity), nil })
	return true
}

// slotAt returns the element in a slot of an array.
func slotAt(elem *types.Type, at addr, slot, i int64, env eval.Env) eval.Value {
	size := max(elem.Strip().Size, 0)
	v := eval.Value{Type: elem, Addr: at + addr(slot*size), HasAddr: true}
	if size == 0 {
		v.Bytes = []byte{}
	}
	return named(eval.Fetch(v, env), i)
}

// readable reports an error if memory can't be read.
func readable(env eval.Env, a addr, n int64) error {
	if n <= 0 {
		return nil
	}
	got, err := env.ReadMemory(a, make([]byte, min(n, 4096)))
	if got < 1 {
		return errors.Join(errors.New("its memory can't be read"), err)
	}
	return nil
}

// rustHeap shows a BinaryHeap: the Vec in it, whose first element is the greatest one.
func rustHeap(r *rust) bool {
	data, ok := dig(r.v, r.env, "data")
	if !ok {
		return false
	}
	return r.array(func() (*types.Type, addr, int64, error) {
		elem, at, n, ok := eval.Sequence(data, r.env)
		if !ok {
			return nil, 0, 0, errors.New("its data can't be read")
		}
		return elem, at, n, nil
	})
}

// array completes the view of a collection whose elements are one after the other.
func (r *rust) array(place func() (elem *types.Type, at addr, n int64, err error)) bool {
	var elem *types.Type
	var at addr
	r.list = &rustItems{form: eval.Runs, at: func(i int64) eval.Value { return slotAt(elem, at, i, i, r.env) }}
	r.check = func() (err error) {
		var n int64
		elem, at, n, err = place()
		switch {
		case err != nil:
			return err
		case elem == nil:
			return errors.New("the type of its elements is not known")
		case n < 0 || n > 1<<47/max(elem.Strip().Size, 1):
			return fmt.Errorf("%d elements", uint64(n))
		}
		r.list.n = n
		return readable(r.env, at, min(n, 1)*max(elem.Strip().Size, 0))
	}
	r.collection()
	r.indexed()
	return true
}

// rustList shows a LinkedList: nodes with next, prev and element.
func rustList(r *rust) bool {
	head, ok := dig(r.v, r.env, "head")
	_, ok2 := dig(r.v, r.env, "len")
	if !ok || !ok2 {
		return false
	}
	var next eval.Value // Option<NonNull<Node<T>>>
	var found []eval.Value
	var last addr
	var broken error
	step := func() error {
		form, ok := eval.Variant(next, r.env)
		if !ok || form.Avail == eval.Unreadable {
			return errors.New("a node can't be read")
		}
		link, some := dig(form, r.env, "0")
		if !some {
			return fmt.Errorf("the list ends after %d elements", len(found))
		}
		p, ok := pointerPart(link, r.env)
		if !ok {
			return errors.New("a node can't be read")
		}
		node, err := eval.Target(p, r.env)
		if err != nil {
			return err
		}
		node = eval.Fetch(node, r.env)
		if err := availability(node); err != nil {
			return err
		}
		if prev, ok := digNumber(node, r.env, "prev"); ok && addr(prev) != last {
			return fmt.Errorf("the node at %v has another predecessor", node.Addr)
		}
		element, ok1 := dig(node, r.env, "element")
		last = node.Addr
		if next, ok = dig(node, r.env, "next"); !ok || !ok1 {
			return errors.New("the type of its nodes is not known")
		}
		found = append(found, element)
		return nil
	}
	r.list = &rustItems{form: eval.Runs, at: func(i int64) eval.Value {
		for i >= int64(len(found)) && broken == nil {
			if broken = step(); len(found) > maxNodes {
				broken = errTooMany
			}
		}
		if i >= int64(len(found)) {
			return named(unreadable(broken), i)
		}
		return named(found[i], i)
	}}
	r.check = func() error {
		n, ok := digNumber(r.v, r.env, "len")
		if !ok || n < 0 || n > 1<<47 {
			return fmt.Errorf("%d elements", uint64(n))
		}
		next, r.list.n = head, n
		if n > 0 {
			return availability(r.list.at(0))
		}
		return nil
	}
	r.collection()
	r.indexed()
	return true
}

// rustIter shows the elements that the iterator of a slice or of a Vec has not yet given: from ptr
// to end. Iterators of elements without a size count in end, and are shown as they are in memory.
func rustIter(r *rust) bool {
	from, ok := dig(r.v, r.env, "ptr")
	to, ok2 := dig(r.v, r.env, "end|end_or_len")
	elem := typeArg(r.v.Type, 0)
	if !ok || !ok2 || elem == nil || elem.Strip().Size <= 0 {
		return false
	}
	size := elem.Strip().Size
	return r.array(func() (*types.Type, addr, int64, error) {
		a, ok1 := scalarIn(from, r.env)
		b, ok2 := scalarIn(to, r.env)
		if !ok1 || !ok2 || b < a || (b-a)%size != 0 {
			return nil, 0, 0, fmt.Errorf("it goes from %#x to %#x", uint64(a), uint64(b))
		}
		return elem, addr(a), (b - a) / size, nil
	})
}

// rustChars shows the text that the iterator over the characters of a str has not yet given.
func rustChars(r *rust) bool {
	iter, ok := dig(r.v, r.env, "iter")
	from, ok2 := dig(iter, r.env, "ptr")
	to, ok3 := dig(iter, r.env, "end|end_or_len")
	if !ok || !ok2 || !ok3 {
		return false
	}
	r.show(eval.Tuple, eval.Value{})
	r.check = func() error {
		a, ok1 := scalarIn(from, r.env)
		b, ok2 := scalarIn(to, r.env)
		if !ok1 || !ok2 || b < a {
			return fmt.Errorf("it goes from %#x to %#x", uint64(a), uint64(b))
		}
		r.show(eval.Tuple, called(strAt(addr(a), b-a, r.env), "text"))
		return nil
	}
	return true
}
