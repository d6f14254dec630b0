package image

import (
	"os"
	"syscall"
)

// BeginsAsMachO reports whether a regular file has the magic number of a Mach-O file, thin or fat (<mach-o/loader.h>,
// <mach-o/fat.h>). A file that can't be read has not.
func BeginsAsMachO(path string) bool {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a FIFO would block
	if err != nil {
		return false
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return false
	}
	var b [4]byte
	if _, err := f.ReadAt(b[:], 0); err != nil {
		return false
	}
	switch string(b[:]) {
	case "\xcf\xfa\xed\xfe", "\xce\xfa\xed\xfe", "\xca\xfe\xba\xbe", "\xca\xfe\xba\xbf":
		return true
	}
	return false
}
