package machocore

import (
	"math/rand"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/internal/fixture"
	"dbg/target"
	"dbg/target/corefile"
	"dbg/target/machocore/coretest"
)

// use does with a core what a debugger would.
func use(data []byte) {
	c, err := parse(corefile.New("fuzz", data), Options{FindFile: func(string, string) []string { return nil }})
	if err != nil {
		return
	}
	defer c.Close()
	buf := make([]byte, 256)
	for i, t := range c.Threads() {
		if i > 100 {
			break
		}
		r, _ := c.Registers(t.ID)
		for reg := range arch.Reg(arch.MaxRegs) {
			_, _ = c.WideRegister(t.ID, reg)
		}
		pc, _ := r.PC()
		_, _ = c.ReadMemory(target.Addr(pc), buf)
	}
	maps, _ := c.Mappings()
	last := target.Addr(0)
	for i, m := range maps {
		if m.Lo < last || m.Hi <= m.Lo {
			panic("the mappings overlap")
		}
		last = m.Hi
		if i > 100 {
			continue
		}
		_, _ = c.ReadMemory(m.Lo, buf)
		_, _ = c.ReadMemory(m.Hi-5, buf)
	}
	for i, im := range c.Images() {
		if im.Hi <= im.Lo || im.Path == "" {
			panic("an image without memory or name")
		}
		if i > 20 {
			continue
		}
		if f, _, err := c.OpenImage(im); err == nil {
			_ = f.Symbols()
			_ = f.FunctionStarts()
			_, _ = f.Section("__unwind_info")
			_ = f.Close()
		}
	}
	_ = c.Exe()
	_ = c.Warnings()
}

// whole is a core with all kinds of notes and an image in memory.
func whole(t testing.TB) *coretest.Core {
	l := load(t, fixture.MachO(t, crash, "x86_64", "-O1"), 0x10_0000_0000)
	s := sample(arch.AMD64)
	s.Segments = append(s.Segments, l.segments...)
	s.Notes = []coretest.Note{
		coretest.AllImageInfos(l.image("/lib/crash.dylib"), coretest.Image{Path: "/lib/none.dylib", UUID: strings.Repeat("ab", 16), Header: 0x7000,
			Segments: []coretest.Placed{{Name: "__TEXT", Addr: 0x7000}, {Name: "__DATA", Addr: 0x9000}}}),
		coretest.LoadBinary(l.uuid, 0x8000, coretest.None, "other"),
		coretest.MainBinary(2, 2, l.base, coretest.None, l.uuid, 1),
		coretest.AddressableBits(47, 48),
		coretest.Plain("process metadata", []byte(`{"threads":[{"thread_id":77},{"thread_id":990001}]}`)),
	}
	return s
}

// header is how long the load commands and the notes of a core are: where damage is interesting.
func headOf(b []byte) int {
	return min(len(b), 32+int(le.Uint32(b[20:]))+1024)
}

func TestTruncated(t *testing.T) {
	b := whole(t).Bytes()
	use(b)
	for n := 0; n < len(b); n += 1 + n/400 {
		use(b[:n:n])
	}
	c, err := parse(corefile.New("core", b[:len(b)-100:len(b)-100]), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if w := strings.Join(c.Warnings(), ""); !strings.Contains(w, "the core file is truncated: 1 of ") {
		t.Errorf("warnings %q", w)
	}
}

// TestDamaged changes each byte of the header, the load commands and the notes.
func TestDamaged(t *testing.T) {
	for _, listed := range []bool{true, false} {
		core := whole(t)
		if !listed {
			core.Notes = nil // the image is found by a search
		}
		b := core.Bytes()
		for i := range headOf(b) {
			for _, v := range []byte{0, 1, 0x7f, 0x80, 0xff, b[i] ^ 1, b[i] ^ 0x10} {
				old := b[i]
				b[i] = v
				use(b)
				b[i] = old
			}
		}
	}
	b := whole(t).Bytes()
	r := rand.New(rand.NewSource(1))
	for range 3000 {
		d := append([]byte(nil), b...)
		for range 1 + r.Intn(8) {
			d[r.Intn(len(d)>>uint(r.Intn(6)))] = byte(r.Intn(256))
		}
		use(d)
	}
}

func FuzzCore(f *testing.F) {
	f.Add(whole(f).Bytes())
	for _, a := range []*arch.Arch{arch.AMD64, arch.ARM64} {
		f.Add(sample(a).Bytes())
	}
	bare := whole(f)
	bare.Notes = nil
	f.Add(bare.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) { use(data) })
}
