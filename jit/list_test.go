package jit

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"time"

	"dbg/arch"
	"dbg/target"
)

// memory holds bytes at an address.
type memory struct {
	at   target.Addr
	data []byte
}

func (m memory) ReadMemory(a target.Addr, buf []byte) (int, error) {
	if a < m.at || a >= m.at+target.Addr(len(m.data)) {
		return 0, &target.MemoryError{Addr: a}
	}
	n := copy(buf, m.data[a-m.at:])
	if n < len(buf) {
		return n, &target.MemoryError{Addr: a + target.Addr(n)}
	}
	return n, nil
}

// TestLayout reads the structures of <gdb/jit-reader> in the layout of the C compiler for each machine.
func TestLayout(t *testing.T) {
	for _, c := range []struct {
		arch        *arch.Arch
		next, file  int // offsets in an entry
		size, first int
	}{
		{arch.AMD64, 0, 16, 24, 16},
		{arch.ARM64, 0, 16, 24, 16},
		{arch.RISCV64, 0, 16, 24, 16},
		{arch.I386, 0, 8, 12, 12},
		{arch.ARM, 0, 8, 16, 12},
	} {
		t.Run(c.arch.Name, func(t *testing.T) {
			m := memory{0x1000, make([]byte, 64)}
			put := func(at int, v uint64) {
				if c.arch.PtrSize == 8 {
					binary.LittleEndian.PutUint64(m.data[at:], v)
				} else {
					binary.LittleEndian.PutUint32(m.data[at:], uint32(v))
				}
			}
			put(c.next, 0x2000)
			put(c.file, 0x3000)
			binary.LittleEndian.PutUint64(m.data[c.size:], 0x123456789)
			l := LayoutOf(c.arch)
			want := Entry{Addr: 0x1000, Next: 0x2000, File: 0x3000, Size: 0x123456789}
			if e, err := l.ReadEntry(m, 0x1000); e != want || err != nil {
				t.Errorf("the entry is %+v, %v", e, err)
			}
			clear(m.data)
			m.data[0], m.data[4] = 1, 2
			put(8, 0x4000)
			put(c.first, 0x5000)
			if d, err := l.ReadDescriptor(m, 0x1000); d != (Descriptor{Removed, 0x4000, 0x5000}) || err != nil {
				t.Errorf("the descriptor is %+v, %v", d, err)
			}
		})
	}
}

// chain returns n entries of amd64. Each refers to the next, and the last one to end.
func chain(n int, end target.Addr) memory {
	m := memory{0x10000, make([]byte, 32*n)}
	for i := range n {
		next := m.at + target.Addr(32*(i+1))
		if i == n-1 {
			next = end
		}
		binary.LittleEndian.PutUint64(m.data[32*i:], uint64(next))
	}
	return m
}

func TestEntries(t *testing.T) {
	l := LayoutOf(arch.AMD64)
	late := time.Now().Add(time.Hour)
	for _, c := range []struct {
		name     string
		mem      memory
		deadline time.Time
		n        int
		why      string
	}{
		{"empty", chain(1, 0), late, 1, ""},
		{"sound", chain(1000, 0), late, 1000, ""},
		{"to itself", chain(1, 0x10000), late, 1, "circular"},
		{"circular", chain(500, 0x10000+32*77), late, 500, "circular"},
		{"unmapped", chain(10, 0xdead0000), late, 10, "0xdead0000"},
		{"wraps around", chain(10, 0xfffffffffffffff8), late, 10, "cannot read"},
		{"too long", chain(MaxEntries+1, 0), late, MaxEntries, "more than"},
		{"too slow", chain(5000, 0), time.Now().Add(-time.Second), 1023, "too long"},
	} {
		t.Run(c.name, func(t *testing.T) {
			list, err := l.Entries(c.mem, 0x10000, c.deadline)
			if len(list) != c.n || (err == nil) != (c.why == "") || err != nil && !strings.Contains(err.Error(), c.why) {
				t.Errorf("%d entries, error %v; want %d, %q", len(list), err, c.n, c.why)
			}
		})
	}
}

// TestFileSizes checks that a wrong size does not allocate more than the readable memory.
func TestFileSizes(t *testing.T) {
	m := memory{0x1000, make([]byte, 3<<20)}
	for _, c := range []struct {
		size uint64
		ok   bool
	}{{1, true}, {3 << 20, true}, {3<<20 + 1, false}, {MaxFile, false}, {MaxFile + 1, false}, {1 << 63, false}, {^uint64(0), false}, {0, false}} {
		data, err := ReadFile(m, Entry{File: 0x1000, Size: c.size})
		if (err == nil) != c.ok || c.ok && uint64(len(data)) != c.size {
			t.Errorf("a file of %d bytes: %d, %v", c.size, len(data), err)
		}
		var missing *target.MemoryError
		if !c.ok && c.size == MaxFile && !errors.As(err, &missing) {
			t.Errorf("the error of a file that is not all there is %v", err)
		}
	}
}
