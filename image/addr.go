package image

import "fmt"

// Addr is a virtual address in a file's own address space: what its symbol
// table and its debug information say. Process addresses are target.Addr.
type Addr uint64

func (a Addr) String() string { return fmt.Sprintf("0x%x", uint64(a)) }
