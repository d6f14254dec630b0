package guardian

import (
	"unsafe"

	"dbg/target/ptrace/kernel"
)

// The descriptors with which a guardian is started.
const (
	guardianPipe = 3 + iota
	guardianTable
	guardianMemory
	guardianProcess  // a pidfd
	guardianReady    // closed when the guardian is ready
	guardianDebugger // a pidfd of dbg
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

const robustListSize = 24

// Real-time priorities. If all three threads want one processor, the guardian must not wait for the
// others.
const (
	tracerPriority = 1 + iota
	holderPriority
	guardianPriority
)

// HurryTracer gives the calling thread, which is the tracer's, a real-time priority. It returns
// false if that is not permitted. If we die while a thread waits at a site, the kernel delivers its
// SIGTRAP. So the thread must be served fast.
func HurryTracer() bool { return kernel.RealTime(tracerPriority) }

func futexOf(head []byte) *uint32 { return (*uint32)(unsafe.Pointer(&head[headFutex])) }

const futexWait, futexWake = 0, 1
