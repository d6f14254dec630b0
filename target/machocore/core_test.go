package machocore

import (
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/internal/fixture"
	"dbg/target"
	"dbg/target/machocore/coretest"
)

// write puts a core into a file.
func write(t testing.TB, c *coretest.Core) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "core")
	if err := os.WriteFile(path, c.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// open writes a core and opens it.
func open(t testing.TB, c *coretest.Core, o Options) *Core {
	t.Helper()
	core, err := Open(write(t, c), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = core.Close() })
	return core
}

// general makes a general state whose registers are 0x1001, 0x1002... by slot.
func general(a *arch.Arch) *arch.Registers {
	r := &arch.Registers{Arch: a}
	for _, reg := range a.General {
		r.Set(reg, 0x1001+uint64(reg))
	}
	return r
}

// sample is a core with a bit of everything.
func sample(a *arch.Arch) *coretest.Core {
	c := &coretest.Core{Arch: a, Platform: 1}
	c.Segments = []coretest.Segment{
		{Addr: 0x10000, Prot: 5, Data: []byte("sixteen bytes...")},
		{Addr: 0x20000, Size: 0x1000, Prot: 3, Data: []byte("and as many here")},
	}
	exception := coretest.X86Exception(14, 6, 0x1234)
	var xmm [16][16]byte
	xmm[3] = [16]byte{1, 2, 3}
	float := coretest.X86Float(xmm)
	if a == arch.ARM64 {
		var v [32][16]byte
		v[3] = [16]byte{1, 2, 3}
		exception, float = coretest.ARMException(0x1234, 0x24<<26|1<<25|0x46), coretest.NEON(v)
	}
	c.Threads = []coretest.Thread{{coretest.General(general(a)), float}, {coretest.General(general(a)), float, exception}}
	return c
}

func TestRegisters(t *testing.T) {
	for _, a := range []*arch.Arch{arch.AMD64, arch.ARM64, arch.I386} {
		t.Run(a.Name, func(t *testing.T) {
			s := sample(a)
			if a == arch.I386 {
				s.Threads = []coretest.Thread{{coretest.General(general(a))}}
			}
			c := open(t, s, Options{})
			if w := c.Warnings(); len(w) > 0 {
				t.Errorf("warnings %q", w)
			}
			if got := c.Platform(); got != "macOS 14.5" {
				t.Errorf("platform %q", got)
			}
			r, err := c.Registers(1)
			if err != nil {
				t.Fatal(err)
			}
			missing := map[arch.Reg]bool{}
			if a == arch.AMD64 { // the state has neither
				for _, reg := range []arch.Reg{arch.SS, arch.DS, arch.ES, arch.FSBase, arch.GSBase} {
					missing[reg] = true
				}
			}
			for _, reg := range a.General {
				v, known := r.Get(reg)
				if known == missing[reg] || known && v != 0x1001+uint64(reg) {
					t.Errorf("%s is %#x (known: %v)", a.RegName(reg), v, known)
				}
			}
			if _, err := c.Registers(7); err != target.ErrNoThread {
				t.Errorf("thread 7: %v", err)
			}
			wide := map[*arch.Arch]arch.Reg{arch.AMD64: arch.XMM0 + 3, arch.ARM64: 67}[a]
			if wide != 0 {
				if b, err := c.WideRegister(1, wide); err != nil || hex.EncodeToString(b) != "01020300000000000000000000000000" {
					t.Errorf("vector register 3: % x, %v", b, err)
				}
			}
			if _, err := c.WideRegister(1, 5); err != target.ErrNoRegister {
				t.Errorf("register 5 is no vector: %v", err)
			}
		})
	}
}

