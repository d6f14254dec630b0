package target

// Image is a file that is mapped in the process. Most targets report mapped files only in their
// memory map.
type Image struct {
	Path   string // path in the process; a name in brackets if unknown
	UUID   string // the id in hex digits: a Mach-O UUID (32 digits), or the id of a minidump's module; "" if unknown
	Header Addr   // address of its header
	Slide  uint64 // to add to an address of code in the file
	Lo, Hi Addr   // its code, and its other segments up to the next image
}
