package vmcore

import (
	"bufio"
	"bytes"
	"strconv"
	"strings"
)

// info is the note VMCOREINFO: lines that the kernel has written for readers of dumps
// (Documentation/admin-guide/kdump/vmcoreinfo.rst).
type info struct {
	release string
	buildID string
	offset  uint64 // KERNELOFFSET: how far the kernel was moved (KASLR)
	symbols map[string]uint64
	numbers map[string]int64
}

// maxLines bounds the lines that are read: a kernel writes some hundred.
const maxLines = 1 << 14

func parseInfo(b []byte) info {
	x := info{symbols: map[string]uint64{}, numbers: map[string]int64{}}
	s := bufio.NewScanner(bytes.NewReader(b))
	for n := 0; n < maxLines && s.Scan(); n++ {
		key, value, ok := strings.Cut(s.Text(), "=")
		if !ok {
			continue
		}
		kind, name, _ := strings.Cut(key, "(")
		name = strings.TrimSuffix(name, ")")
		switch kind {
		case "OSRELEASE":
			x.release = value
		case "BUILD-ID":
			x.buildID = value
		case "KERNELOFFSET":
			x.offset, _ = strconv.ParseUint(value, 16, 64)
		case "SYMBOL":
			if v, err := strconv.ParseUint(value, 16, 64); err == nil {
				x.symbols[name] = v
			}
		case "NUMBER":
			if v, err := strconv.ParseInt(value, 0, 64); err == nil {
				x.numbers[name] = v
			}
		}
	}
	return x
}
