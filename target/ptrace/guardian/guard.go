package guardian

import (
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"dbg/target"
	"dbg/target/ptrace/kernel"
	"dbg/target/ptrace/procfs"
)

// Guard is dbg's side of a guardian. A nil Guard does nothing. It belongs to the tracer's
// goroutine. It is a memory.Journal.
type Guard struct {
	fd    int // of the table
	head  []byte
	table []byte // the part after the head
	slots map[target.Addr]int
	addrs []target.Addr // by slot
	pipe  *os.File
	ready *os.File // nil once the guardian is ready
	alive *os.File // closed to end the thread that holds the futex
}

// Start starts a guardian for a process. It runs on the tracer's thread.
func Start(path string, pid, pidfd int) (*Guard, error) {
	fd, err := unix.MemfdCreate("dbg-sites", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("can't create the guardian's table: %w", err)
	}
	g := &Guard{fd: fd, slots: map[target.Addr]int{}}
	if err := g.grow(); err != nil {
		g.Close()
		return nil, err
	}
	if g.head, err = unix.Mmap(fd, 0, guardHead, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
		g.Close()
		return nil, err
	}
	binary.LittleEndian.PutUint64(g.head[headPID:], uint64(pid))
	if err := g.hold(); err != nil {
		g.Close()
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		g.Close()
		return nil, err
	}
	defer r.Close()
	g.pipe = w
	mem, err := os.OpenFile(procfs.Path(pid, "mem"), os.O_RDWR, 0)
	if err != nil {
		g.Close()
		return nil, err
	}
	defer mem.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		g.Close()
		return nil, err
	}
	defer null.Close()
	ready, begun, err := os.Pipe()
	if err != nil {
		g.Close()
		return nil, err
	}
	defer begun.Close()
	g.ready = ready
	debugger := null.Fd() // where there are no pidfds: it is always readable, as if dbg had ended
	if self, err := unix.PidfdOpen(os.Getpid(), 0); err == nil {
		defer unix.Close(self)
		debugger = uintptr(self)
	}
	child, err := syscall.ForkExec(path, []string{Name}, &syscall.ProcAttr{
		Env:   []string{"GOMAXPROCS=2", "GOGC=off"},
		Dir:   "/",
		Files: []uintptr{null.Fd(), null.Fd(), null.Fd(), r.Fd(), uintptr(fd), mem.Fd(), uintptr(pidfd), begun.Fd(), debugger},
		Sys:   &syscall.SysProcAttr{Setsid: true}, // out of reach of the terminal's signals
	})
	if err != nil {
		g.Close()
		return nil, fmt.Errorf("can't start the guardian %s: %w", path, err)
	}
	go kernel.Reap(child)
	return g, nil
}

// Await waits until the guardian is ready, which takes some milliseconds after its start. It waits
// at most patience.
func (g *Guard) Await() {
	if g == nil || g.ready == nil {
		return
	}
	const patience = 2000 // milliseconds
	_, _ = unix.Poll([]unix.PollFd{{Fd: int32(g.ready.Fd()), Events: unix.POLLIN}}, patience)
	_ = g.ready.Close()
	g.ready = nil
}

// hold starts the thread that owns the futex. The first page must not move while that thread lives.
func (g *Guard) hold() error {
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

// grow makes room for more sites. It may map the table at another address.
func (g *Guard) grow() error {
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

// Add records a site whose byte is about to be written.
func (g *Guard) Add(a target.Addr, original byte) {
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

func (g *Guard) write(i int, a target.Addr, original byte) {
	e := g.table[i*guardEntry:]
	binary.LittleEndian.PutUint64(e, uint64(a))
	e[8] = original
}

func (g *Guard) count() { binary.LittleEndian.PutUint32(g.head[headCount:], uint32(len(g.addrs))) }

// Watching notes whether threads may have debug registers set.
func (g *Guard) Watching(on bool) {
	if g == nil || g.head == nil {
		return
	}
	g.head[headWatches] = 0
	if on {
		g.head[headWatches] = 1
	}
}

// Remove deletes the entry of a site whose byte is out of memory.
func (g *Guard) Remove(a target.Addr) {
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

// Clear deletes all entries.
func (g *Guard) Clear() {
	if g == nil {
		return
	}
	clear(g.slots)
	g.addrs = g.addrs[:0]
	g.count()
}

// Close ends the guardian, which first restores the bytes of all sites still in the table.
func (g *Guard) Close() {
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
