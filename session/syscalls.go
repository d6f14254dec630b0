package session

import (
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"strings"

	"dbg/arch"
	"dbg/target"
)

// systemCall describes a system call: its name and the kinds of its arguments, a letter for each.
type systemCall struct{ name, args string }

// SystemCall is the system call in which a thread is stopped.
type SystemCall struct {
	Number    uint64
	Name      string // "futex", or "call 1000"
	Arguments []string
	// Returned is set if the call was interrupted for good: it returns EINTR.
	Returned bool

	args [6]uint64
}

func (c *SystemCall) String() string {
	return fmt.Sprintf("%s(%s)", c.Name, strings.Join(c.Arguments, ", "))
}

// Numbers of system calls that waits are decided by: syscalls(2).
const (
	sysVfork      = 58
	sysClone      = 56
	sysClone3     = 435
	sysWait4      = 61
	sysFutex      = 202
	sysWaitid     = 247
	sysFutexWaitv = 449
	sysFutexWait  = 455
)

// systemCallOf returns the system call in which a thread is stopped, or nil if it is in none.
//
// The kernel stores the number in orig_rax and, when the thread stops, a code in rax that makes the
// call start again (include/linux/errno.h). Another value of rax is the result of a call that has
// ended.
func (s *Session) systemCallOf(id target.ThreadID) *SystemCall {
	r, ok := s.tgt.(target.StateReader)
	if !ok || s.tgt.Arch() != arch.AMD64 {
		return nil
	}
	st, err := r.ThreadState(id)
	if err != nil || len(st.User) < target.AMD64UserRegsSize {
		return nil
	}
	reg := func(i int) uint64 { return binary.LittleEndian.Uint64(st.User[8*i:]) }
	const rax, rcx, rdx, rsi, rdi, origRAX, r10, r8, r9 = 10, 11, 12, 13, 14, 15, 7, 9, 8
	c := &SystemCall{Number: reg(origRAX), args: [6]uint64{reg(rdi), reg(rsi), reg(rdx), reg(r10), reg(r8), reg(r9)}}
	if int64(c.Number) < 0 {
		return nil
	}
	const intr, noSys, restartSys, restartNoIntr, restartNoHand, restartBlock = 4, 38, 512, 513, 514, 516
	switch -int64(reg(rax)) {
	case restartSys, restartNoIntr, restartNoHand, restartBlock:
	case intr:
		c.Returned = true
	case noSys: // on its way in
		if c.Number != sysVfork && c.Number != sysClone && c.Number != sysClone3 {
			return nil
		}
	default:
		return nil
	}
	def, ok := systemCalls[c.Number]
	if !ok {
		def = systemCall{fmt.Sprintf("call %d", c.Number), "?"}
	}
	c.Name = def.name
	if def.args == "?" {
		def.args = "xxxxxx"
	}
	if c.Number == sysFutex && c.args[1]&0x7f == futexWait {
		def.args = def.args[:4] // the others are not used
	}
	for i, kind := range []byte(def.args) {
		c.Arguments = append(c.Arguments, s.argumentText(kind, c.args[i]))
	}
	return c
}

// argumentText shows an argument of a system call by its kind:
//
//	a address   b,x hexadecimal   n unsigned   i signed   o octal mode   p path
//	f descriptor   F folder's descriptor   O flags of open   s signal   P process or thread
//	t struct timespec   m milliseconds   c clock   u operation of futex   r protection
//	M flags of mmap   W options of wait   w kind of id of waitid
func (s *Session) argumentText(kind byte, v uint64) string {
	switch kind {
	case 'a':
		if v == 0 {
			return "NULL"
		}
		return target.Addr(v).String()
	case 'n':
		return strconv.FormatUint(v, 10)
	case 'i', 'm':
		return strconv.Itoa(int(int32(v)))
	case 'o':
		return fmt.Sprintf("0%o", uint32(v))
	case 'p':
		if text, ok := s.textAt(v, 4096); ok {
			return strconv.Quote(text)
		}
		return target.Addr(v).String()
	case 'f', 'F':
		fd := int(int32(v))
		if kind == 'F' && fd == -100 {
			return "AT_FDCWD"
		}
		if s.proc != nil {
			if path, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", s.proc.PID(), fd)); err == nil {
				return fmt.Sprintf("%d<%s>", fd, path)
			}
		}
		return strconv.Itoa(fd)
	case 'O':
		return flagText(v&^3, openFlags, []string{"O_RDONLY", "O_WRONLY", "O_RDWR", "O_ACCMODE"}[v&3])
	case 's':
		if v < target.NumSignals {
			return target.SignalName(int(v))
		}
	case 'P':
		return strconv.Itoa(int(int32(v)))
	case 't':
		return s.timespecText(v)
	case 'c':
		if v < uint64(len(clockNames)) {
			return clockNames[v]
		}
	case 'u':
		return futexOperation(v)
	case 'r':
		return flagText(v, []flagName{{1, "PROT_READ"}, {2, "PROT_WRITE"}, {4, "PROT_EXEC"}}, "")
	case 'M':
		return flagText(v, mmapFlags, "")
	case 'W':
		return flagText(v, []flagName{{1, "WNOHANG"}, {2, "WUNTRACED"}, {4, "WEXITED"}, {8, "WCONTINUED"}, {0x01000000, "WNOWAIT"}, {0x40000000, "__WALL"}}, "")
	case 'w':
		if v < 4 {
			return []string{"P_ALL", "P_PID", "P_PGID", "P_PIDFD"}[v]
		}
	}
	return fmt.Sprintf("0x%x", v)
}

