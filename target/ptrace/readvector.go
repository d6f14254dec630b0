package ptrace

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"dbg/target"
)

// readVector reads with process_vm_readv(2), which needs no file. It copies page by page, and
// returns the number of bytes before the first page that can't be read. unix.ProcessVMReadv would
// allocate its vectors.
func readVector(pid int, addr target.Addr, buf []byte) int {
	return vector(unix.SYS_PROCESS_VM_READV, pid, addr, buf)
}

// writeVector writes with process_vm_writev(2), which respects the protection of pages.
// /proc/PID/mem does not.
func writeVector(pid int, addr target.Addr, buf []byte) int {
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
