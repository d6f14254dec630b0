package view

import (
	"errors"
	"fmt"
	"strconv"
	"sync"

	"dbg/eval"
	"dbg/eval/natvis"
	"dbg/symbols/types"
	"dbg/target"
)

type addr = target.Addr

// segment is the children that one element of Expand makes.
type segment interface {
	Len() int64
	At(i int64) eval.Value
}

// itemList is the children of an object.
type itemList struct {
	form     eval.Form
	segments []segment
}

var _ eval.Items = (*itemList)(nil)

// Form implements eval.Items.
func (l *itemList) Form() eval.Form { return l.form }

// Len implements eval.Items.
func (l *itemList) Len() (n int64) {
	for _, s := range l.segments {
		n += s.Len()
	}
	return n
}

// At implements eval.Items.
func (l *itemList) At(i int64) eval.Value {
	for _, s := range l.segments {
		if n := s.Len(); i < n {
			return s.At(i)
		} else {
			i -= n
		}
	}
	return unreadable(errors.New("no such element"))
}

func unreadable(err error) eval.Value {
	return eval.Value{Type: types.New(types.Void, "void", 0, false, nil), Avail: eval.Unreadable, Err: err}
}

// Items implements eval.View.
func (o *object) Items() (eval.Items, error) {
	if err := o.valid(); err != nil {
		return nil, err
	}
	if !o.listed {
		o.listed = true
		if o.list, o.failed = o.items(); o.failed != nil {
			o.failed = &errInvalid{o.name, o.failed}
		}
	}
	if o.list == nil {
		return nil, o.failed
	}
	return o.list, o.failed
}

func (o *object) items() (*itemList, error) {
	if o.def.Expand == nil {
		if len(o.def.Strings) > 0 || len(o.def.Displays) > 0 && o.typ.Kind != types.Struct {
			return nil, nil
		}
		if len(o.def.Displays) == 0 {
			return o.members(), nil
		}
		return nil, nil
	}
	l := &itemList{}
	s := o.scope()
	indexed := len(o.def.Expand.Items) > 0
	expanded := indexed && len(o.def.Displays) > 0
	for _, item := range o.def.Expand.Items {
		c := item.Attributes()
		ok, err := o.applies(c, s)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		seg, named, err := o.segment(item, s)
		if err != nil {
			if c.Optional && meansNothing(err) {
				continue
			}
			return nil, err
		}
		indexed = indexed && !named
		_, is := item.(*natvis.ExpandedItem)
		expanded = expanded && is
		if seg != nil {
			l.segments = append(l.segments, seg)
		}
	}
	switch {
	case expanded:
		l.form = eval.SummaryOnly
	case indexed:
		l.form = eval.ByIndex
	}
	return l, nil
}

// members are the members of an object whose view has no Expand.
func (o *object) members() *itemList {
	return &itemList{segments: []segment{&others{v: eval.Raw(o.v), env: o.env}}}
}

// segment makes the children of one element. named tells that they have names of their own.
func (o *object) segment(item natvis.Item, s *scope) (seg segment, named bool, err error) {
	switch it := item.(type) {
	case *natvis.ItemValue:
		v, err := o.eval(&it.Value, s)
		if err != nil {
			return nil, true, err
		}
		if it.Value.Spec.Size != nil {
			if v, err = o.sized(v, it.Value.Spec.Size, s); err != nil {
				return nil, true, err
			}
		}
		v.Name = o.expandText(it.Name)
		return &single{v}, true, nil
	case *natvis.ArrayItems:
		seg, err := o.array(it, s)
		return seg, false, err
	case *natvis.IndexListItems:
		n, err := o.size(it.Sizes, s)
		if err != nil {
			return nil, false, err
		}
		seg := &indexed{o: o, n: max(n, 0), nodes: it.ValueNodes}
		return seg, len(it.ValueNodes) > 0 && it.ValueNodes[0].Name != nil, nil
	case *natvis.LinkedListItems:
		w, err := o.walk(it, func() (*nodes, error) {
			n, head, err := o.sizeAndHead(it.Sizes, &it.Head, s)
			if err != nil {
				return nil, err
			}
			return newListWalk(o, it, head, n)
		})
		return segmentOf(w, err), it.Value.Name != nil, err
	case *natvis.TreeItems:
		w, err := o.walk(it, func() (*nodes, error) {
			n, head, err := o.sizeAndHead(it.Sizes, &it.Head, s)
			if err != nil {
				return nil, err
			}
			return newTreeWalk(o, it, head, n)
		})
		return segmentOf(w, err), it.Value.Name != nil, err
	case *natvis.ExpandedItem:
		v, err := o.eval(&it.Value, s)
		if err != nil {
			return nil, true, err
		}
		return &others{v: v, env: s.inner}, true, nil
	case *natvis.Synthetic:
		text := ""
		for i := range it.Displays {
			d := &it.Displays[i]
			if ok, err := o.applies(&d.Common, s); err == nil && ok {
				if text, err = o.display(d.Parts, s, eval.DefaultOptions()); err != nil {
					return nil, true, err
				}
				break
			}
		}
		return &single{eval.Words(it.Name, text)}, true, nil
	}
	if it, ok := item.(*natvis.CustomListItems); ok {
		n, err := o.size(it.Sizes, s)
		if err != nil {
			return nil, true, err
		}
		return &customList{o: o, it: it, n: n}, namesItems(it.Body), nil
	}
	return nil, true, fmt.Errorf("a kind of item that is not known: %T", item)
}

