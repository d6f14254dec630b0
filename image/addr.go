package image

import "fmt"

// Addr is a virtual address in a file's own address space, as used by its symbol table and debug
// information. Addresses in a process are target.Addr.
type Addr uint64

func (a Addr) String() string { return fmt.Sprintf("0x%x", uint64(a)) }
