package target

import "fmt"

// WatchKind is the kind of access that a Watch reports.
type WatchKind uint8

const (
	WatchWrite   WatchKind = iota // after a write
	WatchAccess                   // after a read or a write; x86 can't report reads alone
	WatchExecute                  // before the instruction at Addr, as a breakpoint; Len is 1
)

// Watch is a range of memory that the processor watches.
type Watch struct {
	Addr Addr
	Len  int // 1, 2, 4 or 8 bytes; Addr is a multiple of it
	Kind WatchKind
}

// Valid reports whether a processor can hold the watch.
func (w Watch) Valid() bool {
	switch w.Len {
	case 1:
		return true
	case 2, 4, 8:
		return w.Kind != WatchExecute && uint64(w.Addr)%uint64(w.Len) == 0
	}
	return false
}

// Overlaps reports whether n bytes at a and the watched ones have a byte in common.
func (w Watch) Overlaps(a Addr, n int) bool {
	return a < w.Addr+Addr(w.Len) && w.Addr < a+Addr(n)
}

func (w Watch) String() string {
	return fmt.Sprintf("%s+%d", w.Addr, w.Len)
}

// Watches splits a range of memory into watches that a processor can hold, by rising address: as
// few as possible. Together they are exactly the range. The result is nil if more than max are
// needed.
func Watches(addr Addr, size uint64, kind WatchKind, max int) []Watch {
	var out []Watch
	for size > 0 {
		n := uint64(8)
		for uint64(addr)%n != 0 || n > size {
			n /= 2
		}
		if len(out) == max {
			return nil
		}
		out = append(out, Watch{addr, int(n), kind})
		addr, size = addr+Addr(n), size-n
	}
	return out
}
