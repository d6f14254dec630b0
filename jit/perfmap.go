package jit

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
)

// Function is a line of a perf map.
type Function struct {
	Lo, Hi uint64
	Name   string
}

// PerfMap is the functions of a perf map by address. They do not overlap.
type PerfMap struct{ list []Function }

// Bounds of a perf map.
const (
	MaxPerfMap = 32 << 20 // bytes of its text
	maxName    = 1024     // bytes of a name; what follows is cut
	maxLine    = 1 << 16  // bytes; a longer line is not one
	maxSize    = 64 << 20 // bytes of a function
)

// ParsePerfMap reads the text of a perf map: lines of an address, a size and a name, the numbers in hexadecimal.
// Programs only append to the file, so where two functions overlap the later one is there now. A line that makes no
// sense is skipped. The last line counts only if it is complete.
func ParsePerfMap(text []byte) *PerfMap {
	var list []Function
	for len(text) > 0 {
		n := bytes.IndexByte(text, '\n')
		if n < 0 {
			break
		}
		line := text[:n]
		text = text[n+1:]
		if f, ok := parseLine(line); ok {
			list = append(list, f)
		}
	}
	return &PerfMap{latest(list)}
}

func parseLine(line []byte) (f Function, ok bool) {
	if len(line) > maxLine {
		return f, false
	}
	addr, rest, ok1 := bytes.Cut(line, []byte(" "))
	size, name, ok2 := bytes.Cut(rest, []byte(" "))
	name = bytes.TrimSpace(name)
	if !ok1 || !ok2 || len(name) == 0 {
		return f, false
	}
	lo, err1 := strconv.ParseUint(string(bytes.TrimPrefix(addr, []byte("0x"))), 16, 64)
	n, err2 := strconv.ParseUint(string(bytes.TrimPrefix(size, []byte("0x"))), 16, 64)
	if err1 != nil || err2 != nil || lo == 0 || n == 0 || n > maxSize || lo+n < lo {
		return f, false
	}
	name = name[:min(len(name), maxName)]
	return Function{lo, lo + n, string(bytes.ToValidUTF8(name, []byte("?")))}, true
}

// latest returns the functions by address; of two that overlap it keeps the one that comes later in list. Nothing is kept
// of a function that was overwritten in part: the rest of its code is no longer in use.
func latest(list []Function) []Function {
	// From the last line back, so that a function that is there already is a later one. What is kept does
	// not overlap, and is kept in sorted runs, each as long as those after it together.
	var runs [][]Function
	taken := func(f Function) bool {
		for _, run := range runs {
			i, _ := slices.BinarySearchFunc(run, f.Lo, func(r Function, lo uint64) int {
				if r.Hi <= lo {
					return -1
				}
				return 1
			})
			if i < len(run) && run[i].Lo < f.Hi {
				return true
			}
		}
		return false
	}
	for i := len(list) - 1; i >= 0; i-- {
		if taken(list[i]) {
			continue
		}
		run := []Function{list[i]}
		for len(runs) > 0 && len(runs[len(runs)-1]) <= len(run) {
			run = merge(runs[len(runs)-1], run)
			runs = runs[:len(runs)-1]
		}
		runs = append(runs, run)
	}
	var out []Function
	for i := len(runs) - 1; i >= 0; i-- {
		out = merge(runs[i], out)
	}
	return out
}

func merge(a, b []Function) []Function {
	out := append(append(make([]Function, 0, len(a)+len(b)), a...), b...)
	slices.SortFunc(out, func(x, y Function) int { return cmp.Compare(x.Lo, y.Lo) })
	return out
}

// Len returns the number of functions.
func (m *PerfMap) Len() int { return len(m.list) }

// Find returns the function at an address.
func (m *PerfMap) Find(addr uint64) (Function, bool) {
	i, _ := slices.BinarySearchFunc(m.list, addr, func(f Function, addr uint64) int {
		if f.Hi <= addr {
			return -1
		}
		return 1
	})
	if i < len(m.list) && m.list[i].Lo <= addr {
		return m.list[i], true
	}
	return Function{}, false
}
