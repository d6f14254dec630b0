package registry

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/target"
)

// memory is the memory of a program that a test writes, from an address on.
type memory struct {
	base target.Addr
	data []byte
}

func (m *memory) ReadMemory(at target.Addr, buf []byte) (int, error) {
	if at < m.base || uint64(at-m.base) > uint64(len(m.data)) {
		return 0, &target.MemoryError{Addr: at}
	}
	n := copy(buf, m.data[at-m.base:])
	if n < len(buf) {
		return n, &target.MemoryError{Addr: at + target.Addr(n)}
	}
	return n, nil
}

// encoder writes the structures of the libraries into memory.
type encoder struct {
	Layout
	memory
}

func newEncoder(l Layout) *encoder { return &encoder{l, memory{base: 0x10000}} }

func (e *encoder) here() uint64 {
	for len(e.data)%8 != 0 {
		e.data = append(e.data, 0)
	}
	return uint64(e.base) + uint64(len(e.data))
}

func (e *encoder) half(list ...uint32) uint64 {
	at := e.here()
	for _, v := range list {
		var b [4]byte
		e.Order.PutUint32(b[:], v)
		e.data = append(e.data, b[:]...)
	}
	return at
}

func (e *encoder) add(list ...uint64) uint64 {
	at := e.here()
	for _, v := range list {
		var b [8]byte
		if e.Word == 8 {
			e.Order.PutUint64(b[:], v)
		} else {
			e.Order.PutUint32(b[:], uint32(v))
		}
		e.data = append(e.data, b[:e.Word]...)
	}
	return at
}

// frames writes a CIE and an FDE.
func (e *encoder) frames() uint64 {
	at := e.half(12, 0, 0, 0)
	e.half(12, 20, 0x1000, 0x10)
	e.half(0)
	return at
}

// object writes a struct object.
func (e *encoder) object(x Entry, sorted bool, next uint64) uint64 {
	u, flags := uint64(x.Frames), uint64(0x7f8)
	if sorted {
		u = e.add(u, 0)
		flags |= 1
		if e.Order == binary.BigEndian {
			flags = 1 << (8*e.Word - 1)
		}
	}
	return e.add(^uint64(0), x.Text, x.Data, u, flags, next)
}

// node writes a node of a tree.
func (e *encoder) node(kind, count uint32, words ...uint64) uint64 {
	at := e.add(0)
	if e.Word == 4 { // without padding between the words
		e.data = e.data[:len(e.data)]
	}
	var b [8]byte
	e.Order.PutUint32(b[:], count)
	e.Order.PutUint32(b[4:], kind)
	e.data = append(e.data, b[:]...)
	for _, v := range words {
		var w [8]byte
		if e.Word == 8 {
			e.Order.PutUint64(w[:], v)
		} else {
			e.Order.PutUint32(w[:], uint32(v))
		}
		e.data = append(e.data, w[:e.Word]...)
	}
	return at
}

// tree writes the nodes above leaves until there is one.
func (e *encoder) tree(nodes []uint64) uint64 {
	for level := uint64(0); len(nodes) > 1; level++ {
		var up []uint64
		for list := range slices.Chunk(nodes, maxInner) {
			var words []uint64
			for i, n := range list {
				words = append(words, uint64(i)*1000, n)
			}
			up = append(up, e.node(innerNode, uint32(len(list)), words...))
		}
		nodes = up
	}
	return e.add(nodes[0], 0, 0)
}

var layouts = []Layout{
	{binary.LittleEndian, 8}, {binary.LittleEndian, 4}, {binary.BigEndian, 8}, {binary.BigEndian, 4},
}

