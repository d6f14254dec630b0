package session

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"dbg/arch"
	"dbg/target"
)

// libc is a C library whose locks are known.
type libc uint8

const (
	unknownLibc libc = iota
	glibc
	musl
)

// owners finds the threads that hold locks, at one stop. It names a thread only if that is certain.
type owners struct {
	s       *Session
	libc    libc
	threads map[uint32]target.ThreadID // by the id that the program itself knows
	guards  []rustGuard                // if guarded is set
	guarded bool
}

func (s *Session) newOwners() *owners {
	o := &owners{s: s, threads: map[uint32]target.ThreadID{}}
	for _, m := range s.modules.all {
		if m.Symbols == nil || m.Path == "[vdso]" {
			continue
		}
		o.libc = libraryAt(m.Path)
		if o.libc != unknownLibc {
			break
		}
		if m.Symbols == s.exeFile { // a static program
			if _, ok := m.Symbols.LinkageAddr("gnu_get_libc_version"); ok {
				o.libc = glibc
			} else if _, ok := m.Symbols.LinkageAddr("__libc_early_init"); ok {
				o.libc = glibc
			}
		}
	}
	for _, t := range s.threads.all {
		if id, ok := o.ownID(t.ID); ok {
			o.threads[id] = t.ID
		}
	}
	return o
}

// libraryAt returns the C library that is usually at a path.
func libraryAt(path string) libc {
	base := filepath.Base(path)
	switch {
	case base == "libc.so.6":
		return glibc
	case strings.HasPrefix(base, "ld-musl-"), strings.HasPrefix(base, "libc.musl-"), base == "libc.so" && strings.Contains(path, "musl"):
		return musl
	}
	return unknownLibc
}

// isLibrary reports whether a module has the functions of the C library.
func (o *owners) isLibrary(m *Module) bool {
	return libraryAt(m.Path) != unknownLibc || strings.HasPrefix(filepath.Base(m.Path), "libpthread") ||
		m.Symbols != nil && m.Symbols == o.s.exeFile && m.file != nil && m.file.Interp() == ""
}

// ownID returns a thread's id in the process's own namespace: locks contain that one. For a core it
// is the id in the core, unless the C library's notes about the thread have another one.
func (o *owners) ownID(id target.ThreadID) (uint32, bool) {
	s := o.s
	if s.proc != nil {
		b, err := s.procFileOf(fmt.Sprintf("/proc/%d/task/%d/status", s.proc.PID(), id))
		if err != nil {
			return 0, false
		}
		for line := range strings.Lines(string(b)) {
			if rest, ok := strings.CutPrefix(line, "NSpid:"); ok {
				f := strings.Fields(rest)
				if len(f) == 0 {
					return 0, false
				}
				n, err := strconv.ParseUint(f[len(f)-1], 10, 32)
				return uint32(n), err == nil
			}
		}
		return uint32(id), true // an old kernel
	}
	regs, err := s.tgt.Registers(id)
	if err != nil || regs.Arch != arch.AMD64 {
		return 0, false
	}
	base, ok := regs.Get(arch.FSBase)
	if !ok {
		return 0, false
	}
	if own, ok := o.word(target.Addr(base + o.offsetOfID())); !ok || own != uint32(id) {
		return 0, false
	}
	return uint32(id), true
}

// offsetOfID returns the offset of the field tid in struct pthread, at which the thread pointer
// points. It has been the same in all versions of a library so far.
func (o *owners) offsetOfID() uint64 {
	if o.libc == musl {
		return 0x30
	}
	return 0x2d0
}

// ended returns the thread whose id is at an address, in the field that the kernel clears when the
// thread ends; 0 if the address is not that of such a field.
func (o *owners) ended(word target.Addr) target.ThreadID {
	v, ok := o.word(word)
	id := o.threads[v]
	if !ok || id == 0 {
		return 0
	}
	regs, err := o.s.tgt.Registers(id)
	if err != nil {
		return 0
	}
	if base, ok := regs.Get(arch.FSBase); !ok || target.Addr(base+o.offsetOfID()) != word {
		return 0
	}
	return id
}