func segmentOf(w *nodes, err error) segment {
	if err != nil {
		return nil
	}
	return w
}

// sizeAndHead evaluates what a list and a tree begin with.
func (o *object) sizeAndHead(sizes []natvis.Choice, x *natvis.Expr, s *scope) (n int64, head eval.Value, err error) {
	if n, err = o.size(sizes, s); err == nil {
		head, err = o.eval(x, s)
	}
	return n, head, err
}

// maxCount is the largest number of elements that a container can have.
const maxCount = 1 << 40

// size returns the number of elements, or -1 if the view does not tell.
func (o *object) size(list []natvis.Choice, s *scope) (int64, error) {
	x, err := o.choose(list, s)
	if err != nil || x == nil {
		return -1, err
	}
	n, err := o.number(x, s)
	if err == nil && (n < 0 || n > maxCount) {
		err = fmt.Errorf("%d elements", n)
	}
	return n, err
}

// sized makes an array of a pointer.
func (o *object) sized(v eval.Value, size *natvis.Expr, s *scope) (eval.Value, error) {
	n, err := o.number(size, s)
	if err != nil {
		return v, err
	}
	elem, at, err := elements(v, s)
	if err != nil {
		return v, err
	}
	a, ok := eval.ArrayAt(elem, n, at)
	if !ok {
		return v, fmt.Errorf("%d elements", n)
	}
	return a, nil
}

// single is one child.
type single struct{ v eval.Value }

func (*single) Len() int64            { return 1 }
func (s *single) At(int64) eval.Value { return s.v }

// others are the children of another value.
type others struct {
	v   eval.Value
	env *inner
	n   int64
	got bool
}

func (s *others) Len() int64 {
	if !s.got {
		s.got, s.n = true, int64(eval.NumChildren(s.v, s.env))
		if view := eval.ViewOf(s.v, s.env); view != nil && s.n > 0 {
			s.n-- // the last one shows the memory
		}
	}
	return s.n
}

func (s *others) At(i int64) eval.Value {
	list, err := eval.Children(s.v, s.env, int(i), 1)
	if err != nil || len(list) == 0 {
		return unreadable(errors.Join(err, errNoElement))
	}
	return list[0]
}

var errNoElement = errors.New("no such element")

// array makes the elements of ArrayItems.
func (o *object) array(it *natvis.ArrayItems, s *scope) (segment, error) {
	x, err := o.choose(it.ValuePointers, s)
	if err != nil || x == nil {
		return nil, err
	}
	v, err := o.eval(x, s)
	if err != nil {
		return nil, err
	}
	elem, at, err := elements(v, s)
	if err != nil {
		return nil, err
	}
	rank := int64(1)
	if it.Rank != nil {
		if rank, err = o.number(it.Rank, s); err != nil {
			return nil, err
		}
		if rank < 1 || rank > 32 {
			return nil, fmt.Errorf("an array with %d dimensions", rank)
		}
	}
	a := &array{elem: elem, at: at, step: elem.Strip().Size, backward: it.Backward, n: 1, env: s.inner}
	for d := range rank {
		s.index = d
		n, err := o.size(it.Sizes, s)
		if err != nil {
			return nil, err
		}
		low := int64(0)
		if it.LowerBound != nil {
			if low, err = o.number(it.LowerBound, s); err != nil {
				return nil, err
			}
		}
		if n = max(n, 0); n > 0 && a.n > maxCount/n {
			return nil, errors.New("too many elements")
		}
		a.n *= n
		a.dims, a.low = append(a.dims, n), append(a.low, low)
	}
	if a.step <= 0 && a.n > 0 {
		return nil, fmt.Errorf("the size of %s is not known", elem)
	}
	// Both ends must be readable: a size that is nonsense shows itself there.
	for _, i := range []int64{0, a.n - 1} {
		if a.n > 0 {
			var b [1]byte
			p := a.at + addr(i*a.step)
			if n, err := s.ReadMemory(p, b[:]); n < 1 {
				return nil, fmt.Errorf("can't read element %d at %s: %w", i, p, err)
			}
		}
	}
	return a, nil
}

