package dyninfo

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"dbg/target"
)

// memory is the memory of a program that a test writes.
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

// encoder writes libunwind's structures.
type encoder struct {
	Layout
	memory
}

func newEncoder(l Layout) *encoder { return &encoder{l, memory{base: 0x10000}} }

// here is the address of the next byte, aligned to a word.
func (e *encoder) here() target.Addr {
	for len(e.data)%8 != 0 {
		e.data = append(e.data, 0)
	}
	return e.base + target.Addr(len(e.data))
}

func (e *encoder) u32(v uint32) { e.data = e.Order.(binary.AppendByteOrder).AppendUint32(e.data, v) }

func (e *encoder) word(v uint64) {
	if e.Word == 4 {
		e.u32(uint32(v))
		return
	}
	e.data = e.Order.(binary.AppendByteOrder).AppendUint64(e.data, v)
}

// putWord changes a word.
func (e *encoder) putWord(at target.Addr, v uint64) {
	if e.Word == 4 {
		e.Order.PutUint32(e.data[at-e.base:], uint32(v))
	} else {
		e.Order.PutUint64(e.data[at-e.base:], v)
	}
}

// op writes an operation.
func (e *encoder) op(op Op) {
	e.data = append(e.data, byte(op.Tag), byte(op.QP))
	e.data = e.Order.(binary.AppendByteOrder).AppendUint16(e.data, uint16(op.Reg))
	e.u32(uint32(op.When))
	e.word(uint64(op.Val))
}

// regions writes regions and returns the address of the first. Each array of operations has more room
// than it needs.
func (e *encoder) regions(list []Region) target.Addr {
	first, link := target.Addr(0), target.Addr(0)
	for i := range list {
		at := e.here()
		if i == 0 {
			first = at
		} else {
			e.putWord(link, uint64(at))
		}
		list[i].Addr, link = at, at
		e.word(0)
		e.u32(uint32(list[i].Count))
		e.u32(uint32(len(list[i].Ops) + 2))
		for _, op := range list[i].Ops {
			e.op(op)
		}
		e.op(Op{When: -1})
		e.op(Op{Tag: 99, Reg: -1}) // not used
	}
	return first
}

// info writes an entry.
func (e *encoder) info(x *Info) {
	x.Addr = e.here()
	e.word(uint64(x.Next))
	e.word(uint64(x.Prev))
	for _, v := range []uint64{x.Start, x.End, x.GP} {
		e.word(v)
	}
	e.u32(uint32(x.Format))
	e.u32(0)
	e.word(x.LoadOffset)
	e.word(uint64(x.Name))
	if x.Format == Dynamic {
		e.word(x.Handler)
		e.u32(x.Flags)
		e.u32(0)
		e.word(uint64(x.Regions))
		return
	}
	for _, v := range []uint64{x.Segment, x.Length, uint64(x.Data)} {
		e.word(v)
	}
}

// list writes the head and links the entries, the first one first.
func (e *encoder) list(generation uint32, entries ...*Info) target.Addr {
	for i, x := range entries {
		if i > 0 {
			x.Prev = entries[i-1].Addr
			e.putWord(x.Addr+target.Addr(e.Word), uint64(x.Prev))
			entries[i-1].Next = x.Addr
			e.putWord(x.Prev, uint64(x.Addr))
		}
	}
	at := e.here()
	e.u32(0)
	e.u32(generation)
	if len(entries) > 0 {
		e.word(uint64(entries[0].Addr))
	} else {
		e.word(0)
	}
	return at
}

var layouts = []Layout{{binary.LittleEndian, 8}, {binary.BigEndian, 8}, {binary.LittleEndian, 4}, {binary.BigEndian, 4}}

