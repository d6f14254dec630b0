package lsda

import (
	"encoding/binary"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"dbg/internal/ehpointer"
)

// encoder writes the data of a function as compilers do.
type encoder struct {
	b    []byte
	at   uint64
	big  bool
	ptr  int
	arm  bool
	fn   uint64
	text uint64
}

func (e *encoder) order() binary.AppendByteOrder {
	if e.big {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

func uleb(v uint64, more int) (b []byte) { // with more bytes than it needs
	for ; ; v >>= 7 {
		if v < 0x80 {
			b = append(b, byte(v))
			break
		}
		b = append(b, byte(v)|0x80)
	}
	for range more {
		b[len(b)-1] |= 0x80
		b = append(b, 0)
	}
	return b
}

func sleb(v int64) (b []byte) {
	for v < -64 || v >= 64 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v)&0x7f)
}

// pointer encodes a pointer that will be at an offset of the data.
func (e *encoder) pointer(v uint64, enc byte, off int) []byte {
	if v != 0 {
		switch enc & ehpointer.Base {
		case ehpointer.PCRel:
			v -= e.at + uint64(off)
		case ehpointer.TextRel:
			v -= e.text
		}
	}
	switch enc & ehpointer.Format {
	case ehpointer.ULEB:
		return uleb(v, 0)
	case ehpointer.Udata2, ehpointer.Sdata2:
		return e.order().AppendUint16(nil, uint16(v))
	case ehpointer.Udata4, ehpointer.Sdata4:
		return e.order().AppendUint32(nil, uint32(v))
	case ehpointer.Absptr:
		if e.ptr == 4 {
			return e.order().AppendUint32(nil, uint32(v))
		}
	}
	return e.order().AppendUint64(nil, v)
}

// write encodes a table. typeEnc is that of types, siteEnc that of call sites; base is that of landing pads, or 0.
func (e *encoder) write(sites []Site, base uint64, typeEnc, siteEnc byte, more int) {
	var types []Type // by number, from 1
	number := func(t Type) int {
		for i := range types {
			if types[i] == t {
				return i + 1
			}
		}
		types = append(types, t)
		return len(types)
	}
	var lists []byte // exception specifications
	var lateTypes []struct {
		off int
		t   Type
	}
	var actions []byte // records: a chain is written from its end, so that each refers to the next
	var calls []byte
	pads := e.fn
	if base != 0 {
		pads = base
	}
	for _, s := range sites {
		first := 0
		for i := len(s.Actions) - 1; i >= 0; i-- {
			a := s.Actions[i]
			if len(s.Actions) == 1 && a.Kind == Cleanup {
				continue // no record
			}
			filter := int64(0)
			switch a.Kind {
			case Catch:
				filter = int64(number(a.Types[0]))
			case CatchAll:
				filter = int64(number(Type{}))
			case Only:
				if e.arm {
					filter = -int64(len(lists)/4) - 1
					for _, t := range append(a.Types, Type{}) {
						lateTypes = append(lateTypes, struct {
							off int
							t   Type
						}{len(lists), t})
						lists = append(lists, 0, 0, 0, 0)
					}
				} else {
					filter = -int64(len(lists)) - 1
					for _, t := range a.Types {
						lists = append(lists, uleb(uint64(number(t)), 0)...)
					}
					lists = append(lists, 0)
				}
			}
			at := len(actions)
			actions = append(actions, sleb(filter)...)
			if next := first; next == 0 {
				actions = append(actions, 0)
			} else {
				actions = append(actions, sleb(int64(next-1-len(actions)))...)
			}
			first = at + 1
		}
		pad := uint64(0)
		if s.Pad != 0 {
			pad = s.Pad - pads
		}
		calls = append(calls, e.pointer(s.Lo-e.fn, siteEnc, 0)...)
		calls = append(calls, e.pointer(s.Hi-s.Lo, siteEnc, 0)...)
		calls = append(calls, e.pointer(pad, siteEnc, 0)...)
		calls = append(calls, uleb(uint64(first), 0)...)
	}
	e.b = []byte{ehpointer.Omit}
	if base != 0 {
		e.b = append([]byte{ehpointer.Absptr}, e.pointer(base, ehpointer.Absptr, 1)...)
	}
	stored := typeEnc
	if e.arm {
		stored = ehpointer.Absptr
	}
	e.b = append(e.b, stored)
	size := ehpointer.FixedSize(typeEnc&^ehpointer.Indirect, e.ptr)
	rest := append([]byte{siteEnc}, uleb(uint64(len(calls)), more)...)
	rest = append(append(rest, calls...), actions...)
	e.b = append(e.b, uleb(uint64(len(rest)+len(types)*size), more)...)
	e.b = append(e.b, rest...)
	for i := len(types) - 1; i >= 0; i-- {
		e.b = append(e.b, e.pointer(types[i].Addr, typeEnc, len(e.b))...)
	}
	for _, l := range lateTypes {
		copy(lists[l.off:], e.pointer(l.t.Addr, typeEnc, len(e.b)+l.off))
	}
	e.b = append(e.b, lists...)
}

