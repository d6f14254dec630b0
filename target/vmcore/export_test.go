package vmcore

import "dbg/target/corefile"

// OpenBytes opens a dump in memory.
func OpenBytes(f *corefile.File) (*Core, error) { return parse(f, Options{}) }

// Synthetic makes a dump of a small kernel. change may change its memory and the lines of VMCOREINFO.
func Synthetic(change func(mem []byte, info []string)) []byte {
	s := newSynthetic()
	if change != nil {
		change(s.mem, s.info)
	}
	return s.file()
}
