package debugreg

import (
	"golang.org/x/sys/unix"

	"dbg/target"
	"dbg/target/ptrace/kernel"
)

// slots is the number of debug registers with addresses.
const slots = 4

// Table is what the debug registers of a process's threads shall hold. The zero value has no
// watches.
type Table struct {
	slots   [slots]slot
	version uint32
}

// slot is one debug register.
type slot struct {
	target.Watch
	users int // 0: the slot is free
}

// Version grows with each change. It is 0 if there has never been a watch. A thread whose registers
// were written with this version is up to date.
func (t *Table) Version() uint32 { return t.version }

// Used reports whether there is a watch.
func (t *Table) Used() bool {
	for i := range t.slots {
		if t.slots[i].users > 0 {
			return true
		}
	}
	return false
}

// Add adds a user of a watch. It returns added false if the watch was there before, or if there is
// no free register: then the error is target.ErrNoSlot.
func (t *Table) Add(w target.Watch) (added bool, err error) {
	free := -1
	for i := range t.slots {
		switch s := &t.slots[i]; {
		case s.users > 0 && s.Watch == w:
			s.users++
			return false, nil
		case s.users == 0 && free < 0:
			free = i
		}
	}
	if free < 0 {
		return false, target.ErrNoSlot
	}
	t.slots[free] = slot{w, 1}
	t.version++
	return true, nil
}

// Remove removes a user of a watch. It returns false if there is no such watch.
func (t *Table) Remove(w target.Watch) bool {
	for i := range t.slots {
		if s := &t.slots[i]; s.users > 0 && s.Watch == w {
			if s.users--; s.users == 0 {
				t.version++
			}
			return true
		}
	}
	return false
}

// Undo takes back an Add that has added a watch, if the kernel refuses it.
func (t *Table) Undo(w target.Watch) {
	for i := range t.slots {
		if s := &t.slots[i]; s.users > 0 && s.Watch == w {
			*s = slot{}
		}
	}
}

// Forget removes all watches, after an execve: the kernel has cleared the registers.
func (t *Table) Forget() {
	t.slots = [slots]slot{}
	t.version++
}

// Executes reports whether the instruction at an address is watched.
func (t *Table) Executes(addr target.Addr) bool {
	if t.version == 0 {
		return false
	}
	for i := range t.slots {
		if s := &t.slots[i]; s.users > 0 && s.Kind == target.WatchExecute && s.Addr == addr {
			return true
		}
	}
	return false
}

// Touches reports whether an access to n bytes of memory would be reported.
func (t *Table) Touches(addr target.Addr, n int, write bool) bool {
	if t.version == 0 {
		return false
	}
	for i := range t.slots {
		s := &t.slots[i]
		if s.users > 0 && s.Overlaps(addr, n) && (s.Kind == target.WatchAccess || s.Kind == target.WatchWrite && write) {
			return true
		}
	}
	return false
}

// control returns DR7: the local enable bits, and for each slot the kind and the length (17.2.4).
func (t *Table) control() (dr7 uintptr) {
	kinds := [...]uintptr{target.WatchWrite: 1, target.WatchAccess: 3, target.WatchExecute: 0}
	for i := range t.slots {
		s := &t.slots[i]
		if s.users == 0 {
			continue
		}
		length := map[int]uintptr{1: 0, 2: 1, 4: 3, 8: 2}[s.Len]
		dr7 |= 1<<(2*i) | (kinds[s.Kind]|length<<2)<<(16+4*i)
	}
	return dr7
}

// Write writes DR0 to DR3 and DR7 of a stopped thread. It clears DR7 first: the kernel refuses an
// address that does not fit the length of an enabled register. The error is unix.ESRCH if the
// thread was killed, target.ErrNoSlot if the registers are not available, or a *target.MemoryError.
func (t *Table) Write(tid int) error {
	if err := poke(tid, 7, 0); err != nil {
		return err
	}
	for i := range t.slots {
		if s := &t.slots[i]; s.users > 0 {
			if err := poke(tid, i, uintptr(s.Addr)); err != nil {
				return refused(s.Addr, err)
			}
		}
	}
	if err := poke(tid, 7, t.control()); err != nil {
		if err == unix.ENOSPC { // perf has taken the registers
			return target.ErrNoSlot
		}
		return refused(t.slots[0].Addr, err)
	}
	return nil
}

func refused(addr target.Addr, err error) error {
	if err == unix.ESRCH {
		return err
	}
	return &target.MemoryError{Addr: addr, Why: "the kernel refuses to watch it: " + err.Error()}
}

// Fired is a set of watches that have fired in a thread. A bit is the number of a register.
type Fired uint8

// Fired returns the watches that fired in a stopped thread, and clears DR6. Registers that are free
// are not among them. current reports whether the thread has this version of the Table; if not,
// the result is empty.
func (t *Table) Fired(tid int, current bool) (f Fired) {
	v, err := kernel.PeekUser(tid, offset(6))
	if err != nil || v&(1<<slots-1) == 0 {
		return 0
	}
	_ = poke(tid, 6, 0)
	for i := range t.slots {
		if v>>i&1 != 0 && t.slots[i].users > 0 && current {
			f |= 1 << i
		}
	}
	return f
}

// Accesses returns the watches of memory in f, without those of instructions.
func (t *Table) Accesses(f Fired) Fired {
	for i := range t.slots {
		if t.slots[i].Kind == target.WatchExecute {
			f &^= 1 << i
		}
	}
	return f
}

// List appends the watches in f to list.
func (t *Table) List(list []target.Watch, f Fired) []target.Watch {
	for i := range t.slots {
		if f>>i&1 != 0 {
			list = append(list, t.slots[i].Watch)
		}
	}
	return list
}

// Clear disables the debug registers of a stopped thread.
func Clear(tid int) { _ = poke(tid, 7, 0) }

func poke(tid, i int, v uintptr) error { return kernel.PokeUser(tid, offset(i), v) }

// offset returns the offset of a debug register in struct user, <sys/user.h>.
func offset(i int) int {
	const debugReg = 848 // offsetof(struct user, u_debugreg)
	return debugReg + 8*i
}
