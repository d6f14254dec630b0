package minidump_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"dbg/arch"
	"dbg/target"
	"dbg/target/minidump"
	"dbg/target/minidump/dumptest"
)

// open writes a dump and opens it.
func open(t testing.TB, data []byte, opts minidump.Options) *minidump.Dump {
	t.Helper()
	path := filepath.Join(t.TempDir(), "crash.dmp")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := minidump.Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// context is a kind of context, with the parts that its flags have.
type context struct {
	name      string
	arch      *arch.Arch
	processor uint16
	platform  uint32
	write     func(flags uint32, r *arch.Registers, float []byte) []byte
	// parts lists registers by the flag that covers them.
	parts map[uint32][]arch.Reg
	float uint32 // the flag for floating point
}

func regs(first, n arch.Reg) (out []arch.Reg) {
	for r := first; r < first+n; r++ {
		out = append(out, r)
	}
	return out
}

var contexts = []context{
	{"x64", arch.AMD64, 9, 2, dumptest.AMD64, map[uint32][]arch.Reg{
		1: {arch.RSP, arch.RIP, arch.RFLAGS, arch.CS, arch.SS},
		2: append(regs(8, 8), arch.RAX, arch.RDX, arch.RCX, arch.RBX, arch.RSI, arch.RDI, arch.RBP),
		4: {arch.DS, arch.ES, arch.FS, arch.GS}}, 8},
	{"x86", arch.I386, 0, 2, dumptest.I386, map[uint32][]arch.Reg{1: {5, 8, 41, 9, 4, 42}, 2: {7, 6, 3, 2, 1, 0}, 4: {43,
		40, 44, 45}}, 0x20},
	{"x86 on x64", arch.I386, 10, 2, dumptest.I386, map[uint32][]arch.Reg{1: {5, 8, 41, 9, 4, 42}}, 0x20},
	{"ARM64", arch.ARM64, 12, 2, dumptest.ARM64, map[uint32][]arch.Reg{1: {29, 30, 31, 32, 40}, 2: regs(0, 29)}, 4},
	{"ARM64 of old Breakpad", arch.ARM64, 0x8003, 0x8203, dumptest.OldARM64, map[uint32][]arch.Reg{2: append(regs(0, 33),
		40)}, 4},
	{"ARM", arch.ARM, 5, 2, dumptest.ARM, map[uint32][]arch.Reg{1: {13, 14, 15, 16}, 2: regs(0, 13)}, 4},
	{"ARM of Breakpad", arch.ARM, 5, 0x8203, dumptest.BreakpadARM, map[uint32][]arch.Reg{2: regs(0, 17)}, 4},
}

// random returns random values for all registers of the parts, no larger than the registers.
func (c *context) random(rnd *rand.Rand) arch.Registers {
	r := arch.Registers{Arch: c.arch}
	for _, list := range c.parts {
		for _, reg := range list {
			v := rnd.Uint64()
			switch {
			case c.arch == arch.AMD64 && reg >= arch.ES && reg <= arch.GS:
				v &= 0xffff
			case reg == c.arch.Flags || c.arch.PtrSize == 4:
				v &= 0xffffffff
			}
			r.Set(reg, v)
		}
	}
	return r
}

// TestContexts writes contexts with random registers and flags. Exactly the registers that the flags
// cover are known, and they have their values.
func TestContexts(t *testing.T) {
	for _, c := range contexts {
		t.Run(c.name, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(1, 2))
			for range 60 {
				flags := uint32(rnd.IntN(64)) &^ 0x10
				want := c.random(rnd)
				float := make([]byte, 512)
				for i := range float {
					float[i] = byte(rnd.Uint32())
				}
				dump := dumptest.Dump{System: &dumptest.System{Processor: c.processor, Platform: c.platform},
					Threads: []dumptest.Thread{{ID: 7, Context: c.write(flags, &want, float)}}}
				d := open(t, dump.Bytes(), minidump.Options{})
				if d.Arch() != c.arch {
					t.Fatalf("the processor is %s, want %s", d.Arch().Name, c.arch.Name)
				}
				got, err := d.Registers(7)
				if err != nil {
					t.Fatal(err)
				}
				known := arch.RegSet{}
				for flag, list := range c.parts {
					for _, reg := range list {
						if flags&flag != 0 {
							known.Add(reg)
						}
					}
				}
				have := got.Known()
				for reg := range arch.Reg(arch.MaxRegs) {
					g, _ := got.Get(reg)
					w, _ := want.Get(reg)
					if flags&anyPart(c.parts, reg) == 0 {
						w = 0
					}
					// A context of which only some parts are in the table may have others.
					if flags&anyPart(c.parts, reg) != 0 && (!have.Has(reg) || g != w) {
						t.Fatalf("flags 0x%x: %s is 0x%x (known: %v), want 0x%x", flags, c.arch.RegName(reg), g, have.Has(reg), w)
					}
					if anyPart(c.parts, reg) != 0 && have.Has(reg) != known.Has(reg) {
						t.Fatalf("flags 0x%x: %s known: %v, want %v", flags, c.arch.RegName(reg), have.Has(reg), known.Has(reg))
					}
				}
				c.checkVectors(t, d, flags, float)
				d.Close()
			}
		})
	}
}