// TestUnions: the kernel's states say what is in them.
func TestUnions(t *testing.T) {
	for _, c := range []struct {
		a             *arch.Arch
		thread, extra uint32
	}{{arch.AMD64, 7, 9}, {arch.I386, 7, 0}, {arch.ARM64, 1, 0}} {
		thread := coretest.Thread{coretest.InUnion(c.thread, coretest.General(general(c.a)))}
		if c.extra != 0 {
			thread = append(thread, coretest.InUnion(c.extra, coretest.X86Exception(14, 4, 0x77)))
		}
		core := open(t, &coretest.Core{Arch: c.a, Threads: []coretest.Thread{thread}}, Options{})
		r, err := core.Registers(1)
		if pc, ok := r.PC(); err != nil || !ok || pc != 0x1001+uint64(c.a.PC) {
			t.Errorf("%s: PC %#x, %v, %v", c.a.Name, pc, ok, err)
		}
		if sig := core.Threads()[0].Signal; c.extra != 0 && (sig == nil || sig.Number != sigSEGV || sig.Addr != 0x77) {
			t.Errorf("%s: signal %+v", c.a.Name, sig)
		}
	}
}

func TestAVX(t *testing.T) {
	state := make([]byte, 844)
	state[8+160+16*2], state[588+16*2] = 1, 2
	c := open(t, &coretest.Core{Arch: arch.AMD64, Threads: []coretest.Thread{{coretest.General(general(arch.AMD64)), {Flavor: 17, Data: state}}}}, Options{})
	if b, err := c.WideRegister(1, arch.XMM0+2); err != nil || len(b) != 32 || b[0] != 1 || b[16] != 2 {
		t.Errorf("% x, %v", b, err)
	}
}

func TestMemory(t *testing.T) {
	c := open(t, sample(arch.AMD64), Options{})
	b := make([]byte, 32)
	var me *target.MemoryError
	n, err := c.ReadMemory(0x10008, b)
	if n != 8 || !errors.As(err, &me) || me.Addr != 0x10010 || me.Why != "not in the core file" || string(b[:8]) != "bytes..." {
		t.Errorf("%d bytes, %v", n, err)
	}
	// What the segment lacks is not zero.
	if n, err := c.ReadMemory(0x20000, b); n != 16 || err == nil {
		t.Errorf("%d bytes, %v", n, err)
	}
	if n, err := c.ReadMemory(0x20010, b); n != 0 || err == nil {
		t.Errorf("%d bytes, %v", n, err)
	}
	if n, err := c.ReadMemory(0xffffffffffffffff, b); n != 0 || err == nil {
		t.Errorf("%d bytes, %v", n, err)
	}
	if n, err := c.ReadMemory(0x5, nil); n != 0 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
	maps, err := c.Mappings()
	if err != nil || len(maps) != 2 || maps[0].Lo != 0x10000 || maps[0].Hi != 0x10010 || maps[0].Exec != target.Allowed || maps[0].Write != target.Denied || maps[1].Write != target.Allowed || maps[1].Hi != 0x21000 {
		t.Errorf("%+v, %v", maps, err)
	}
	if _, err := c.WriteMemory(0x10000, b); err != target.ErrReadOnly {
		t.Error(err)
	}
	if err := c.SetRegister(1, 0, 0); err != target.ErrReadOnly {
		t.Error(err)
	}
	_ = c.Close()
	if n, err := c.ReadMemory(0x10000, b); n != 0 || err == nil {
		t.Errorf("closed: %d bytes, %v", n, err)
	}
}

