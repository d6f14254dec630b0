package target

// Image is a file that a target says is mapped. Most targets say so by their memory map only.
type Image struct {
	Path   string // as the process had it; a name in brackets where the target doesn't say
	UUID   string // 32 hex digits, "" if not known
	Header Addr   // where its header is
	Slide  uint64 // what is to be added to addresses of its code in the file
	Lo, Hi Addr   // where its code is, and what else of it lies after that with no other image between
}
