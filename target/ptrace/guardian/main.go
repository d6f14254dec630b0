package guardian

import (
	"encoding/binary"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"dbg/target"
	"dbg/target/ptrace/debugreg"
	"dbg/target/ptrace/kernel"
	"dbg/target/ptrace/memory"
	"dbg/target/ptrace/procfs"
)

// Name is argv[0] of a guardian. A binary whose path is given as ptrace.AttachOptions.Guardian
// must call Main.
const Name = "dbg-guardian"

// Main runs the guardian and does not return, if this process is a guardian. Otherwise it
// returns at once.
func Main() {
	if len(os.Args) != 1 || os.Args[0] != Name {
		return
	}
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE)
	head, err := unix.Mmap(guardianTable, 0, guardHead, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		os.Exit(1)
	}
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		var b [1]byte
		for {
			n, err := unix.Read(guardianPipe, b[:])
			if err != unix.EINTR && n <= 0 {
				return
			}
		}
	}()
	// This writes nothing: no memory is mapped at 0, and the table is empty. It loads the code into
	// memory before it is needed.
	restoreSites(guardianMemory, make([]byte, guardEntry), 1)
	kernel.WriteAll(guardianMemory, 0, make([]byte, 1))
	repair(head)
	go func() {
		runtime.LockOSThread()
		kernel.RealTime(guardianPriority)
		futex := futexOf(head)
		_ = unix.Close(guardianReady)
		for {
			v := atomic.LoadUint32(futex)
			if v&futexDied != 0 {
				finish(head)
			}
			// With RawSyscall the runtime would treat this goroutine as computing, and preempt it.
			// To continue, it would need a thread without priority, which waits for milliseconds on
			// a busy machine.
			_, _, e := unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(futex)), futexWait, uintptr(v), 0, 0, 0)
			if e != 0 && e != unix.EAGAIN && e != unix.EINTR {
				return
			}
		}
	}()
	<-closed
	finish(head)
}

var finishing sync.Mutex

// finish repairs and ends the guardian. The futex and the pipe both tell of dbg's end: the second
// must not end the guardian in the middle of the repair.
func finish(head []byte) {
	finishing.Lock()
	repair(head)
	os.Exit(0)
}

// repair restores the original bytes of all sites in the table.
func repair(head []byte) {
	var st unix.Stat_t
	if unix.Fstat(guardianTable, &st) != nil || st.Size <= guardHead || st.Size > 1<<30 {
		return
	}
	table, err := unix.Mmap(guardianTable, guardHead, int(st.Size-guardHead), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return
	}
	defer func() { _ = unix.Munmap(table) }()
	count := int(min(uint64(binary.LittleEndian.Uint32(head[headCount:])), uint64(len(table)/guardEntry)))
	restoreSites(guardianMemory, table, count)
	cleanChildren(int(binary.LittleEndian.Uint64(head[headPID:])), table, count)
	watching := head[headWatches] != 0
	if count == 0 && !watching {
		return
	}
	// After an execve the descriptor refers to the old memory. The pidfd tells whether the id still
	// belongs to the process.
	if n, err := unix.Poll([]unix.PollFd{{Fd: guardianProcess, Events: unix.POLLIN}}, 0); n == 0 && err == nil {
		pid := int(binary.LittleEndian.Uint64(head[headPID:]))
		if fd, err := unix.Open(procfs.Path(pid, "mem"), unix.O_RDWR|unix.O_CLOEXEC, 0); err == nil {
			restoreSites(fd, table, count)
			_ = unix.Close(fd)
		}
		if watching {
			debugreg.ClearAll(pid, debuggerGone)
		}
	}
}

// debuggerGone waits a moment and reports whether dbg has ended. The futex wakes the guardian before
// the kernel releases dbg's tracees, and no event tells when it does.
func debuggerGone() bool {
	moment := unix.Timespec{Nsec: 20_000}
	n, err := unix.Ppoll([]unix.PollFd{{Fd: guardianDebugger, Events: unix.POLLIN}}, &moment, nil)
	return n > 0 || err != nil && err != unix.EINTR
}

// cleanChildren removes our bytes from the children that the process has forked and that dbg could
// not clean any more. Their memory is a copy, perhaps from before the repair.
func cleanChildren(pid int, table []byte, count int) {
	const rounds = 3 // a child may have children, and new ones may come from before the repair
	done := map[int]bool{}
	for range rounds {
		fresh := false
		for _, child := range procfs.Children(pid) {
			if count > 0 && !done[child] {
				done[child], fresh = true, true
				cleanChild(child, table, count)
			}
		}
		if !fresh {
			return
		}
	}
}

// cleanChild restores the sites of a child in whose memory the same code is at the same addresses.
// The child may have executed another program.
func cleanChild(child int, table []byte, count int) {
	fd, err := unix.Open(procfs.Path(child, "mem"), unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	for i := range count {
		e := table[i*guardEntry:]
		if addr := target.Addr(binary.LittleEndian.Uint64(e)); memory.SameCode(guardianMemory, fd, addr) {
			memory.Restore(fd, addr, e[8])
		}
	}
}

// restoreSites writes the original bytes of the first count sites in a table to the memory open at
// fd.
func restoreSites(fd int, table []byte, count int) {
	for i := range count {
		e := table[i*guardEntry:]
		memory.Restore(fd, target.Addr(binary.LittleEndian.Uint64(e)), e[8])
	}
}