// anyPart returns the flag that covers a register, or 0.
func anyPart(parts map[uint32][]arch.Reg, reg arch.Reg) uint32 {
	for flag, list := range parts {
		for _, r := range list {
			if r == reg {
				return flag
			}
		}
	}
	return 0
}

// checkVectors compares the vector registers with what was written.
func (c *context) checkVectors(t *testing.T, d *minidump.Dump, flags uint32, float []byte) {
	t.Helper()
	first, n, off, size := arch.Reg(64), 32, 0, 16 // V0 to V31
	switch c.arch {
	case arch.AMD64:
		first, n, off = arch.XMM0, 16, 160
	case arch.I386:
		first, n, off = 21, 8, 160
	case arch.ARM:
		size = 8
	}
	for i := range n {
		got, err := d.WideRegister(7, first+arch.Reg(i))
		want := float[off+i*size:][:size]
		if known := flags&c.float != 0; known != (err == nil) || known && !bytes.Equal(got, want) {
			t.Fatalf("flags 0x%x: vector %d is %x (%v), want %x", flags, i, got, err, want)
		}
	}
}

// TestAVX reads the upper halves of AVX registers, which follow the context.
func TestAVX(t *testing.T) {
	r := arch.Registers{Arch: arch.AMD64}
	float, upper := bytes.Repeat([]byte{1}, 512), bytes.Repeat([]byte{2}, 256)
	whole := dumptest.WithAVX(dumptest.AMD64(15, &r, float), 48, upper)
	dump := dumptest.Dump{System: &dumptest.System{Processor: 9, Platform: 2}, Threads: []dumptest.Thread{{ID: 7,
		Context: whole},
		{ID: 8, Context: whole[:1232+32+64+100]}}}
	d := open(t, dump.Bytes(), minidump.Options{})
	got, err := d.WideRegister(7, arch.XMM0+15)
	if want := append(bytes.Repeat([]byte{1}, 16), bytes.Repeat([]byte{2}, 16)...); err != nil || !bytes.Equal(got, want) {
		t.Errorf("ymm15 is %x (%v), want %x", got, err, want)
	}
	if got, err = d.WideRegister(8, arch.XMM0+15); err != nil || len(got) != 16 {
		t.Errorf("of a cut area: %x (%v), want 16 bytes", got, err)
	}
}

// TestForeignContext: registers of a context whose flags name another processor are unknown.
func TestForeignContext(t *testing.T) {
	r := arch.Registers{Arch: arch.AMD64}
	r.Set(arch.RIP, 0x1234)
	dump := dumptest.Dump{System: &dumptest.System{Processor: 0, Platform: 2},
		Threads: []dumptest.Thread{{ID: 7, Context: dumptest.AMD64(15, &r, nil)}, {ID: 8}}}
	d := open(t, dump.Bytes(), minidump.Options{})
	for _, id := range []target.ThreadID{7, 8} {
		got, err := d.Registers(id)
		if set := got.Known(); err != nil || set.Len() != 0 {
			t.Errorf("thread %d has %d known registers (%v), want none", id, set.Len(), err)
		}
	}
	expectWarnings(t, d, "1 of 2 threads have no registers in the minidump",
		"1 of 2 threads have registers of another processor, or damaged ones")
}

// TestProcessorFromContext: without system information the context shows the processor.
func TestProcessorFromContext(t *testing.T) {
	for _, c := range contexts {
		want := c.random(rand.New(rand.NewPCG(3, 4)))
		dump := dumptest.Dump{Threads: []dumptest.Thread{{ID: 7, Context: c.write(15, &want, nil)}}}
		d := open(t, dump.Bytes(), minidump.Options{})
		if got, _ := d.Registers(7); d.Arch() != c.arch {
			t.Errorf("%s: the processor is %s", c.name, d.Arch().Name)
		} else if pc, known := got.PC(); !known {
			t.Errorf("%s: PC is 0x%x, known: %v", c.name, pc, known)
		}
	}
}

// expectWarnings compares a dump's warnings.
func expectWarnings(t testing.TB, d *minidump.Dump, want ...string) {
	t.Helper()
	got := d.Warnings()
	if len(got) != len(want) {
		t.Errorf("warnings %q, want %q", got, want)
		return
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("warning %q, want %q", got[i], want[i])
		}
	}
}
