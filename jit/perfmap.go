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

// PerfMap holds the functions of a perf map, sorted by address. They do not overlap.
type PerfMap struct{ list []Function }

// Limits of a perf map.
const (
	MaxPerfMap = 32 << 20 // bytes of text
	maxName    = 1024     // bytes of a name; longer names are cut
	maxLine    = 1 << 16  // bytes; longer lines are skipped
	maxSize    = 64 << 20 // bytes of a function
)

// ParsePerfMap parses the text of a perf map: lines of an address, a size and a name, with
// hexadecimal numbers. Programs only append to the file, so the later one of two overlapping
// functions is valid. Malformed lines are skipped, and so is an incomplete last line.
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

// latest returns the functions sorted by address. Of two overlapping functions it keeps the one
// that is later in list. It drops a function that was overwritten in part: the rest of its code is
// no longer in use.
func latest(list []Function) []Function {
	// Iterate from the last line back, so that a function that is already present is a later one.
	// The result does not overlap. It is a sequence of sorted runs, each at least as long as all
	// later ones together.
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