// TestRoundTrip writes lists of random entries, regions and operations in each layout, and reads them.
func TestRoundTrip(t *testing.T) {
	for seed := range uint64(400) {
		l := layouts[seed%4]
		rnd := rand.New(rand.NewPCG(seed, 5))
		word := func() uint64 { return rnd.Uint64() >> (64 - 8*l.Word) }
		e := newEncoder(l)
		var want []*Info
		var regions [][]Region
		for range rnd.IntN(6) {
			x := &Info{Start: word() >> 1, GP: word(), LoadOffset: word(), Format: Format(rnd.IntN(5)),
				Name: target.Addr(word())}
			x.End = x.Start + uint64(rnd.IntN(1000))
			var list []Region
			if x.Format == Dynamic {
				for range rnd.IntN(5) {
					r := Region{Count: int32(rnd.Uint32())}
					for range rnd.IntN(12) {
						val := int64(word())
						if l.Word == 4 {
							val = int64(int32(val))
						}
						r.Ops = append(r.Ops, Op{Tag(1 + rnd.IntN(8)), int8(rnd.Uint32()), int16(rnd.Uint32()), int32(rnd.Uint32()), val})
					}
					list = append(list, r)
				}
				x.Regions, x.Handler, x.Flags = e.regions(list), word(), rnd.Uint32()
			} else {
				x.Segment, x.Length, x.Data = word(), word(), target.Addr(word())
			}
			e.info(x)
			want, regions = append(want, x), append(regions, list)
		}
		at := e.list(uint32(seed), want...)
		h, err := l.ReadHeader(&e.memory, at)
		if err != nil || h.Generation != uint32(seed) {
			t.Fatalf("seed %d: head %+v, %v", seed, h, err)
		}
		got, err := l.ReadList(&e.memory, h)
		if err != nil || len(got) != len(want) {
			t.Fatalf("seed %d: %d entries, %v; want %d", seed, len(got), err, len(want))
		}
		for i := range got {
			if got[i] != *want[i] {
				t.Errorf("seed %d: entry %d is %+v; want %+v", seed, i, got[i], *want[i])
			}
			if got[i].Format != Dynamic {
				continue
			}
			if p, err := l.ReadProcedure(&e.memory, got[i]); err != nil || !reflect.DeepEqual(p.Regions, regions[i]) {
				t.Errorf("seed %d: entry %d has the regions %+v, %v; want %+v", seed, i, p, err, regions[i])
			}
		}
	}
}

// damaged is a list of three entries, the second with two regions, which a test changes.
func damaged(l Layout, damage func(e *encoder, head target.Addr, x []*Info)) (*encoder, Header, error) {
	e := newEncoder(l)
	regions := []Region{{Count: 4, Ops: []Op{{Tag: Add, Reg: 7, Val: -8}}}, {Count: 4}}
	list := []*Info{{Start: 0x1000, End: 0x1010}, {Start: 0x2000, End: 0x2010, Regions: e.regions(regions)},
		{Start: 0x3000, End: 0x3010}}
	for _, x := range list {
		e.info(x)
	}
	head := e.list(7, list...)
	damage(e, head, list)
	h, err := l.ReadHeader(&e.memory, head)
	return e, h, err
}

// TestDamagedLists reads lists with one defect each. The entries before it count.
func TestDamagedLists(t *testing.T) {
	l := layouts[0]
	w := target.Addr(8)
	for _, c := range []struct {
		name   string
		damage func(e *encoder, head target.Addr, x []*Info)
		n      int
		why    string
	}{
		{"sound", func(e *encoder, head target.Addr, x []*Info) {}, 3, ""},
		{"version", func(e *encoder, head target.Addr, x []*Info) { e.putWord(head, 9) }, 0, "version 9"},
		{"empty", func(e *encoder, head target.Addr, x []*Info) { e.putWord(head+8, 0) }, 0, ""},
		{"first unmapped", func(e *encoder, head target.Addr, x []*Info) { e.putWord(head+8, 0xdead0000) }, 0, "0xdead0000"},
		{"cut off", func(e *encoder, head target.Addr, x []*Info) { e.putWord(head+8, uint64(e.here()-16)) }, 0,
			"cannot read"},
		{"to itself", func(e *encoder, head target.Addr, x []*Info) { e.putWord(x[0].Addr, uint64(x[0].Addr)) }, 1,
			"circular"},
		{"circular", func(e *encoder, head target.Addr, x []*Info) { e.putWord(x[2].Addr, uint64(x[0].Addr)) }, 3,
			"circular"},
		{"wrong backward link", func(e *encoder, head target.Addr, x []*Info) { e.putWord(x[1].Addr+w, 0x666) }, 1,
			"backward link"},
		{"no backward link", func(e *encoder, head target.Addr, x []*Info) { e.putWord(x[2].Addr+w, 0) }, 2, "backward link"},
		{"being added", func(e *encoder, head target.Addr, x []*Info) { e.putWord(head+8, uint64(x[1].Addr)) }, 2, ""},
		{"being removed", func(e *encoder, head target.Addr, x []*Info) { e.putWord(x[0].Addr, uint64(x[2].Addr)) }, 2, ""},
		{"two missing", func(e *encoder, head target.Addr, x []*Info) { e.putWord(head+8, uint64(x[2].Addr)) }, 0,
			"backward link"},
		{"ends before it starts", func(e *encoder, head target.Addr, x []*Info) { e.putWord(x[1].Addr+3*w, 0x1fff) }, 1,
			"before its start"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, h, err := damaged(l, c.damage)
			var list []Info
			if err == nil {
				list, err = l.ReadList(&e.memory, h)
			}
			if len(list) != c.n || (err == nil) != (c.why == "") || err != nil && !strings.Contains(err.Error(), c.why) {
				t.Errorf("%d entries, error %v; want %d, %q", len(list), err, c.n, c.why)
			}
		})
	}
}

