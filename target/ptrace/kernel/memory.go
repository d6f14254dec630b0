package kernel

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"dbg/target"
)

// ReadVector reads with process_vm_readv(2), which needs no file. It copies page by page, and
// returns the number of bytes before the first page that can't be read. buf is not empty.
// unix.ProcessVMReadv would allocate its vectors.
func ReadVector(pid int, addr target.Addr, buf []byte) int {
	return vector(unix.SYS_PROCESS_VM_READV, pid, addr, buf)
}

// WriteVector writes with process_vm_writev(2), which respects the protection of pages.
// /proc/PID/mem does not. It returns the number of bytes written. buf is not empty.
func WriteVector(pid int, addr target.Addr, buf []byte) int {
	return vector(unix.SYS_PROCESS_VM_WRITEV, pid, addr, buf)
}

func vector(call uintptr, pid int, addr target.Addr, buf []byte) int {
	local := unix.Iovec{Base: &buf[0], Len: uint64(len(buf))}
	remote := unix.RemoteIovec{Base: uintptr(addr), Len: len(buf)}
	n, _, e := unix.Syscall6(call, uintptr(pid),
		uintptr(unsafe.Pointer(&local)), 1, uintptr(unsafe.Pointer(&remote)), 1, 0)
	if e != 0 {
		return 0
	}
	return int(n)
}

// WriteAll writes to /proc/PID/mem, open at fd: it ignores the protection of pages. It returns the
// number of bytes before the first page that is not mapped.
func WriteAll(fd int, addr target.Addr, data []byte) int {
	n := 0
	for n < len(data) {
		got, err := unix.Pwrite(fd, data[n:], int64(addr)+int64(n))
		if err == unix.EINTR {
			continue
		}
		if err != nil || got <= 0 {
			break
		}
		n += got
	}
	return n
}

// SameMemory reports whether two tasks share their address space: kcmp(2). It returns ok false if
// the kernel does not have kcmp, or does not permit it.
func SameMemory(a, b int) (same, ok bool) {
	const kcmpVM = 1
	r, _, e := unix.RawSyscall6(unix.SYS_KCMP, uintptr(a), uintptr(b), kcmpVM, 0, 0, 0)
	return r == 0, e == 0
}
