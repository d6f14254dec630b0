package session

import (
	"bytes"
	"fmt"

	"dbg/target"
)

// goProtocolFor is goProtocolOf, once for each file and size.
func (s *Session) goProtocolFor(m *Module, frame int64) (*goProtocol, error) {
	at := goProtocolKey{m, frame}
	if p := s.goProtocols[at]; p != nil {
		return p, nil
	}
	p, err := s.goProtocolOf(m, frame)
	if err == nil {
		if len(s.goProtocols) > 100 {
			clear(s.goProtocols)
		}
		s.goProtocols[at] = p
	}
	return p, err
}

type goProtocolKey struct {
	m     *Module
	frame int64
}

// goProtocolOf finds the traps for calls with frames of a size.
func (s *Session) goProtocolOf(m *Module, frame int64) (*goProtocol, error) {
	address := func(names ...string) target.Addr {
		for _, n := range names {
			for _, fn := range m.Symbols.FunctionsByName(n) {
				if fn.Lo != 0 {
					return m.processAddr(fn.Lo)
				}
			}
		}
		return 0
	}
	p := &goProtocol{entry: address("runtime.debugCallV2"), traps: map[target.Addr]goTrap{}, status: -1}
	p.malloc, p.barrier = address("runtime.mallocgc"), address("runtime.gcWriteBarrier1")
	if gs := m.Symbols.Global("runtime.writeBarrier"); len(gs) > 0 {
		if v := s.readGlobal(gs[0], searched{m.Symbols, m}, 0); v.HasAddr {
			p.enabled = v.Addr
		}
	}
	if t := m.Symbols.Type("runtime.g"); t != nil {
		for _, f := range t.Strip().Fields() {
			if f.Name == "atomicstatus" {
				p.status = f.Offset
			}
		}
	}
	for _, f := range []struct {
		fn    target.Addr
		kinds map[uint64]goTrap // by R12
	}{
		{p.entry, map[uint64]goTrap{8: goRefused, 16: goRestore}},
		{address(fmt.Sprintf("debugCall%d", frame)), map[uint64]goTrap{0: goDispatch, 1: goReturned}},
		{address("runtime.debugCallPanicked"), map[uint64]goTrap{2: goPanicked}},
	} {
		if f.fn == 0 {
			return nil, errNoGoProtocol
		}
		found := map[goTrap]bool{}
		for a, code := range s.goTraps(f.fn) {
			kind, ok := f.kinds[code]
			if !ok {
				return nil, errNoGoProtocol
			}
			p.traps[a], found[kind] = kind, true
		}
		if len(found) != len(f.kinds) {
			return nil, errNoGoProtocol
		}
	}
	return p, nil
}

// goTraps returns the INT3 instructions of a function, each with the number that the instruction
// before it moves to R12.
func (s *Session) goTraps(fn target.Addr) map[target.Addr]uint64 {
	m := s.modules.find(fn)
	if m == nil || m.Symbols == nil {
		return nil
	}
	f := m.Symbols.FunctionAt(m.fileAddr(fn))
	if f == nil || f.Hi <= f.Lo || f.Hi-f.Lo > 1<<16 {
		return nil
	}
	code := make([]byte, f.Hi-f.Lo)
	if n, err := s.readMemory(fn, code); err != nil || n < len(code) {
		return nil
	}
	out := map[target.Addr]uint64{}
	// mov $code,%r12 with an immediate of 32 bits; int3
	move := []byte{0x49, 0xc7, 0xc4}
	for i := 0; i+8 <= len(code); i++ {
		if bytes.HasPrefix(code[i:], move) && code[i+7] == 0xcc {
			out[fn+target.Addr(i+7)] = uint64(s.tgt.Arch().ByteOrder.Uint32(code[i+3:]))
		}
	}
	return out
}
