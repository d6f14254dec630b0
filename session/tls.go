package session

import (
	"encoding/binary"
	"fmt"

	"dbg/arch"
	"dbg/target"
)

// Thread-local variables. The ELF TLS ABI defines where the main program's are. For those of
// libraries, the C library's tables are needed: the thread's dynamic thread vector holds the
// address of each module's block, and the dynamic linker's list of modules holds the modules'
// numbers. glibc describes for debuggers (nptl_db) where these are in its structures.

// maxLinkMaps limits the walk through the dynamic linker's list.
const maxLinkMaps = 10_000

// tlsOf returns the function that finds a thread-local variable of the module in the frame's
// thread.
func (s *Session) tlsOf(m *Module, t target.ThreadID) func(uint64) (uint64, error) {
	return func(off uint64) (uint64, error) {
		if m == nil || m.file == nil {
			return 0, fmt.Errorf("the module of the thread-local variable is unknown")
		}
		regs, err := s.tgt.Registers(t)
		if err != nil {
			return 0, err
		}
		tp, ok := regs.Get(arch.FSBase)
		if !ok || regs.Arch != arch.AMD64 {
			return 0, fmt.Errorf("the thread pointer is unknown")
		}
		size, align, ok := m.file.TLS()
		if !ok {
			return 0, fmt.Errorf("%s has no thread-local storage", m.Path)
		}
		if off >= size {
			return 0, fmt.Errorf("the thread-local storage of %s has %d bytes, so offset %d is outside it", m.Path, size, off)
		}
		if m == s.exeModule() {
			// x86-64 uses variant II: the main program's block ends at the thread pointer.
			if align = max(align, 1); align&(align-1) != 0 {
				return 0, fmt.Errorf("the thread-local storage of %s has an invalid alignment, %d", m.Path, align)
			}
			return tp - (size+align-1)&^(align-1) + off, nil
		}
		block, err := s.tlsBlock(m, tp)
		if err != nil {
			return 0, fmt.Errorf("can't find the thread-local variables of %s: %w", m.Path, err)
		}
		return block + off, nil
	}
}

// tlsBlock finds a library's block for the thread with a thread pointer.
func (s *Session) tlsBlock(m *Module, tp uint64) (uint64, error) {
	id, err := s.tlsModuleID(m)
	if err != nil {
		return 0, err
	}
	// The second word of tcbhead_t is the vector's address. Each element of the vector has two
	// words. The element before the first holds their number.
	dtv, err := s.word(tp + 8)
	if err != nil {
		return 0, err
	}
	count, err := s.word(dtv - 16)
	if err != nil {
		return 0, err
	}
	if id == 0 || id > count || count > 1<<20 {
		return 0, fmt.Errorf("this thread has not allocated its block yet")
	}
	block, err := s.word(dtv + 16*id)
	if err != nil {
		return 0, err
	}
	if block == 0 || block == ^uint64(0) {
		return 0, fmt.Errorf("this thread has not allocated its block yet")
	}
	return block, nil
}

// tlsModuleID returns the number that the dynamic linker has given to a module.
func (s *Session) tlsModuleID(m *Module) (uint64, error) {
	offset, err := s.linkMapField("_thread_db_link_map_l_tls_modid")
	if err != nil {
		return 0, err
	}
	debug, ok := s.symbolAddress("_r_debug")
	if !ok {
		return 0, fmt.Errorf("the dynamic linker's list of modules is unknown")
	}
	at, err := s.word(debug + 8) // r_map
	for n := 0; err == nil && at != 0; n++ {
		if n == maxLinkMaps {
			return 0, fmt.Errorf("the dynamic linker's list of modules does not end")
		}
		var load uint64
		if load, err = s.word(at); err == nil && load == m.Bias {
			return s.word(at + offset)
		}
		if err == nil {
			at, err = s.word(at + 24) // l_next
		}
	}
	if err != nil {
		return 0, err
	}
	return 0, fmt.Errorf("the module is not in the dynamic linker's list")
}

// linkMapField reads glibc's description of one of its fields (size in bits, count and offset) and
// returns the offset.
func (s *Session) linkMapField(name string) (uint64, error) {
	for _, m := range s.modules.all {
		if m.Symbols == nil || m.file == nil {
			continue
		}
		a, ok := m.Symbols.LinkageAddr(name)
		if !ok {
			continue
		}
		var b [12]byte
		if _, err := m.file.ReadAt(a, b[:]); err != nil {
			return 0, err
		}
		u := binary.LittleEndian.Uint32
		if u(b[:]) != 64 || u(b[4:]) != 1 || u(b[8:]) > 1<<16 {
			return 0, fmt.Errorf("%s in %s has an unknown layout", name, m.Path)
		}
		return uint64(u(b[8:])), nil
	}
	return 0, fmt.Errorf("the C library does not describe how it numbers its modules")
}

// symbolAddress returns the address of a symbol in any module.
func (s *Session) symbolAddress(name string) (uint64, bool) {
	for _, m := range s.modules.all {
		if m.Symbols != nil {
			if a, ok := m.Symbols.LinkageAddr(name); ok {
				return uint64(m.processAddr(a)), true
			}
		}
	}
	return 0, false
}

// word reads eight bytes of the process.
func (s *Session) word(a uint64) (uint64, error) {
	var b [8]byte
	if n, err := s.readMemory(target.Addr(a), b[:]); err != nil {
		return 0, err
	} else if n < len(b) {
		return 0, &target.MemoryError{Addr: target.Addr(a) + target.Addr(n)}
	}
	return binary.LittleEndian.Uint64(b[:]), nil
}