// array is a range of memory.
type array struct {
	elem      *types.Type
	at        addr
	step, n   int64
	dims, low []int64
	backward  bool
	env       *inner

	chunk []byte // some elements, from first on
	first int64
}

func (a *array) Len() int64 { return a.n }

func (a *array) At(i int64) eval.Value {
	v := eval.Value{Type: a.elem, Name: a.name(i), Addr: a.at + addr(i*a.step), HasAddr: true}
	if size := a.elem.Strip().Size; size > 0 && size <= smallPiece && size == a.step {
		off := (i - a.first) * size
		if off < 0 || off+size > int64(len(a.chunk)) {
			a.read(i, size)
			off = 0
		}
		if len(a.chunk) > 0 {
			v.Bytes = a.chunk[off : off+size : off+size]
			return v
		}
	}
	return prefetched(v, a.env)
}

// read reads the elements from i on that fit into a piece.
func (a *array) read(i, size int64) {
	b := make([]byte, min(smallPiece/size, a.n-i)*size)
	a.first, a.chunk = i, nil
	if n, err := a.env.ReadMemory(a.at+addr(i*size), b); err == nil && n == len(b) {
		a.chunk = b
	}
}

func (a *array) name(i int64) string {
	if len(a.dims) == 1 {
		return indexName(i + a.low[0])
	}
	index := make([]int64, len(a.dims))
	for k := range a.dims {
		d := len(a.dims) - 1 - k
		if a.backward {
			d = k
		}
		index[d] = i%a.dims[d] + a.low[d]
		i /= a.dims[d]
	}
	text := "["
	for k, n := range index {
		if k > 0 {
			text += ","
		}
		text += strconv.FormatInt(n, 10)
	}
	return text + "]"
}

// indexed are the elements of IndexListItems.
type indexed struct {
	o     *object
	n     int64
	nodes []natvis.ValueNode
}

func (l *indexed) Len() int64 { return l.n }

func (l *indexed) At(i int64) eval.Value {
	s := l.o.scope()
	s.index = i
	for k := range l.nodes {
		n := &l.nodes[k]
		ok, err := l.o.applies(&n.Common, s)
		if err != nil {
			return named(unreadable(err), i)
		}
		if ok {
			return l.o.element(n, s)
		}
	}
	return named(unreadable(errNoElement), i)
}

func named(v eval.Value, i int64) eval.Value {
	v.Name = indexName(i)
	return v
}

// smallNames are the names of the elements that are shown most.
var smallNames = sync.OnceValue(func() *[256]string {
	var names [256]string
	for i := range names {
		names[i] = "[" + strconv.Itoa(i) + "]"
	}
	return &names
})

func indexName(i int64) string {
	if i >= 0 && i < 256 {
		return smallNames()[i]
	}
	return "[" + strconv.FormatInt(i, 10) + "]"
}

// prefetched reads a small value through the cache of its view.
func prefetched(v eval.Value, env *inner) eval.Value {
	if v.HasAddr && v.Bytes == nil && v.Type != nil && v.Type.Strip().Size <= smallPiece {
		if r := eval.Fetch(v, env); r.Avail == eval.Available {
			return r
		}
	}
	return v
}

// element evaluates an element in its scope.
func (o *object) element(n *natvis.ValueNode, s *scope) eval.Value {
	return o.child(&n.Value, n.Name, s)
}

// child evaluates the value and the name of a child. Without a name it has its index.
func (o *object) child(x *natvis.Expr, name []natvis.Part, s *scope) eval.Value {
	v, err := o.eval(x, s)
	if err == nil && x.Spec.Size != nil {
		v, err = o.sized(v, x.Spec.Size, s)
	}
	if err != nil {
		v = unreadable(err)
	}
	v = prefetched(named(v, s.index), s.inner)
	if name != nil {
		if text, err := o.display(name, s, eval.DefaultOptions()); err == nil {
			v.Name = text
		}
	}
	return v
}