// word reads 32 bits of the program.
func (o *owners) word(a target.Addr) (uint32, bool) {
	var b [4]byte
	if n, err := o.s.readMemory(a, b[:]); err != nil || n < 4 {
		return 0, false
	}
	return binary.LittleEndian.Uint32(b[:]), true
}

// Bits of a futex word that has an owner: futex(2), "Priority-inheritance futexes".
const (
	futexTID       = 0x3fffffff
	futexOwnerDied = 0x40000000
)

// inWord returns the owner of a lock whose word has the owner's id.
func (o *owners) inWord(a target.Addr) target.ThreadID {
	v, ok := o.word(a)
	if !ok || v&futexOwnerDied != 0 {
		return 0
	}
	return o.threads[v&futexTID]
}

// mutex returns the mutex whose futex is at an address, and its owner.
//
// glibc (sysdeps/nptl/bits/struct_mutex.h): __lock, __count, __owner, __nusers, __kind. The owner
// is stored after the lock is taken and cleared before it is given back: with both set, that
// thread has it. musl: _m_type, _m_lock. Its normal mutexes do not store an owner.
func (o *owners) mutex(word target.Addr) (target.Addr, target.ThreadID) {
	switch o.libc {
	case glibc:
		lock, ok1 := o.word(word)
		owner, ok2 := o.word(word + 8)
		kind, ok3 := o.word(word + 16)
		if !ok1 || !ok2 || !ok3 || lock == 0 {
			return word, 0
		}
		const basic, robust, inherit, protect, known = 3, 16, 32, 64, 0x3ff
		switch {
		case kind&^known != 0:
			return word, 0
		case kind&(robust|inherit) != 0: // the word has the id
			return word, o.inWord(word)
		case kind&protect != 0: // the word has a priority; the field has the owner
		case lock > 2:
			return word, 0
		}
		return word, o.threads[owner]
	case musl:
		mutex := word - 4
		kind, ok1 := o.word(mutex)
		lock, ok2 := o.word(word)
		const typeBits, busy = 15, 16 // EBUSY
		if !ok1 || !ok2 || kind&typeBits == 0 || lock&futexTID == busy {
			return mutex, 0
		}
		return mutex, o.inWord(word)
	}
	return word, 0
}

// rwlock returns the read-write lock whose futex is at an address, and the thread that has it for
// writing.
//
// glibc (sysdeps/nptl/bits/struct_rwlock.h): __readers, __writers, __wrphase_futex,
// __writers_futex, two unused words, __cur_writer. A reader waits for the first futex, a writer
// for one of the two. The structure begins at a multiple of eight.
func (o *owners) rwlock(word target.Addr, kind WaitKind) (target.Addr, target.ThreadID) {
	if o.libc != glibc {
		return word, 0
	}
	lock := word - 8
	if word%8 == 4 && kind == WaitWriteLock {
		lock = word - 12
	}
	if lock%8 != 0 {
		return word, 0
	}
	readers, ok1 := o.word(lock)
	writer, ok2 := o.word(lock + 24)
	const writeLocked = 2 // PTHREAD_RWLOCK_WRLOCKED
	if !ok1 || !ok2 || readers&writeLocked == 0 {
		return lock, 0
	}
	return lock, o.threads[writer]
}

// condition returns the condition variable whose futex is at an address. In glibc
// (sysdeps/nptl/bits/thread-shared-types.h) the futex is one of the two words __g_signals, and the
// structure begins at a multiple of eight.
func (o *owners) condition(word target.Addr) target.Addr {
	if o.libc != glibc || word < 44 {
		return word
	}
	return word - 40 - word%8
}

// joined returns the thread whose end is awaited. The word is its id, which the kernel clears when
// the thread ends; in musl the id is two words before the futex.
func (o *owners) joined(word target.Addr, expected uint32) target.ThreadID {
	switch o.libc {
	case glibc:
		if id, ok := o.word(word); ok && id == expected {
			return o.threads[id]
		}
	case musl:
		return o.ended(word - 8)
	}
	return 0
}