// TestLongList checks the limit of entries.
func TestLongList(t *testing.T) {
	e := newEncoder(layouts[0])
	var list []*Info
	for range MaxEntries + 1 {
		x := &Info{Start: 1, End: 2}
		e.info(x)
		list = append(list, x)
	}
	h, err := e.ReadHeader(&e.memory, e.list(1, list...))
	if err != nil {
		t.Fatal(err)
	}
	got, err := e.ReadList(&e.memory, h)
	if len(got) != MaxEntries || err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("%d entries, %v", len(got), err)
	}
}

// TestDamagedRegions reads regions with one defect each.
func TestDamagedRegions(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(e *encoder, r target.Addr)
		why    string
	}{
		{"sound", func(e *encoder, r target.Addr) {}, ""},
		{"to itself", func(e *encoder, r target.Addr) { e.putWord(r, uint64(r)) }, "circular"},
		{"unmapped", func(e *encoder, r target.Addr) { e.putWord(r, 0xdead0000) }, "0xdead0000"},
		{"endless operations", func(e *encoder, r target.Addr) {
			e.putWord(r, 0)
			e.Order.PutUint32(e.data[r-e.base+12:], 0xffffffff)
			for i := int(r-e.base) + 16; i < len(e.data); i += 16 {
				e.data[i] = byte(Add)
			}
			for len(e.data) < 1<<16 {
				e.op(Op{Tag: Add})
			}
		}, "more than 1024 operations"},
		{"operations in missing memory", func(e *encoder, r target.Addr) {
			e.Order.PutUint32(e.data[r-e.base+12:], 0xffffffff)
			for i := int(r-e.base) + 16; i < len(e.data); i += 16 {
				e.data[i] = byte(Add)
			}
		}, "cannot read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newEncoder(layouts[0])
			r := e.regions([]Region{{Count: 4, Ops: []Op{{Tag: Add, Reg: 7, Val: -8}}}, {Count: 4}})
			c.damage(e, r)
			_, err := e.ReadProcedure(&e.memory, Info{Regions: r})
			if (err == nil) != (c.why == "") || err != nil && !strings.Contains(err.Error(), c.why) {
				t.Errorf("error %v; want %q", err, c.why)
			}
		})
	}
}

// TestSearchTable reads search tables.
func TestSearchTable(t *testing.T) {
	for _, l := range layouts {
		e := newEncoder(l)
		at := e.here()
		for _, v := range []int32{-16, 0x100, 64, -0x100, 64, 0x7fff0000, 0, 0} {
			e.u32(uint32(v))
		}
		x := Info{Start: 0x5000, End: 0x6000, Format: RemoteTable, Segment: 0x4000, Data: at, Length: uint64(24 / l.Word)}
		want := []Entry{{0x3ff0, 0x4100}, {0x4040, 0x3f00}, {0x4040, 0x7fff4000}}
		if got, err := l.ReadTable(&e.memory, &x); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v: %x, %v; want %x", l, got, err, want)
		}
		x.Format = IPOffset
		if got, err := l.ReadTable(&e.memory, &x); err != nil || got[0] != (Entry{0x4ff0, 0x4100}) {
			t.Errorf("%+v: %x, %v", l, got, err)
		}
		for why, bad := range map[string]Info{
			"not sorted":     {Format: RemoteTable, Data: at, Length: uint64(32 / l.Word)},
			"invalid length": {Format: RemoteTable, Data: at, Length: 1 << 60},
			"cannot read":    {Format: RemoteTable, Data: at, Length: MaxTable / uint64(l.Word)},
			"no search":      {Format: LocalTable, Data: at, Length: 4},
		} {
			if _, err := l.ReadTable(&e.memory, &bad); err == nil || !strings.Contains(err.Error(), why) {
				t.Errorf("%+v: error %v; want %q", l, err, why)
			}
		}
	}
}

// TestReadName reads names that are no strings, too.
func TestReadName(t *testing.T) {
	for text, want := range map[string]string{"abc\x00": "abc", "a\nb\x00": "", "abc": "", strings.Repeat("x",
		300): strings.Repeat("x", maxName), "\x00": ""} {
		m := &memory{0x1000, []byte(text)}
		if got := (&Info{Name: 0x1000}).ReadName(m); got != want {
			t.Errorf("the name of %q is %q; want %q", text, got, want)
		}
	}
	if got := fmt.Sprint(Tag(3), Tag(50), Format(2),
		Format(-1)); got != "spill_sp_rel operation 50 remote table format -1" {
		t.Error(got)
	}
}
