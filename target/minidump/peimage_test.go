package minidump_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"dbg/image"
	"dbg/internal/fixture"
	"dbg/target/minidump"
	"dbg/target/minidump/dumptest"
)

// TestDamagedImage changes the headers of a PE image in the memory of a dump at random. The image opens
// or is refused, and what opens stays in its memory.
func TestDamagedImage(t *testing.T) {
	f, err := image.Open(fixture.PE(t, "amd64", []string{"macho/shapes.c", "pe/support.c"}, "-O2"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, size := f.StampAndSize()
	loaded := make([]byte, size)
	for _, s := range f.Segments() {
		_, _ = f.ReadAt(s.Lo, loaded[s.Lo-f.ImageBase():][:s.FileSize])
	}
	const base = 0x7ff6_0000_0000
	rnd := rand.New(rand.NewPCG(7, 8))
	dump := dumptest.Dump{System: &dumptest.System{Processor: 9, Platform: 2}, Threads: []dumptest.Thread{{ID: 1}},
		Modules: []dumptest.Module{{Base: base, Size: size, Name: "x.dll"}}, Memory64: []dumptest.Memory{{Addr: base,
			Data: loaded}}}
	whole := dump.Bytes()
	b := whole[bytes.LastIndex(whole, loaded[:0x400]):]
	opened, rounds := 0, 200
	if fixture.All() {
		rounds = 4000
	}
	for i := range rounds {
		copy(b, loaded[:0x400])
		for range rnd.IntN(4) {
			switch at := rnd.IntN(0x400); rnd.IntN(3) {
			case 0:
				b[at] = byte(rnd.Uint32())
			case 1:
				copy(b[at:], []byte{0xff, 0xff, 0xff, 0xff})
			default:
				copy(b[at&^3:], []byte{0, 0, 0, 0})
			}
		}
		d, err := minidump.FromBytes(whole, minidump.Options{FindFile: func(string, string) []string { return nil }})
		if err != nil {
			t.Fatal(err)
		}
		file, slide, err := d.OpenListed(d.ListImages()[0])
		if err != nil {
			continue
		}
		opened++
		for _, s := range file.Segments() {
			if lo, hi := uint64(s.Lo)+slide, uint64(s.Hi)+slide; lo < base || hi > base+uint64(size) {
				t.Fatalf("round %d: the segment %s is at 0x%x-0x%x", i, s.Name, lo, hi)
			}
		}
		_ = file.Symbols()
		_, _, _ = file.FunctionTable()
		file.Close()
		d.Close()
	}
	if opened < rounds/5 || opened == rounds {
		t.Errorf("%d of %d images were opened", opened, rounds)
	}
}
