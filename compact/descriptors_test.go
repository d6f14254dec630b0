package compact_test

import (
	"encoding/binary"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/compact"
	"dbg/row"
)

// descriptors returns the descriptors of functions without gaps between them. The personality routine of each
// is the symbol "p" if its opcode has bit 28.
func descriptors(a *arch.Arch, fs []function, end uint32) (data []byte, fields map[int]compact.Field) {
	fields = map[int]compact.Field{}
	le, w := binary.LittleEndian, a.PtrSize
	for i, f := range fs {
		next := end
		if i+1 < len(fs) {
			next = fs[i+1].addr
		}
		off := len(data)
		b := make([]byte, 8+3*w)
		fields[off] = compact.Field{Addr: uint64(f.addr)}
		le.PutUint32(b[w:], next-f.addr)
		le.PutUint32(b[w+4:], f.op)
		if f.op>>28&1 != 0 {
			fields[off+w+8] = compact.Field{Symbol: "p"}
		}
		if f.lsda != 0 {
			fields[off+2*w+8] = compact.Field{Addr: uint64(f.lsda)}
		}
		data = append(data, b...)
	}
	return data, fields
}

func newDescriptors(t testing.TB, a *arch.Arch, data []byte, fields map[int]compact.Field) *compact.Descriptors {
	t.Helper()
	field := func(off, size int) (compact.Field, bool) {
		f, found := fields[off]
		if !found {
			f.Null = true
		}
		return f, size == a.PtrSize
	}
	d, err := compact.NewDescriptors(compact.DescriptorConfig{Arch: a, Data: data, Field: field})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestDescriptors writes random functions as descriptors and as __unwind_info: the rows are equal.
func TestDescriptors(t *testing.T) {
	for seed := range uint64(30) {
		r := random(seed)
		a := []*arch.Arch{arch.AMD64, arch.I386, arch.ARM64}[seed%3]
		fs, end := randomFunctions(r, a, 1+r.IntN(300))
		tab := newTable(t, a, link(r, fs, end, 100, 2).encode(), 0)
		data, fields := descriptors(a, fs, end)
		d := newDescriptors(t, a, data, fields)
		i := 0
		for x, err := range d.All() {
			f := fs[i]
			if err != nil || x.Lo != uint64(f.addr) || uint32(x.Opcode) != f.op || x.LSDA != uint64(f.lsda) ||
				(x.PersonalityName == "p") != (f.op>>28&1 != 0) || x.Personality != 0 {
				t.Fatalf("seed %d: descriptor %d is %+v, %v; want %+v", seed, i, x, err, f)
			}
			var e compact.Entry
			if err := tab.Find(x.Lo, &e); err != nil {
				t.Fatal(err)
			}
			var got, want row.Row
			errGot, errWant := d.Row(x, &got), tab.Row(&e, &want)
			if (errGot == nil) != (errWant == nil) || errGot == nil && (got.Format(a) != want.Format(a) || got.Hi != want.Hi) {
				t.Fatalf("seed %d: %s, %v; want %s, %v", seed, got.Format(a), errGot, want.Format(a), errWant)
			}
			i++
		}
		if i != len(fs) {
			t.Fatalf("seed %d: %d descriptors of %d", seed, i, len(fs))
		}
	}
}

// TestCorruptDescriptors has one defect each in the second of three descriptors.
func TestCorruptDescriptors(t *testing.T) {
	const at, size = 32, 32
	type edit func(fields map[int]compact.Field)
	set := func(off int, f compact.Field) edit {
		return func(fields map[int]compact.Field) { fields[off] = f }
	}
	for name, c := range map[string]struct {
		change edit
		bad    bool
	}{
		"sound":                          {func(map[int]compact.Field) {}, false},
		"a personality routine here":     {set(at+16, compact.Field{Addr: 0x900}), false},
		"no function":                    {func(f map[int]compact.Field) { delete(f, at) }, true},
		"a function elsewhere":           {set(at, compact.Field{Symbol: "f"}), true},
		"language-specific data outside": {set(at+24, compact.Field{Symbol: "d"}), true},
		"a range without an end":         {set(at, compact.Field{Addr: 1<<64 - 1}), true},
	} {
		t.Run(name, func(t *testing.T) {
			fs := []function{{addr: 0x100, op: 0x01000000}, {addr: 0x200, op: 0x02020000}, {addr: 0x300, op: 0x01000000}}
			data, fields := descriptors(arch.AMD64, fs, 0x400)
			c.change(fields)
			i := 0
			for x, err := range newDescriptors(t, arch.AMD64, data, fields).All() {
				if (err != nil) != (c.bad && i == 1) || x.Offset != size*i {
					t.Errorf("descriptor %d: %+v, %v", i, x, err)
				}
				i++
			}
			if i != 3 {
				t.Errorf("%d descriptors", i)
			}
		})
	}
	if _, err := compact.NewDescriptors(compact.DescriptorConfig{Arch: arch.AMD64, Data: make([]byte, 33)}); err == nil {
		t.Error("half a descriptor is no error")
	}
	d := newDescriptors(t, arch.AMD64, nil, nil)
	var r row.Row
	err := d.Row(&compact.Descriptor{Entry: compact.Entry{Opcode: opContinue | 0x01000000}}, &r)
	if err == nil || !strings.Contains(err.Error(), "part of a function") {
		t.Errorf("a descriptor of a part: %v", err)
	}
}

// FuzzDescriptors: whatever the bytes, no panic.
func FuzzDescriptors(f *testing.F) {
	fs, end := randomFunctions(random(1), arch.ARM64, 20)
	data, _ := descriptors(arch.ARM64, fs, end)
	f.Add(data, uint64(0x1000), uint8(2))
	f.Fuzz(func(t *testing.T, data []byte, at uint64, machine uint8) {
		a := []*arch.Arch{arch.AMD64, arch.I386, arch.ARM64}[machine%3]
		d, err := compact.NewDescriptors(compact.DescriptorConfig{Arch: a, Data: data,
			Field: func(off, size int) (compact.Field, bool) { return compact.Field{Addr: at * uint64(off)}, off%7 != 6 }})
		if err != nil {
			return
		}
		n := 0
		for x, err := range d.All() {
			var r row.Row
			if n++; err == nil && d.Row(x, &r) == nil && (r.Lo != x.Lo || r.Hi != x.Hi) {
				t.Fatalf("%+v has the row %s", x, r.Format(a))
			}
		}
		if n > len(data)/20 {
			t.Fatalf("%d descriptors of %d bytes", n, len(data))
		}
	})
}
