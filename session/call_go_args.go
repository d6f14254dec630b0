package session

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"dbg/abi"
	"dbg/arch"
	"dbg/eval"
	"dbg/symbols/types"
	"dbg/target"
)

// goSteps lists the calls on the new goroutine: mallocgc if an argument needs memory, and the
// function.
func (s *Session) goSteps(k *call, c *eval.Call, layout abi.GoLayout, in []*types.Type, results []types.Field) error {
	g := k.golang
	order := s.tgt.Arch().ByteOrder
	values := make([][]byte, len(c.Args))
	type patch struct {
		arg  int
		off  int64  // of the pointer in the argument
		at   int64  // in the block
		data []byte // the contents
	}
	var patches []patch
	size := int64(0)
	add := func(arg int, off int64, data []byte) {
		patches = append(patches, patch{arg, off, size, data})
		size += (int64(len(data)) + 15) &^ 15
	}
	lo, hi, _ := stackOf(g.caller.g, s.tgt)
	for i, a := range c.Args {
		want := in[i].Strip().Size
		if int64(len(a.Bytes)) != want {
			return fmt.Errorf("argument %d of %s has no value", i+1, c.Name)
		}
		values[i] = bytes.Clone(a.Bytes)
		if len(a.Text) > 0 {
			add(i, a.TextAt, a.Text)
			continue
		}
		var problem error
		known := eval.GoPointers(in[i], func(off int64, t *types.Type) {
			p := order.Uint64(a.Bytes[off:])
			if p < lo || p >= hi || problem != nil {
				return
			}
			data, err := s.goStackObject(in[i], t, off, a.Bytes, p, hi)
			if err != nil {
				problem = fmt.Errorf("argument %d of %s: %w", i+1, c.Name, err)
				return
			}
			g.moved = append(g.moved, goMoved{target.Addr(p), target.Addr(size), int64(len(data))})
			add(i, off, data)
		})
		if problem != nil {
			return problem
		}
		if !known {
			return fmt.Errorf("argument %d of %s has a type that is not understood", i+1, c.Name)
		}
	}
	if size > maxCallStack {
		return fmt.Errorf("the arguments of %s are too large", c.Name)
	}
	if size > 0 {
		if g.malloc == 0 {
			return errors.New("the program has no runtime.mallocgc, which allocates memory for an argument")
		}
		g.steps = append(g.steps, goStep{
			fn: g.malloc,
			prepare: func(next *target.SavedState, _ uint64) error {
				// mallocgc(size, typ, needzero): without a type, the memory has no pointers.
				next.SetGeneral(arch.RAX, uint64(size))
				next.SetGeneral(arch.RBX, 0)
				next.SetGeneral(arch.RCX, 1)
				return nil
			},
			after: func() error {
				regs, err := s.tgt.Registers(k.thread)
				if err != nil {
					return err
				}
				block, _ := regs.Get(arch.RAX)
				for _, p := range patches {
					if err := s.writeAll(target.Addr(block)+target.Addr(p.at), p.data); err != nil {
						return err
					}
					order.PutUint64(values[p.arg][p.off:], block+uint64(p.at))
				}
				for i := range g.moved {
					g.moved[i].to += target.Addr(block)
				}
				return nil
			},
		})
	}
	g.steps = append(g.steps, goStep{
		fn: c.Addr,
		prepare: func(next *target.SavedState, sp uint64) error {
			for i, p := range layout.Args {
				if err := s.goPlace(next, sp, p, values[i]); err != nil {
					return err
				}
			}
			next.SetGeneral(arch.RDX, c.Context)
			return nil
		},
		after: func() error {
			g.end.value = eval.Void()
			if len(results) > 0 {
				v, ok := s.goResults(k.thread, results, layout.Results)
				if !ok {
					return errUnknownPlace
				}
				v.Addr, v.HasAddr = 0, false // its memory is free again
				g.end.value = v
			}
			for _, m := range g.moved {
				b := make([]byte, m.size)
				if n, err := s.readMemory(m.to, b); err != nil || n < len(b) {
					return err
				}
				if err := s.writeAll(m.from, b); err != nil {
					return err
				}
			}
			return nil
		},
	})
	return nil
}

// goStackObject reads what a pointer into the caller's stack refers to. The function may keep the
// pointer, but nothing in the heap may refer to a stack, so it gets a copy of the object.
func (s *Session) goStackObject(whole, t *types.Type, off int64, value []byte, p, hi uint64) ([]byte, error) {
	elem := t.Strip().Elem()
	size := int64(-1)
	if elem != nil {
		size = elem.Strip().Size
	}
	if w := whole.Strip(); w.Kind == types.Struct && off == 0 && len(value) >= 16 && size > 0 &&
		(w.Name == "string" || w.GoElem() != nil && strings.HasPrefix(w.Name, "[]")) {
		n := s.tgt.Arch().ByteOrder.Uint64(value[len(value)-8:]) // the length, or the capacity
		if n > maxCallStack {
			n = maxCallStack
		}
		size *= int64(n)
	} else if w.Kind != types.Pointer {
		return nil, errors.New("it has a pointer to the goroutine's stack, which the function must not keep")
	}
	if size < 0 || size > maxCallStack || uint64(size) > hi-p {
		return nil, errors.New("it points to the goroutine's stack, and the size of the object is not known")
	}
	pointers := false
	if known := elem != nil && eval.GoPointers(elem, func(int64, *types.Type) { pointers = true }); !known || pointers {
		return nil, errors.New("it points to an object with pointers on the goroutine's stack, which can't be copied to the heap")
	}
	b := make([]byte, size)
	if n, err := s.readMemory(target.Addr(p), b); err != nil || n < len(b) {
		return nil, &target.MemoryError{Addr: target.Addr(p)}
	}
	return b, nil
}

// GoItab implements eval.GoLinker: the linker makes a symbol for each table.
func (e *env) GoItab(concrete, iface *types.Type) (target.Addr, bool) {
	for _, in := range e.s.searchList() {
		for _, prefix := range []string{"go:itab.", "go.itab."} { // since Go 1.20, and before
			if a, ok := in.sym.LinkageAddr(prefix + concrete.GoName() + "," + iface.GoName()); ok && in.mod != nil {
				return in.mod.processAddr(a), true
			}
		}
	}
	return 0, false
}

// goPlace puts an argument where the ABI wants it.
func (s *Session) goPlace(next *target.SavedState, sp uint64, p abi.Place, b []byte) error {
	if p.Memory {
		return s.writeAll(target.Addr(sp)+target.Addr(p.Offset), b)
	}
	for _, part := range p.Parts {
		piece := b[part.Offset : part.Offset+part.Size]
		if part.Reg >= arch.XMM0 {
			if !next.SetVector(part.Reg, piece) {
				return errUnknownPlace
			}
			continue
		}
		var word [8]byte
		copy(word[:], piece)
		next.SetGeneral(part.Reg, s.tgt.Arch().ByteOrder.Uint64(word[:]))
	}
	return nil
}
