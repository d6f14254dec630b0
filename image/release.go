package image

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Release says that a part of a section, all of which may have been read, will not be needed soon: it need not stay in the process's
// memory. It can be read as before, from the file. Only whole pages count.
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
		_ = unix.Madvise(mapped[lo:hi], unix.MADV_DONTNEED) // it is advice
	}
}
