package eval

import (
	"fmt"

	"dbg/symbols/lang"
	"dbg/symbols/types"
	"dbg/target"
)

// goChan is a Go channel: runtime.hchan.
type goChan struct {
	name         string
	isNil        bool
	count, slots int64 // the number of elements, and of slots
	first        int64 // the slot of the element that is received next
	closed       bool
	elem         *types.Type
	addr         target.Addr
	err          error // why its content is unknown
}

// goChanOf reads a channel. It returns false if the value is not a channel.
func goChanOf(v Value, env Env) (goChan, bool) {
	t, header := goReference(v, "hchan<")
	if t == nil || env == nil {
		return goChan{}, false
	}
	c := goChan{name: v.Type.GoName(), elem: t.GoElem()}
	if v = load(v, env); v.Avail != Available {
		return goChan{}, false
	}
	at := integerOf(v)
	if c.isNil = at == 0; c.isNil {
		return c, true
	}
	h := load(Value{Type: header, Addr: target.Addr(at), HasAddr: true}, env)
	if c.err = availabilityError(h); c.err != nil {
		return c, true
	}
	var n [6]uint64
	for i, name := range []string{"qcount", "dataqsiz", "recvx", "elemsize", "buf", "closed"} {
		u, ok := number64(field(h, name))
		if !ok {
			c.err = Error("unknown channel layout")
			return c, true
		}
		n[i] = u
	}
	size := sizeOf(c.elem)
	switch {
	case size < 0 || n[3] != uint64(size):
		c.err = errCorrupt("the element size is %d bytes, not %d", n[3], size)
	case n[1] > 1<<47/uint64(max(size, 1)) || n[0] > n[1] || n[2] > n[1] || n[2] == n[1] && n[1] > 0:
		c.err = errCorrupt("%d elements from slot %d on in a buffer of %d", n[0], n[2], n[1])
	}
	c.count, c.slots, c.first, c.addr, c.closed = int64(n[0]), int64(n[1]), int64(n[2]), target.Addr(n[4]), n[5] != 0
	return c, true
}

// at returns an element. Element 0 is received next.
func (c *goChan) at(i int64) Value {
	slot := (c.first + i) % c.slots
	v := Value{Type: c.elem, Addr: c.addr + target.Addr(slot*sizeOf(c.elem)), HasAddr: true}
	if sizeOf(c.elem) == 0 {
		v.Bytes = []byte{}
	}
	return v
}

// goChan writes chan int len: 2, cap: 3, [7, 8].
func (p *printer) goChan(c *goChan) {
	p.str(c.name)
	switch {
	case c.isNil:
		p.str(" nil")
	case c.err != nil:
		p.str(" <error: " + c.err.Error() + ">")
	default:
		p.str(fmt.Sprintf(" len: %d, cap: %d", c.count, c.slots))
		if c.closed {
			p.str(", closed")
		}
		if p.hidden() {
			p.str(", {...}")
			return
		}
		p.str(", [")
		p.elements(c.count, ", ", func(i int64) Value { return load(c.at(i), p.env) })
		p.str("]")
	}
}

// golang writes a Go interface, map or channel. It returns false if the value is none of them.
func (p *printer) golang(v Value) bool {
	if v.Type == nil || !p.raw() || p.opt.Raw || v.Avail != Available || v.Type.Strip().Lang != lang.Go {
		return false
	}
	if isGoInterface(v.Type) {
		return p.goInterface(v)
	}
	if m, ok := goMapOf(v, p.env); ok {
		p.goMap(&m)
		return true
	}
	if c, ok := goChanOf(v, p.env); ok {
		p.goChan(&c)
		return true
	}
	return false
}

// goTree returns the parts of a Go interface, map or channel. It returns false if the value is none
// of them.
func goTree(v Value, env Env) (tree, bool) {
	if v.Type == nil || v.Avail != Available || v.Type.Strip().Lang != lang.Go {
		return tree{}, false
	}
	if isGoInterface(v.Type) {
		held, ok := dynamic(v, env)
		if ok && held.Type == nil {
			return tree{}, true
		}
		if ok {
			held.Name = "(" + held.Type.GoName() + ")" // as in Go: e.(T)
		}
		return tree{count: 1, at: func(int64) Value { return held }}, ok
	}
	if m, ok := goMapOf(v, env); ok {
		return goMapTree(&m, env), true
	}
	if c, ok := goChanOf(v, env); ok {
		if c.isNil || c.err != nil {
			return tree{err: c.err}, true
		}
		return tree{count: c.count, at: func(i int64) Value {
			e := c.at(i)
			e.Name = fmt.Sprintf("[%d]", i)
			return e
		}}, true
	}
	return tree{}, false
}