// TestRoundTrip writes random lists, trees and arrays, and reads them.
func TestRoundTrip(t *testing.T) {
	for seed := range 200 {
		rnd := rand.New(rand.NewPCG(uint64(seed), 1))
		l := layouts[seed%len(layouts)]
		e := newEncoder(l)
		n := rnd.IntN(400) // three levels of the tree
		var list, ranged, cache []Entry
		var nodes, leaf, array []uint64
		next := uint64(0)
		for i := range n {
			x := Entry{Frames: target.Addr(e.frames()), Text: rnd.Uint64N(1 << 31), Data: rnd.Uint64N(1 << 31)}
			next = e.object(x, rnd.IntN(2) == 0, next)
			x.Object = target.Addr(next)
			list = append(list, x)
			x.Lo, x.Hi = uint64(i)*100+5, uint64(i)*100+5+uint64(rnd.IntN(95))+2
			leaf = append(leaf, x.Lo, x.Hi-x.Lo, next)
			ranged = append(ranged, x)
			array = append(array, 0, x.Lo, x.Hi, uint64(x.Frames)+16)
			cache = append(cache, Entry{Frames: x.Frames + 16, Lo: x.Lo, Hi: x.Hi, Single: true})
			if len(leaf) == 3*maxLeaf {
				nodes, leaf = append(nodes, e.node(leafNode, maxLeaf, leaf...)), nil
			}
		}
		nodes = append(nodes, e.node(leafNode, uint32(len(leaf)/3), leaf...))
		slices.Reverse(list)
		head, tree, buffer := e.add(next), e.tree(nodes), e.add(array...)
		for i := range cache {
			cache[i].Object = target.Addr(buffer) + target.Addr(4*i*l.Word)
		}
		lo := e.add(buffer, buffer+uint64(len(array)*l.Word))
		hi := lo + uint64(l.Word)
		check := func(what string, want []Entry) func([]Entry, error) {
			return func(got []Entry, err error) {
				if err != nil || !slices.Equal(got, want) {
					t.Fatalf("seed %d: %s has %d entries (%v), want %d", seed, what, len(got), err, len(want))
				}
			}
		}
		check("the list", list)(l.ReadList(&e.memory, target.Addr(head)))
		check("the tree", ranged)(l.ReadTree(&e.memory, target.Addr(tree)))
		check("the array", cache)(l.ReadCache(&e.memory, target.Addr(lo), target.Addr(hi)))
		check("the list by its contents", list)(l.ReadAny(&e.memory, target.Addr(head)), nil)
		check("the array by its contents", cache)(l.ReadAnyCache(&e.memory, target.Addr(lo)), nil)
		check("the tree by its contents", ranged)(l.ReadAny(&e.memory, target.Addr(tree)), nil)
	}
}

// TestTables reads an object that was registered as a table of addresses.
func TestTables(t *testing.T) {
	e := newEncoder(layouts[0])
	a, b := e.frames(), e.frames()
	o := e.add(1, 2, 3, e.add(a, b, 0), 2, 0)
	got, err := e.ReadList(&e.memory, target.Addr(e.add(o)))
	want := []Entry{{Object: target.Addr(o), Frames: target.Addr(a), Text: 2, Data: 3},
		{Object: target.Addr(o), Frames: target.Addr(b), Text: 2, Data: 3}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("the entries are %+v (%v), want %+v", got, err, want)
	}
}