type flagName struct {
	bit  uint64
	name string
}

var (
	openFlags = []flagName{{0x40, "O_CREAT"}, {0x80, "O_EXCL"}, {0x100, "O_NOCTTY"}, {0x200, "O_TRUNC"}, {0x400, "O_APPEND"},
		{0x800, "O_NONBLOCK"}, {0x10000, "O_DIRECTORY"}, {0x20000, "O_NOFOLLOW"}, {0x80000, "O_CLOEXEC"}, {0x200000, "O_PATH"}}
	mmapFlags = []flagName{{1, "MAP_SHARED"}, {2, "MAP_PRIVATE"}, {0x10, "MAP_FIXED"}, {0x20, "MAP_ANONYMOUS"}, {0x4000, "MAP_NORESERVE"},
		{0x8000, "MAP_POPULATE"}, {0x20000, "MAP_STACK"}}
	clockNames = []string{"CLOCK_REALTIME", "CLOCK_MONOTONIC", "CLOCK_PROCESS_CPUTIME_ID", "CLOCK_THREAD_CPUTIME_ID", "CLOCK_MONOTONIC_RAW",
		"CLOCK_REALTIME_COARSE", "CLOCK_MONOTONIC_COARSE", "CLOCK_BOOTTIME"}
	futexNames = []string{"FUTEX_WAIT", "FUTEX_WAKE", "FUTEX_FD", "FUTEX_REQUEUE", "FUTEX_CMP_REQUEUE", "FUTEX_WAKE_OP", "FUTEX_LOCK_PI",
		"FUTEX_UNLOCK_PI", "FUTEX_TRYLOCK_PI", "FUTEX_WAIT_BITSET", "FUTEX_WAKE_BITSET", "FUTEX_WAIT_REQUEUE_PI", "FUTEX_CMP_REQUEUE_PI", "FUTEX_LOCK_PI2"}
)

// flagText joins the names of the bits that are set after first. Bits without a name follow in
// hexadecimal.
func flagText(v uint64, names []flagName, first string) string {
	var out []string
	if first != "" {
		out = append(out, first)
	}
	for _, n := range names {
		if v&n.bit != 0 {
			out = append(out, n.name)
			v &^= n.bit
		}
	}
	if v != 0 || len(out) == 0 {
		if v == 0 {
			return "0"
		}
		out = append(out, fmt.Sprintf("0x%x", v))
	}
	return strings.Join(out, "|")
}

// futexOperation shows the second argument of futex(2).
func futexOperation(v uint64) string {
	name := fmt.Sprintf("0x%x", v&0x7f)
	if i := v & 0x7f; i < uint64(len(futexNames)) {
		name = futexNames[i]
	}
	if v&0x80 != 0 {
		name += "_PRIVATE"
	}
	if v&0x100 != 0 {
		name += "|FUTEX_CLOCK_REALTIME"
	}
	return name
}

// timespecText shows a struct timespec.
func (s *Session) timespecText(at uint64) string {
	if at == 0 {
		return "NULL"
	}
	sec, err1 := s.word(at)
	nsec, err2 := s.word(at + 8)
	if err1 != nil || err2 != nil || nsec >= 1e9 {
		return target.Addr(at).String()
	}
	return fmt.Sprintf("{%d.%09d s}", int64(sec), nsec)
}
