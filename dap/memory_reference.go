package dap

import (
	"strconv"
	"strings"

	"dbg/target"
)

// memoryReference returns an address in the protocol's form.
func memoryReference(a target.Addr) string { return a.String() }

// parseMemoryReference parses an address, and adds an offset in bytes.
func parseMemoryReference(text string, offset int) (target.Addr, error) {
	n, err := strconv.ParseUint(strings.TrimSpace(text), 0, 64)
	if err != nil {
		return 0, badArguments("%q is not a memory reference", cut(text))
	}
	a := n + uint64(int64(offset))
	if (offset > 0 && a < n) || (offset < 0 && a > n) {
		return 0, badArguments("%s with the offset %d is outside the address space", cut(text), offset)
	}
	return target.Addr(a), nil
}
