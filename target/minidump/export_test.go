package minidump

import "dbg/target/corefile"

// FromBytes opens a dump that is in memory.
func FromBytes(data []byte, opts Options) (*Dump, error) {
	return parse(corefile.New("crash.dmp", data), opts)
}