func (e *encoder) config() *Config {
	return &Config{PtrSize: e.ptr, Big: e.big, ARM: e.arm, Func: e.fn, Text: e.text, Read: func(addr uint64, n int) []byte {
		if addr-e.at >= uint64(len(e.b)) {
			return nil
		}
		b := e.b[addr-e.at:]
		return b[:min(n, len(b))]
	}}
}

// random makes a function's call sites.
func (e *encoder) random(r *rand.Rand, indirect bool) (list []Site) {
	at := e.fn
	someType := func() Type { return Type{0x8000 + 8*r.Uint64N(20), indirect} }
	for range r.IntN(8) {
		s := Site{Lo: at + r.Uint64N(20)}
		s.Hi = s.Lo + 1 + r.Uint64N(300)
		at = s.Hi
		if r.IntN(4) > 0 {
			s.Pad = e.fn + 1 + r.Uint64N(1000)
			for range 1 + r.IntN(4) {
				switch k := Kind(r.IntN(4)); k {
				case Cleanup, CatchAll:
					s.Actions = append(s.Actions, Action{Kind: k})
				case Catch:
					s.Actions = append(s.Actions, Action{k, []Type{someType()}})
				case Only:
					a := Action{Kind: k}
					for range r.IntN(3) {
						a.Types = append(a.Types, someType())
					}
					s.Actions = append(s.Actions, a)
				}
			}
		}
		list = append(list, s)
	}
	return list
}

// TestRoundTrip: what was encoded is decoded, for all encodings in use, both byte orders and both sizes.
func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 19))
	typeEncodings := []byte{ehpointer.Absptr, ehpointer.Udata4, ehpointer.PCRel | ehpointer.Sdata4,
		ehpointer.PCRel | ehpointer.Sdata4 | ehpointer.Indirect, ehpointer.TextRel | ehpointer.Udata4, ehpointer.Udata2, ehpointer.PCRel | ehpointer.Sdata8}
	for n := range 5000 {
		e := &encoder{at: 0x7000, big: n&1 != 0, ptr: 4 << (n >> 1 & 1), fn: 0x1000, text: 0x400}
		enc := typeEncodings[r.IntN(len(typeEncodings))]
		if e.arm = e.ptr == 4 && !e.big && r.IntN(3) == 0; e.arm {
			enc = ehpointer.PCRel | ehpointer.Sdata4 | ehpointer.Indirect
		}
		want := e.random(r, enc&ehpointer.Indirect != 0)
		base := uint64(0)
		if r.IntN(3) == 0 {
			base = e.fn - 0x10
		}
		e.write(want, base, enc, []byte{ehpointer.ULEB, ehpointer.Udata4, ehpointer.Udata2}[r.IntN(3)], r.IntN(2))
		got, err := Read(e.config(), e.at)
		if err != nil {
			t.Fatalf("%d: %v: % x", n, err, e.b)
		}
		if len(got.Sites) == 0 && len(want) == 0 {
			continue
		}
		if !reflect.DeepEqual(got.Sites, want) {
			t.Fatalf("%d: encoding 0x%x, ARM %v: got\n%+v, want\n%+v", n, enc, e.arm, got.Sites, want)
		}
		for i := range want {
			s := &want[i]
			if at, ok := got.At(s.Hi - 1); !ok || at.Lo != s.Lo {
				t.Fatalf("no site at 0x%x", s.Hi-1)
			}
			if at, ok := got.At(s.Hi); ok && at.Lo != s.Hi {
				t.Fatalf("site 0x%x at 0x%x", at.Lo, s.Hi)
			}
		}
		if _, ok := got.At(want[0].Lo - 1); ok {
			t.Fatal("a site before the first")
		}
	}
}