func TestSignals(t *testing.T) {
	const data = 0x24<<26 | 1<<25
	for _, c := range []struct {
		name   string
		a      *arch.Arch
		state  coretest.State
		number int
		code   int
		addr   target.Addr
	}{
		{"nothing mapped", arch.AMD64, coretest.X86Exception(14, 6, 0x1234), 11, 1, 0x1234},
		{"write to code", arch.AMD64, coretest.X86Exception(14, 7, 0x10004), 7, 2, 0x10004},
		{"fault in the kernel", arch.AMD64, coretest.X86Exception(14, 0, 0x1234), 0, 0, 0},
		{"system call", arch.AMD64, coretest.X86Exception(133, 0x2000004, 0), 0, 0, 0},
		{"never written", arch.AMD64, coretest.X86Exception(0, 0, 0), 0, 0, 0},
		{"int3", arch.AMD64, coretest.X86Exception(3, 0, 0), 5, 1, 0},
		{"ud2", arch.AMD64, coretest.X86Exception(6, 0, 0), 4, 1, 0},
		{"general protection", arch.AMD64, coretest.X86Exception(13, 0, 0), 11, 0x80, 0},
		{"translation fault", arch.ARM64, coretest.ARMException(0x1234, data|0x46), 11, 1, 0x1234},
		{"permission fault", arch.ARM64, coretest.ARMException(0x5678, data|0x4f), 7, 2, 0x5678},
		{"alignment", arch.ARM64, coretest.ARMException(0x5679, data|0x21), 7, 1, 0x5679},
		{"brk", arch.ARM64, coretest.ARMException(0, 0xf2000001), 5, 1, 0},
		{"undefined", arch.ARM64, coretest.ARMException(0, 0x02000000), 4, 1, 0},
		{"svc", arch.ARM64, coretest.ARMException(0, 0x56000080), 0, 0, 0},
		{"never written", arch.ARM64, coretest.ARMException(0, 0), 0, 0, 0},
	} {
		s := sample(c.a)
		s.Threads = []coretest.Thread{{coretest.General(general(c.a))}, {coretest.General(general(c.a)), c.state}}
		threads := open(t, s, Options{}).Threads()
		var got target.SignalInfo
		if sig := threads[0].Signal; sig != nil {
			got = *sig
		}
		if got.Number != c.number || got.Code != c.code || got.Addr != c.addr {
			t.Errorf("%s, %s: %+v", c.a.Name, c.name, got)
		}
		first := target.ThreadID(1)
		if c.number != 0 {
			first = 2 // that which died
		}
		if len(threads) != 2 || threads[0].ID != first || threads[1].Signal != nil {
			t.Errorf("%s, %s: threads %+v", c.a.Name, c.name, threads)
		}
	}
	// A division: only the instruction tells it from a state that was never written.
	r := general(arch.AMD64)
	r.Set(arch.RIP, 0x10000)
	s := &coretest.Core{Arch: arch.AMD64, Segments: []coretest.Segment{{Addr: 0x10000, Prot: 5, Data: []byte{0x48, 0xf7, 0xf9, 0x90}}},
		Threads: []coretest.Thread{{coretest.General(r), coretest.X86Exception(0, 0, 0)}}}
	if sig := open(t, s, Options{}).Threads()[0].Signal; sig == nil || sig.Number != 8 || sig.Code != 1 {
		t.Errorf("idiv: %+v", sig)
	}
}

func TestThreadIDs(t *testing.T) {
	for _, c := range []struct {
		json    string
		want    []target.ThreadID
		warning string
	}{
		{`{"threads":[{"thread_id":77},{"thread_id":990001}]}`, []target.ThreadID{77, 990001}, ""},
		{"{\"threads\":[{\"thread_id\":77},{\"thread_id\":78}]}\x00\x00", []target.ThreadID{77, 78}, ""},
		{`{"threads":[{"thread_id":77}]}`, []target.ThreadID{1, 2}, "lists 1 threads"},
		{`{"threads":[{"thread_id":77},{"thread_id":77}]}`, []target.ThreadID{1, 2}, "no usable thread ids"},
		{`{"threads":[{"thread_id":77},{}]}`, []target.ThreadID{1, 2}, "no usable thread ids"},
		{`{"threads":[{"thread_id":1e99},{"thread_id":4}]}`, []target.ThreadID{1, 2}, "no usable thread ids"},
		{`{"threads":`, []target.ThreadID{1, 2}, "can't be parsed"},
		{`{}`, []target.ThreadID{1, 2}, ""},
	} {
		s := sample(arch.AMD64)
		s.Threads[1] = s.Threads[0]
		s.Notes = []coretest.Note{coretest.Plain("process metadata", []byte(c.json)), coretest.Plain("kern ver str", []byte("Darwin"))}
		core := open(t, s, Options{})
		threads := core.Threads()
		if len(threads) != 2 || threads[0].ID != c.want[0] || threads[1].ID != c.want[1] {
			t.Errorf("%s: %+v", c.json, threads)
		}
		if w := strings.Join(core.Warnings(), "\n"); (w == "") != (c.warning == "") || !strings.Contains(w, c.warning) {
			t.Errorf("%s: warnings %q", c.json, w)
		}
	}
}

