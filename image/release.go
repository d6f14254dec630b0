package image

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Release tells the system that a part of a section will not be needed soon, and need not stay in
// memory. It can still be read, from the file. Only whole pages are released.
func (f *File) Release(data []byte) {
	if f.mapping == nil || len(data) == 0 {
		return
	}
	mapped := f.mapping.Bytes()
	page := uintptr(unix.Getpagesize())
	base, at := uintptr(unsafe.Pointer(&mapped[0])), uintptr(unsafe.Pointer(&data[0]))
	if at < base || at-base > uintptr(len(mapped)) || uintptr(len(data)) > uintptr(len(mapped))-(at-base) {
		return // inflated
	}
	lo := (at - base + page - 1) &^ (page - 1)
	hi := (at - base + uintptr(len(data))) &^ (page - 1)
	if lo < hi {
		_ = unix.Madvise(mapped[lo:hi], unix.MADV_DONTNEED) // only advice: errors do not matter
	}
}
