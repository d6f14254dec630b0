package ptrace

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"dbg/target"
	"dbg/target/ptrace/kernel"
	"dbg/target/ptrace/procfs"
)

// The guardian is a process that repairs the memory of an attached program if dbg is killed while
// the program runs. It is the same binary, started under another name. It sleeps until dbg ends,
// and then restores the original bytes of the sites. dbg writes the table of sites into memory that
// both share.
//
// The guardian is woken by a robust futex that a thread of dbg holds (set_robust_list(2)). When a
// thread ends, the kernel handles the futex first: before it frees memory, closes files and
// releases the tracees. The holding thread does nothing else. It and the guardian have real-time
// priority where that is permitted. So the code is restored a tenth of a millisecond after the
// kill, even on a busy machine. Where robust futexes are not available, the guardian is woken by a
// pipe whose other end only dbg has open.
//
// A launched program needs no guardian: it ends with dbg (PTRACE_O_EXITKILL).

// GuardianName is argv[0] of a guardian. A binary whose path is given as AttachOptions.Guardian
// must call GuardianMain if it was started with that name.
const GuardianName = "dbg-guardian"

// The descriptors with which a guardian is started.
const (
	guardianPipe = 3 + iota
	guardianTable
	guardianMemory
	guardianProcess // a pidfd
	guardianReady   // closed when the guardian is ready
)

// The table begins with one page (guardHead), which stays where it is mapped. Then follow 16 bytes
// for each site: its address, and its original byte.
const (
	guardHead  = 4096
	guardEntry = 16
	guardGrow  = 64 << 10
)

// Offsets in the first page. The futex is the only entry of a list that is laid out as struct
// robust_list_head in <linux/futex.h>.
const (
	headPID     = 0
	headCount   = 8
	headWatches = 12 // 1 while threads may have debug registers set
	headFutex   = 16
	headList    = 32 // next, futex_offset, list_op_pending
	headNode    = 64 // next
	futexDied   = 0x40000000
	futexWaited = 0x80000000
)

// guard is dbg's side of a guardian. A nil guard does nothing. The lock of memory guards it.
type guard struct {
	fd    int // of the table
	head  []byte
	table []byte // the part after the head
	slots map[target.Addr]int
	addrs []target.Addr // by slot
	pipe  *os.File
	ready *os.File // nil once the guardian is ready
	alive *os.File // closed to end the thread that holds the futex
}

// startGuard starts a guardian for a process. It runs on the tracer's thread.
func startGuard(path string, pid, pidfd int) (*guard, error) {
	fd, err := unix.MemfdCreate("dbg-sites", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("can't create the guardian's table: %w", err)
	}
	g := &guard{fd: fd, slots: map[target.Addr]int{}}
	if err := g.grow(); err != nil {
		g.close()
		return nil, err
	}
	if g.head, err = unix.Mmap(fd, 0, guardHead, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
		g.close()
		return nil, err
	}
	binary.LittleEndian.PutUint64(g.head[headPID:], uint64(pid))
	if err := g.hold(); err != nil {
		g.close()
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		g.close()
		return nil, err
	}
	defer r.Close()
	g.pipe = w
	mem, err := os.OpenFile(procfs.Path(pid, "mem"), os.O_RDWR, 0)
	if err != nil {
		g.close()
		return nil, err
	}
	defer mem.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		g.close()
		return nil, err
	}
	defer null.Close()
	ready, begun, err := os.Pipe()
	if err != nil {
		g.close()
		return nil, err
	}
	defer begun.Close()
	g.ready = ready
	child, err := syscall.ForkExec(path, []string{GuardianName}, &syscall.ProcAttr{
		Env:   []string{"GOMAXPROCS=2", "GOGC=off"},
		Dir:   "/",
		Files: []uintptr{null.Fd(), null.Fd(), null.Fd(), r.Fd(), uintptr(fd), mem.Fd(), uintptr(pidfd), begun.Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true}, // out of reach of the terminal's signals
	})
	if err != nil {
		g.close()
		return nil, fmt.Errorf("can't start the guardian %s: %w", path, err)
	}
	go kernel.Reap(child)
	return g, nil
}

// await waits until the guardian is ready, which takes some milliseconds after its start. It waits
// at most patience.
func (g *guard) await() {
	if g == nil || g.ready == nil {
		return
	}
	const patience = 2000 // milliseconds
	_, _ = unix.Poll([]unix.PollFd{{Fd: int32(g.ready.Fd()), Events: unix.POLLIN}}, patience)
	_ = g.ready.Close()
	g.ready = nil
}

