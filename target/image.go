package target

// Image is a file that is mapped in the process. Most targets report mapped files only in their
// memory map.
type Image struct {
	Path   string // path in the process; a name in brackets if unknown
	UUID   string // 32 hex digits, or "" if unknown
	Header Addr   // address of its header
	Slide  uint64 // to add to an address of code in the file
	Lo, Hi Addr   // its code, and its other segments up to the next image
}
