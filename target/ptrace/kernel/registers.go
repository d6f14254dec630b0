package kernel

import (
	"errors"
	"unsafe"

	"golang.org/x/sys/unix"

	"dbg/target"
)

// Regs is struct user_regs_struct as bytes, <sys/user.h>; see target.DecodeUser.
type Regs [target.AMD64UserRegsSize]byte

// Offsets of registers in Regs. The kernel's names are those of the processor, except for
// OrigRAX: the number of the system call in which the thread is, or a negative number.
const (
	R10     = 7 * 8
	R9      = 8 * 8
	R8      = 9 * 8
	RAX     = 10 * 8
	RDX     = 12 * 8
	RSI     = 13 * 8
	RDI     = 14 * 8
	OrigRAX = 15 * 8
	RIP     = 16 * 8
	Flags   = 18 * 8
	RSP     = 19 * 8
	FSBase  = 21 * 8
	GSBase  = 22 * 8
)

// TrapFlag is the bit of Flags that makes the processor trap after each instruction: Intel SDM
// volume 1, 3.4.3.3.
const TrapFlag = 0x100

// Get returns the register at an offset.
func (r *Regs) Get(off int) uint64 { return *(*uint64)(unsafe.Pointer(&r[off])) }

// Set changes the register at an offset. The thread's own register changes with SetRegs.
func (r *Regs) Set(off int, v uint64) { *(*uint64)(unsafe.Pointer(&r[off])) = v }

// InSyscall reports whether the thread is in a system call.
func (r *Regs) InSyscall() bool { return int64(r.Get(OrigRAX)) >= 0 }

// Restarting reports whether the thread was interrupted in a system call that the kernel restarts
// when the thread continues, by moving its PC back to the syscall instruction (two bytes):
// signal(7), "Interruption of system calls". The error codes are internal to the kernel:
// include/linux/errno.h.
func (r *Regs) Restarting() bool {
	if !r.InSyscall() {
		return false
	}
	switch -int64(r.Get(RAX)) {
	case 512, 513, 514, 516: // ERESTARTSYS, -NOINTR, -NOHAND, -_RESTARTBLOCK
		return true
	}
	return false
}

// SyscallArgs lists the offsets in Regs of the six arguments of a system call: syscall(2).
var SyscallArgs = [6]int{RDI, RSI, RDX, R10, R8, R9}

const ntPRSTATUS, ntFPREGSET, ntX86XSTATE = 1, 2, 0x202

// ErrCompat is the error of GetRegs for a thread that runs 32-bit code.
var ErrCompat = errors.New("the thread's registers are those of a 32-bit program")

// GetRegs reads the general registers of a stopped thread.
func GetRegs(tid int, r *Regs) error {
	v := unix.Iovec{Base: &r[0], Len: uint64(len(r))}
	if err := Ptrace(unix.PTRACE_GETREGSET, tid, ntPRSTATUS, uintptr(unsafe.Pointer(&v))); err != nil {
		return err
	}
	if v.Len != uint64(len(r)) {
		return ErrCompat
	}
	return nil
}

// SetRegs writes the general registers of a stopped thread.
func SetRegs(tid int, r *Regs) error {
	v := unix.Iovec{Base: &r[0], Len: uint64(len(r))}
	return Ptrace(unix.PTRACE_SETREGSET, tid, ntPRSTATUS, uintptr(unsafe.Pointer(&v)))
}

// GetXState reads the XSAVE area of a stopped thread. The caller owns the result.
func GetXState(tid int) ([]byte, error) {
	const most = 16 << 10 // the area has up to 11 KiB, with AMX
	return getRegSet(tid, ntX86XSTATE, most)
}

// SetXState writes the XSAVE area of a stopped thread, or nothing if b is empty.
func SetXState(tid int, b []byte) error {
	if len(b) == 0 {
		return nil
	}
	v := unix.Iovec{Base: &b[0], Len: uint64(len(b))}
	return ptraceIovec(unix.PTRACE_SETREGSET, tid, ntX86XSTATE, &v)
}

// GetFPState reads the floating-point registers of a stopped thread: struct user_fpregs_struct,
// <sys/user.h>. The caller owns the result.
func GetFPState(tid int) ([]byte, error) { return getRegSet(tid, ntFPREGSET, 512) }

// getRegSet reads a register set of at most size bytes.
func getRegSet(tid, set, size int) ([]byte, error) {
	b := make([]byte, size)
	v := unix.Iovec{Base: &b[0], Len: uint64(size)}
	if err := ptraceIovec(unix.PTRACE_GETREGSET, tid, set, &v); err != nil {
		return nil, err
	}
	return b[:v.Len], nil
}

// ptraceIovec is Ptrace with an iovec as data.
func ptraceIovec(request, tid, set int, v *unix.Iovec) error {
	return Ptrace(request, tid, uintptr(set), uintptr(unsafe.Pointer(v)))
}