// hold starts the thread that owns the futex. The first page must not move while that thread lives.
func (g *guard) hold() error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	g.alive = w
	held := make(chan struct{})
	go func() {
		runtime.LockOSThread() // the thread ends with the goroutine
		defer r.Close()
		at := uintptr(unsafe.Pointer(&g.head[0]))
		put := func(off int, v uintptr) { binary.LittleEndian.PutUint64(g.head[off:], uint64(v)) }
		put(headList, at+headNode)
		offset := headFutex - headNode
		put(headList+8, uintptr(offset))
		put(headNode, at+headList)
		atomic.StoreUint32(futexOf(g.head), uint32(unix.Gettid())|futexWaited)
		_, _, _ = unix.RawSyscall(unix.SYS_SET_ROBUST_LIST, at+headList, robustListSize, 0)
		kernel.RealTime(holderPriority)
		close(held)
		fd := int(r.Fd())
		var b [1]byte
		for {
			if n, err := unix.Read(fd, b[:]); n <= 0 && err != unix.EINTR {
				break
			}
		}
		// The kernel must forget the list before the page is unmapped.
		_, _, _ = unix.RawSyscall(unix.SYS_SET_ROBUST_LIST, 0, robustListSize, 0)
		_ = unix.Munmap(g.head)
	}()
	<-held
	return nil
}

const robustListSize = 24

// Real-time priorities. If all three threads want one processor, the guardian must not wait for the
// others.
const (
	tracerPriority = 1 + iota
	holderPriority
	guardianPriority
)

func futexOf(head []byte) *uint32 { return (*uint32)(unsafe.Pointer(&head[headFutex])) }

// grow makes room for more sites. It may map the table at another address.
func (g *guard) grow() error {
	size := len(g.table) + guardGrow
	if err := unix.Ftruncate(g.fd, int64(guardHead+size)); err != nil {
		return err
	}
	table, err := unix.Mmap(g.fd, guardHead, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	if g.table != nil {
		_ = unix.Munmap(g.table)
	}
	g.table = table
	return nil
}

// add records a site whose byte is about to be written.
func (g *guard) add(a target.Addr, original byte) {
	if g == nil {
		return
	}
	i, ok := g.slots[a]
	if !ok {
		i = len(g.addrs)
		if (i+1)*guardEntry > len(g.table) && g.grow() != nil {
			return
		}
		g.slots[a] = i
		g.addrs = append(g.addrs, a)
	}
	g.write(i, a, original)
	g.count()
}

func (g *guard) write(i int, a target.Addr, original byte) {
	e := g.table[i*guardEntry:]
	binary.LittleEndian.PutUint64(e, uint64(a))
	e[8] = original
}

func (g *guard) count() { binary.LittleEndian.PutUint32(g.head[headCount:], uint32(len(g.addrs))) }

// watching notes whether threads may have debug registers set.
func (g *guard) watching(on bool) {
	if g == nil || g.head == nil {
		return
	}
	g.head[headWatches] = 0
	if on {
		g.head[headWatches] = 1
	}
}

// remove deletes the entry of a site whose byte is out of memory.
func (g *guard) remove(a target.Addr) {
	if g == nil {
		return
	}
	i, ok := g.slots[a]
	if !ok {
		return
	}
	last := len(g.addrs) - 1
	if i != last {
		moved := g.addrs[last]
		g.write(i, moved, g.table[last*guardEntry+8])
		g.addrs[i], g.slots[moved] = moved, i
	}
	delete(g.slots, a)
	g.addrs = g.addrs[:last]
	g.count()
}

// clear deletes all entries.
func (g *guard) clear() {
	if g == nil {
		return
	}
	clear(g.slots)
	g.addrs = g.addrs[:0]
	g.count()
}

// close ends the guardian, which first restores the bytes of all sites still in the table.
func (g *guard) close() {
	if g == nil {
		return
	}
	if g.head != nil {
		atomic.StoreUint32(futexOf(g.head), futexDied)
		_, _, _ = unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(futexOf(g.head))), futexWake, 1, 0, 0, 0)
	}
	switch {
	case g.alive != nil:
		_ = g.alive.Close() // the thread unmaps the page
	case g.head != nil:
		_ = unix.Munmap(g.head)
	}
	if g.pipe != nil {
		_ = g.pipe.Close()
	}
	if g.ready != nil {
		_ = g.ready.Close()
	}
	if g.table != nil {
		_ = unix.Munmap(g.table)
	}
	_ = unix.Close(g.fd)
}

const futexWait, futexWake = 0, 1

// GuardianMain runs the guardian and does not return, if this process is a guardian. Otherwise it
// returns at once.
func GuardianMain() {
	if len(os.Args) != 1 || os.Args[0] != GuardianName {
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
				repair(head)
				os.Exit(0)
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
			clearDebugRegisters(pid)
		}
	}
}

// restoreSites writes the original bytes of the first count sites in a table to the memory open at
// fd.
func restoreSites(fd int, table []byte, count int) {
	for i := range count {
		e := table[i*guardEntry:]
		s := site{addr: target.Addr(binary.LittleEndian.Uint64(e)), original: e[8]}
		(*memory)(nil).restore(fd, &s)
	}
}
