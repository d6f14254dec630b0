package memory

import (
	"dbg/target"
	"dbg/target/ptrace/kernel"
)

// On a virtual machine the processor's single step is costly: each debug exception goes to the
// hypervisor, which takes about 20 µs. A breakpoint instruction does not. So where the next
// instruction is known, target/ptrace/stepall writes int3 there and lets the thread run into it.
//
// There is one such trap at a time. It stays until the next step needs another one: then one
// write of a few bytes moves it. Reads of memory do not show it.

// trap is an int3 in the process's memory. There is none if set is false.
type trap struct {
	addr     target.Addr
	original byte
	set      bool
}

// maxTrapCode is the length of the longest instruction and one more byte.
const maxTrapCode = 16

// MoveTrap moves the trap to addr, where original is. code holds the bytes at pc, where the
// thread will continue; if they reach up to addr, a single write suffices. It returns false if
// the memory can't be changed; then there is no trap.
func (m *Memory) MoveTrap(addr target.Addr, original byte, pc target.Addr, code []byte) bool {
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.trap.set && m.trap.addr == addr {
		return true
	}
	var buf [maxTrapCode]byte
	n := int(addr - pc)
	if addr > pc && n < len(code) && n < len(buf) {
		copy(buf[:], code[:n])
		buf[n] = breakByte
		if m.trap.set && (m.trap.addr < pc || m.trap.addr > addr) {
			m.liftTrap()
		}
		if kernel.WriteAll(m.fd, pc, buf[:n+1]) != n+1 {
			m.liftTrap()
			return false
		}
		m.trap = trap{addr, original, true}
		return true
	}
	m.liftTrap()
	buf[0] = breakByte
	if kernel.WriteAll(m.fd, addr, buf[:1]) != 1 {
		return false
	}
	m.trap = trap{addr, original, true}
	return true
}

// Trap returns the address of the trap, and false if there is none.
func (m *Memory) Trap() (addr target.Addr, set bool) { return m.trap.addr, m.trap.set }

// DropTrap removes the trap from memory.
func (m *Memory) DropTrap() {
	if m.trap.set { // only the tracer changes it
		m.lock.Lock()
		defer m.lock.Unlock()
		m.liftTrap()
	}
}

func (m *Memory) liftTrap() {
	if m.trap.set {
		m.trap.set = false
		kernel.WriteAll(m.fd, m.trap.addr, []byte{m.trap.original})
	}
}

// hideTrap restores the original byte in data that was read.
func (m *Memory) hideTrap(addr target.Addr, buf []byte) {
	if off := m.trap.addr - addr; m.trap.set && m.trap.addr >= addr && off < target.Addr(len(buf)) {
		buf[off] = m.trap.original
	}
}