// TestFrames reads the information of an entry, with one defect each.
func TestFrames(t *testing.T) {
	for _, c := range []struct {
		name   string
		words  []uint32
		from   int // the entry's first word
		single bool
		want   string // a part of the error
		lo, hi int    // the words that are read
	}{
		{"section", []uint32{12, 0, 0, 0, 12, 20, 0, 0, 0}, 0, false, "", 0, 8},
		{"CIE before the entry", []uint32{12, 0, 0, 0, 12, 20, 0, 0, 0}, 4, false, "", 0, 8},
		{"one FDE", []uint32{12, 0, 0, 0, 12, 20, 0, 0, 99}, 4, true, "", 0, 8},
		{"empty", []uint32{0}, 0, false, "is empty", 0, 0},
		{"no end", []uint32{12, 0, 0, 0, 12, 20, 0, 0}, 0, false, "memory", 0, 0},
		{"short entry", []uint32{4, 0, 0}, 0, false, "invalid length", 0, 0},
		{"64-bit entry", []uint32{0xffffffff, 8, 0, 0, 0}, 0, false, "invalid length", 0, 0},
		{"CIE before memory", []uint32{12, 400, 0, 0, 0}, 0, false, "CIE", 0, 0},
		{"CIE far away", []uint32{12, 0xfffffff0, 0, 0, 0}, 0, false, "CIE pointer", 0, 0},
	} {
		e := newEncoder(layouts[0])
		at := e.half(c.words...)
		data, first, err := e.ReadFrames(&e.memory, Entry{Frames: target.Addr(at) + target.Addr(4*c.from), Single: c.single})
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", c.name, err, c.want)
			}
			continue
		}
		if err != nil || first != e.base+target.Addr(4*c.lo) || string(data) != string(e.data[4*c.lo:4*c.hi]) {
			t.Errorf("%s: % x at %s (%v)", c.name, data, first, err)
		}
	}
}

// TestDamaged reads damaged lists. The entries before the damage stay.
func TestDamaged(t *testing.T) {
	for _, c := range []struct {
		name string
		want string
		keep int
		read func(e *encoder) ([]Entry, error)
	}{
		{"circular list", "circular", 2, func(e *encoder) ([]Entry, error) {
			x := Entry{Frames: target.Addr(e.frames())}
			a := e.object(x, false, 0)
			b := e.object(x, false, a)
			e.Order.PutUint64(e.data[a-uint64(e.base)+40:], b)
			return e.ReadList(&e.memory, target.Addr(e.add(a)))
		}},
		{"object outside memory", "struct object", 1, func(e *encoder) ([]Entry, error) {
			return e.ReadList(&e.memory, target.Addr(e.add(e.object(Entry{Frames: 8}, false, 0x10))))
		}},
		{"object without information", "is invalid", 0, func(e *encoder) ([]Entry, error) {
			return e.ReadList(&e.memory, target.Addr(e.add(e.object(Entry{}, false, 0))))
		}},
		{"flags", "invalid flags", 0, func(e *encoder) ([]Entry, error) {
			return e.ReadList(&e.memory, target.Addr(e.add(e.add(1, 0, 0, 8, 1<<40, 0))))
		}},
		{"endless table", "memory", 1, func(e *encoder) ([]Entry, error) {
			return e.ReadList(&e.memory, target.Addr(e.add(e.add(1, 0, 0, e.base64()+7*8, 2, 0), 8)))
		}},
		{"circular tree", "twice", 0, func(e *encoder) ([]Entry, error) {
			at := e.here()
			return e.ReadTree(&e.memory, target.Addr(e.add(e.node(innerNode, 1, 0, at))))
		}},
		{"type of a node", "type 2", 0, func(e *encoder) ([]Entry, error) {
			return e.ReadTree(&e.memory, target.Addr(e.add(e.node(2, 1, 0, 0, 0))))
		}},
		{"count of a leaf", "11 entries", 0, func(e *encoder) ([]Entry, error) {
			return e.ReadTree(&e.memory, target.Addr(e.add(e.node(leafNode, 11, 0, 0, 0))))
		}},
		{"ranges out of order", "invalid", 1, func(e *encoder) ([]Entry, error) {
			o := e.object(Entry{Frames: 8}, false, 0)
			return e.ReadTree(&e.memory, target.Addr(e.add(e.node(leafNode, 2, 0x100, 8, o, 0x80, 8, o))))
		}},
		{"separators out of order", "out of order", 0, func(e *encoder) ([]Entry, error) {
			leaf := e.node(leafNode, 0)
			return e.ReadTree(&e.memory, target.Addr(e.add(e.node(innerNode, 2, 7, leaf, 7, leaf))))
		}},
		{"bounds of the array", "invalid bounds", 0, func(e *encoder) ([]Entry, error) {
			return e.ReadCache(&e.memory, target.Addr(e.add(64)), target.Addr(e.add(32)))
		}},
		{"large array", "more than", 0, func(e *encoder) ([]Entry, error) {
			return e.ReadCache(&e.memory, target.Addr(e.add(0)), target.Addr(e.add(1<<40)))
		}},
		{"range in the array", "invalid range", 0, func(e *encoder) ([]Entry, error) {
			a := e.add(0, 9, 8, 1)
			return e.ReadCache(&e.memory, target.Addr(e.add(a)), target.Addr(e.add(a+32)))
		}},
	} {
		got, err := c.read(newEncoder(layouts[0]))
		if err == nil || !strings.Contains(err.Error(), c.want) || len(got) != c.keep {
			t.Errorf("%s: %d entries (%v); want %d and %q", c.name, len(got), err, c.keep, c.want)
		}
	}
}

