package ptrace

import (
	"bytes"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"dbg/target"
)

// A process that we attach to may already have children made by vfork or clone(CLONE_VM), or may be
// one itself. The kernel does not report them. So we search for them before our first byte is
// written, and they become guests.

// adoptSharers makes guests of the processes that share our memory and that we do not trace yet. A
// process that it finds may have created another one before we traced it, so adoptSharers repeats
// the search until it finds no new one.
func (p *Process) adoptSharers() {
	one := p.someThread()
	if one == nil {
		return
	}
	for found := true; found; {
		found = false
		for _, pid := range processes() {
			if pid == p.pid || !p.mayShare(one.tid, pid) {
				continue
			}
			list, _ := tasks(pid)
			for _, tid := range list {
				found = p.adoptGuest(tid) || found
			}
		}
	}
}

// adoptGuest starts to trace a task that runs in our memory, without stopping it. It returns false
// if that was not possible or not necessary.
func (p *Process) adoptGuest(tid int) bool {
	if p.guests[tid] != nil || p.threads[tid] != nil ||
		ptrace(unix.PTRACE_SEIZE, tid, 0, uintptr(p.options(false)&^unix.PTRACE_O_EXITKILL)) != nil {
		return false // ended, or traced already: by us, by its parent's tracer, or by another debugger
	}
	g := &thread{tid: tid, guest: true, running: true}
	if w, ok := readSyscall(tid); ok {
		g.away = w.vfork(p.pid)
	}
	p.guests[tid] = g
	return true
}

// mayShare reports whether a process shares our memory. Where kcmp(2) is forbidden, it also returns
// true for a process with the same mappings: tracing a process that only has a copy of them costs
// time, but does no harm.
func (p *Process) mayShare(ours, pid int) bool {
	if same, ok := compareMemory(ours, pid); ok {
		return same
	}
	if size := statusField(pid, "VmSize"); size == "" || size != statusField(ours, "VmSize") {
		return false
	}
	a, err := os.ReadFile(procPath(ours, "maps"))
	b, _ := os.ReadFile(procPath(pid, "maps"))
	return err == nil && len(a) > 0 && bytes.Equal(a, b)
}

// processes lists all processes that /proc shows.
func processes() []int {
	d, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	var out []int
	for _, n := range names {
		if pid, err := strconv.Atoi(n); err == nil {
			out = append(out, pid)
		}
	}
	return out
}

// systemCall is the system call in which a task is blocked, from /proc/PID/syscall:
// proc_pid_syscall(5).
type systemCall struct {
	number int64
	args   [6]uint64
	sp, pc uint64
}

// readSyscall returns false if the task is running, or is blocked outside a system call.
func readSyscall(tid int) (c systemCall, ok bool) {
	b, _ := os.ReadFile(procPath(tid, "syscall"))
	f := strings.Fields(string(b))
	if len(f) != 9 {
		return c, false
	}
	n, err := strconv.ParseInt(f[0], 10, 64)
	if err != nil || n < 0 {
		return c, false
	}
	c.number = n
	for i, v := range []*uint64{&c.args[0], &c.args[1], &c.args[2], &c.args[3], &c.args[4], &c.args[5], &c.sp, &c.pc} {
		if *v, err = strconv.ParseUint(f[1+i], 0, 64); err != nil {
			return c, false
		}
	}
	return c, true
}

// vfork reports whether the task waits for a child of vfork: vfork(2), or clone(2) or clone3(2)
// with CLONE_VFORK.
func (c *systemCall) vfork(pid int) bool {
	flags := uint64(0)
	switch c.number {
	case unix.SYS_VFORK:
		return true
	case unix.SYS_CLONE:
		flags = c.args[0]
	case unix.SYS_CLONE3:
		var b [8]byte // flags is the first field of struct clone_args
		if readVector(pid, target.Addr(c.args[0]), b[:]) != len(b) {
			return false
		}
		for i, v := range b {
			flags |= uint64(v) << (8 * i)
		}
	}
	return flags&unix.CLONE_VFORK != 0
}

// haltSeized is halt for threads that were seized in an unknown state. A thread that was already
// waiting for a child of vfork can't be stopped.
func (p *Process) haltSeized() {
	p.busy++
	defer func() { p.busy-- }()
	late, stop := p.tracer.bell.alarm(stepTime)
	defer stop()
	for p.inMotion > 0 && !p.over {
		p.interruptAll()
		if p.collect() {
			continue
		}
		switch tid, ws := p.tracer.doze(late.Load); {
		case tid > 0:
			p.note(tid, ws)
		case tid < 0:
			p.vanished()
			return
		default:
			p.findAway()
			late.Store(false)
		}
	}
	p.halt()
}

// findAway searches for threads that wait for a child of vfork. They were interrupted, and stop
// when they return. Until then, only the registers that /proc/PID/syscall shows are known.
func (p *Process) findAway() {
	for _, t := range p.threads {
		if !t.running || t.away || t.fresh {
			continue
		}
		c, ok := readSyscall(t.tid)
		if !ok || !c.vfork(p.pid) {
			continue
		}
		t.regs = userRegs{}
		for i, off := range syscallOffsets {
			t.regs.set(off, c.args[i])
		}
		t.regs.set(offOrigRAX, uint64(c.number))
		t.regs.set(offRSP, c.sp)
		t.regs.set(offRIP, c.pc)
		t.haveRegs, t.sparse, t.away = true, true, true
		p.inMotion--
	}
}

// syscallOffsets holds the offsets in struct user_regs_struct of the six arguments of a system
// call: syscall(2).
var syscallOffsets = [6]int{offRDI, offRSI, 12 * 8, 7 * 8, 9 * 8, 8 * 8}
