package session

import (
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"strings"

	"dbg/target"
)

// childWait finds out whether the child for which a thread waits is itself blocked by a lock that
// is in shared memory and held by a thread of this process. Only a live child with one thread is
// looked at: a second one could release the first.
//
// The child runs. While our threads are stopped its answer stays true: the holder can't release the
// lock.
func (s *Session) childWait(w *Wait, o *owners) {
	if s.proc == nil {
		return
	}
	dir := fmt.Sprintf("/proc/%d", w.Child)
	ours, err1 := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", s.proc.PID()))
	self, err2 := os.Readlink("/proc/self/ns/pid")
	if err1 != nil || err2 != nil || ours != self {
		return // the child's id is one of another namespace
	}
	b, err := s.procFileOf(dir + "/stat")
	if err != nil {
		return
	}
	info, err := parseStat(string(b))
	if err != nil || info.PPID != s.proc.PID() {
		return
	}
	if tasks := numbersIn(dir + "/task"); len(tasks) != 1 {
		return
	}
	b, err = s.procFileOf(dir + "/syscall")
	if err != nil {
		return
	}
	f := strings.Fields(string(b)) // number, six arguments, stack pointer, PC; or "running"
	if len(f) != 9 || f[0] != strconv.Itoa(sysFutex) {
		return
	}
	var args [6]uint64
	for i := range args {
		if args[i], err = strconv.ParseUint(f[i+1], 0, 64); err != nil {
			return
		}
	}
	const private = 0x80
	if op := args[1]; op&private != 0 || args[3] != 0 || op&0x7f != futexWait && op&0x7f != futexWaitBitset {
		return
	}
	mem, err := os.Open(dir + "/mem")
	if err != nil {
		return
	}
	defer mem.Close()
	var mutex [20]byte // see owners.mutex
	if _, err := mem.ReadAt(mutex[:], int64(args[0])); err != nil || o.libc != glibc {
		return
	}
	word := func(i int) uint32 { return binary.LittleEndian.Uint32(mutex[i:]) }
	const shared, basic = 128, 3
	if word(0) != 2 || word(16)&^(basic|0x300) != shared {
		return
	}
	if s.sharedWith(w.Child, target.Addr(args[0])) {
		w.ChildHolder, w.ChildObject = o.threads[word(8)], target.Addr(args[0])
	}
}

// sharedWith reports whether an address of a child is in memory that is shared with this process,
// at the same address.
func (s *Session) sharedWith(child int, a target.Addr) bool {
	find := func(b []byte) string {
		for line := range strings.Lines(string(b)) {
			f := strings.Fields(line)
			if len(f) < 5 {
				continue
			}
			lo, hi, _ := strings.Cut(f[0], "-")
			l, err1 := strconv.ParseUint(lo, 16, 64)
			h, err2 := strconv.ParseUint(hi, 16, 64)
			if err1 == nil && err2 == nil && l <= uint64(a) && uint64(a) < h && f[1][len(f[1])-1] == 's' {
				return fmt.Sprint(l, f[2:5]) // start, offset, device, inode
			}
		}
		return ""
	}
	theirs, err1 := s.procFileOf(fmt.Sprintf("/proc/%d/maps", child))
	ours, err2 := s.procFile("maps")
	if err1 != nil || err2 != nil {
		return false
	}
	at := find(theirs)
	return at != "" && at == find(ours)
}