func TestAddressableBits(t *testing.T) {
	for _, c := range []struct {
		note      []coretest.Note
		pc, want  uint64
		highAlone bool
	}{
		{nil, 0x007f_8001_0000_4000, 0x0000_0001_0000_4000, false}, // 47 bits if nothing is said
		{[]coretest.Note{coretest.AddressableBits(39, 39)}, 0x007f_8081_0000_4000, 0x1_0000_4000, false},
		{[]coretest.Note{coretest.AddressableBits(39, 41)}, 0x00ff_1281_0000_4000, 0xffff_fe81_0000_4000, false},
		{[]coretest.Note{coretest.AddressableBits(48, 48)}, 0x0012_8081_0000_4000, 0x8081_0000_4000, false},
	} {
		r := general(arch.ARM64)
		for _, reg := range []arch.Reg{28, 29, 30, 31, 32} {
			r.Set(reg, c.pc)
		}
		s := &coretest.Core{Arch: arch.ARM64, Subtype: 2, Notes: c.note, Threads: []coretest.Thread{{coretest.General(r)}}}
		got, err := open(t, s, Options{}).Registers(1)
		if err != nil {
			t.Fatal(err)
		}
		for _, reg := range []arch.Reg{29, 30, 31, 32} {
			if v, _ := got.Get(reg); v != c.want {
				t.Errorf("%s is %#x, want %#x", arch.ARM64.RegName(reg), v, c.want)
			}
		}
		if v, _ := got.Get(28); v != c.pc {
			t.Errorf("x28 is %#x: it may be no address", v)
		}
	}
}

func TestNotACore(t *testing.T) {
	dir := t.TempDir()
	files := map[string][]byte{"empty": nil, "plain": []byte("hello"), "elf": []byte("\x7fELF\x02\x01\x01                "),
		"big-endian": []byte("\xfe\xed\xfa\xcf\x01\x00\x00\x07                          "), "short": []byte("\xcf\xfa\xed\xfe\x07\x00\x00\x01")}
	for name, data := range files {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path, Options{}); !errors.Is(err, ErrNotCore) {
			t.Errorf("%s: %v", name, err)
		}
		if ok, _ := IsCore(path); ok {
			t.Errorf("IsCore(%s)", name)
		}
	}
	for _, path := range []string{dir, fixture.MachO(t, crash, "x86_64", "-O1")} {
		if _, err := Open(path, Options{}); !errors.Is(err, ErrNotCore) {
			t.Errorf("%s: %v", path, err)
		}
		if ok, _ := IsCore(path); ok {
			t.Errorf("IsCore(%s)", path)
		}
	}
	if _, err := Open(filepath.Join(dir, "none"), Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	b := sample(arch.ARM64).Bytes()
	le.PutUint32(b[4:], 18)
	path := filepath.Join(dir, "ppc")
	_ = os.WriteFile(path, b, 0o600)
	if _, err := Open(path, Options{}); err == nil || !strings.Contains(err.Error(), "ppc") {
		t.Error(err)
	}
	if ok, err := IsCore(write(t, sample(arch.AMD64))); !ok || err != nil {
		t.Errorf("IsCore: %v, %v", ok, err)
	}
}

// crash is the fixture's name for testdata/crash.c.
const crash = "../target/machocore/testdata/crash.c"