func (e *encoder) base64() uint64 { return uint64(e.base) }

// TestReferences decodes functions.
func TestReferences(t *testing.T) {
	for _, c := range []struct {
		name string
		arch *arch.Arch
		code string
		want []uint64
	}{
		{"mov, lea", arch.AMD64, "\xf3\x0f\x1e\xfa\x48\x8b\x05\xfb\x65\x00\x00\x48\x8d\x0d\xef\x65\x00\x00\xc3",
			[]uint64{0x5000 + 0x12 + 0x65ef, 0x5000 + 0xb + 0x65fb}},
		{"a call, a register", arch.AMD64, "\xe8\x00\x01\x00\x00\x48\x8b\x46\x08\xc3", nil},
		{"cut off", arch.AMD64, "\x48\x8b\x05\xfb", nil},
		// adrp x1, 0x1f000; add x1, x1, #0x270; ldr x2, [x1, #8] without a page; adrp x3, 0; ldr x3, [x3, #16]
		{"adrp", arch.ARM64, "\xe1\x00\x00\xf0\x21\xc0\x09\x91\xe3\xff\xff\xf0\x63\x08\x40\xf9", []uint64{0x4010, 0x24270}},
		{"another machine", arch.I386, "\x8b\x05\x00\x00\x00\x00", nil},
	} {
		if got := References(c.arch, []byte(c.code), 0x5000); !slices.Equal(got, c.want) {
			t.Errorf("%s: %x, want %x", c.name, got, c.want)
		}
	}
}

// FuzzRead reads whatever memory contains.
func FuzzRead(f *testing.F) {
	for i, l := range layouts {
		e := newEncoder(l)
		o := e.object(Entry{Frames: target.Addr(e.frames())}, i%2 == 0, 0)
		head := e.add(o)
		e.tree([]uint64{e.node(leafNode, 1, 0x1000, 16, o), e.node(leafNode, 1, 0x2000, 16, o)})
		f.Add(e.data, uint8(i), uint16(head-uint64(e.base)))
		f.Add(e.data, uint8(i), uint16(len(e.data)-3*l.Word))
	}
	f.Fuzz(func(t *testing.T, data []byte, kind uint8, off uint16) {
		l := layouts[kind%4]
		m := &memory{0x10000, data}
		at := m.base + target.Addr(off)
		for _, read := range []func() ([]Entry, error){
			func() ([]Entry, error) { return l.ReadList(m, at) },
			func() ([]Entry, error) { return l.ReadTree(m, at) },
			func() ([]Entry, error) { return l.ReadCache(m, at, at+target.Addr(l.Word)) },
			func() ([]Entry, error) { return l.ReadAny(m, at), nil },
			func() ([]Entry, error) { return l.ReadAnyCache(m, at), nil },
		} {
			list, _ := read()
			for _, e := range list[:min(len(list), 10)] {
				l.ReadFrames(m, e)
			}
		}
		References(arch.All()[int(kind)%len(arch.All())], data, uint64(at))
	})
}