// TestCorrupt: each defect has its words, and the sites before it are there.
func TestCorrupt(t *testing.T) {
	for name, c := range map[string]struct {
		data  []byte
		want  string
		sites int
	}{
		"nothing":                       {nil, "is not in the file", 0},
		"a header that is cut short":    {[]byte{0xff}, "cut short", 0},
		"types that are not there":      {[]byte{0xff, 0x9b, 0x70, 1, 0}, "the types are not in the file", 0},
		"types of no fixed size":        {[]byte{0xff, 0x01, 0x02, 1, 0}, "no fixed size", 0},
		"an unknown encoding":           {[]byte{0x0f, 0, 0, 0, 0, 0, 0, 0, 0}, "unknown pointer encoding", 0},
		"call sites that are not there": {[]byte{0xff, 0xff, 1, 9, 0}, "its 9 bytes of call sites", 0},
		"a call site that is cut short": {[]byte{0xff, 0xff, 1, 5, 0, 1, 2, 0, 3, 1, 1, 1}, "cut short", 1},
		"sites out of order":            {[]byte{0xff, 0xff, 1, 8, 9, 1, 0, 0, 2, 1, 0, 0}, "call site 1 is out of order", 1},
		"an action that is not there":   {[]byte{0xff, 0xff, 1, 4, 0, 1, 2, 9}, "action record 9 is not in the file", 0},
		"an action without types":       {[]byte{0xff, 0xff, 1, 4, 0, 1, 2, 1, 1, 0}, "there are none", 0},
		"a type that is not there":      {[]byte{0xff, 0x03, 6, 1, 4, 0, 1, 2, 1, 9, 0}, "a type is not in the file", 0},
		"a circle of actions":           {[]byte{0xff, 0xff, 1, 4, 0, 1, 2, 1, 0, 0x7f}, "no end", 0},
		"an action before the records":  {[]byte{0xff, 0xff, 1, 4, 0, 1, 2, 1, 0, 0x70}, "an action record is not in the file", 0},
		"a specification far away":      {[]byte{0xff, 0x03, 8, 1, 4, 0, 1, 2, 1, 0x80, 0x40, 0}, "is not in the file", 0},
		"a specification without end":   {[]byte{0xff, 0x03, 8, 1, 4, 0, 1, 2, 1, 0x7f, 0}, "cut short", 0},
	} {
		e := &encoder{b: c.data, at: 0x7000, ptr: 8, fn: 0x1000}
		got, err := Read(e.config(), e.at)
		if err == nil || !strings.Contains(err.Error(), c.want) || len(got.Sites) != c.sites {
			t.Errorf("%s: %v, %d sites", name, err, len(got.Sites))
		}
	}
}

// TestSJLJ: personality routines by their names.
func TestSJLJ(t *testing.T) {
	if !IsSJLJ("__gxx_personality_sj0") || IsSJLJ("__gxx_personality_v0") || IsSJLJ("") {
		t.Error("a personality routine is taken for another")
	}
}

func FuzzRead(f *testing.F) {
	r := rand.New(rand.NewPCG(7, 7))
	for range 20 {
		e := &encoder{at: 0x7000, ptr: 8, fn: 0x1000}
		e.write(e.random(r, true), 0, ehpointer.PCRel|ehpointer.Sdata4|ehpointer.Indirect, ehpointer.ULEB, 0)
		f.Add(e.b, byte(0))
	}
	f.Fuzz(func(t *testing.T, data []byte, how byte) {
		e := &encoder{b: data, at: 0x7000, ptr: 4 << (how & 1), big: how&2 != 0, arm: how&4 != 0, fn: 0x1000}
		got, _ := Read(e.config(), e.at)
		for i := range got.Sites {
			s := &got.Sites[i]
			if s.Hi < s.Lo || s.Pad == 0 && len(s.Actions) > 0 || s.Pad != 0 && len(s.Actions) == 0 {
				t.Errorf("%+v", s)
			}
			if at, ok := got.At(s.Lo); ok && at.Lo > s.Lo {
				t.Errorf("the site at 0x%x begins at 0x%x", s.Lo, at.Lo)
			}
		}
	})
}
