package image

// BeginsAsMachO reports whether a regular file has the magic number of a Mach-O file, thin or fat
// (<mach-o/loader.h>, <mach-o/fat.h>). It returns false if the file can't be read.
func BeginsAsMachO(path string) bool {
	var b [4]byte
	if n, err := Peek(path, b[:]); err != nil || n < len(b) {
		return false
	}
	switch string(b[:]) {
	case "\xcf\xfa\xed\xfe", "\xce\xfa\xed\xfe", "\xca\xfe\xba\xbe", "\xca\xfe\xba\xbf":
		return true
	}
	return false
}
