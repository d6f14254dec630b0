package elfcore

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"dbg/arch"
	"dbg/image/elfheader"
	"dbg/internal/fixture"
	"dbg/target"
	"dbg/target/corefile"
)

var scratch string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "elfcore-test")
	if err != nil {
		panic(err)
	}
	scratch = dir
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// crash compiles testdata/crash.c once.
var crash = sync.OnceValues(func() (string, error) {
	path := filepath.Join(scratch, "crash")
	out, err := exec.Command("gcc", "-g", "-O1", "-pthread", "-no-pie", "-Wl,--build-id", "-o", path, "testdata/crash.c").CombinedOutput()
	if err != nil {
		return "", errors.New(string(out))
	}
	return path, nil
})

// kernelCore has the kernel write a core.
var kernelCore = sync.OnceValues(func() (string, error) {
	exe, err := crash()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(scratch, "kernel")
	if err := os.Mkdir(dir, 0755); err != nil {
		return "", err
	}
	cmd := exec.Command("sh", "-c", "ulimit -c unlimited; exec "+exe)
	cmd.Dir = dir
	_ = cmd.Run()
	found, _ := filepath.Glob(filepath.Join(dir, "core*"))
	if len(found) != 1 {
		return "", errors.New("the kernel writes its cores elsewhere (kernel.core_pattern)")
	}
	return found[0], nil
})

func openKernelCore(t testing.TB, o Options) *Core {
	t.Helper()
	path, err := kernelCore()
	if err != nil {
		fixture.Missing(t, err)
	}
	c, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func symbol(t testing.TB, path, name string) target.Addr {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	syms, _ := f.Symbols()
	for _, s := range syms {
		if s.Name == name {
			return target.Addr(s.Value)
		}
	}
	t.Fatalf("no symbol %s", name)
	return 0
}

func text(t testing.TB, c *Core, a target.Addr) string {
	t.Helper()
	b := make([]byte, 64)
	if _, err := c.ReadMemory(a, b); err != nil {
		t.Fatal(err)
	}
	s, _, _ := strings.Cut(string(b), "\x00")
	return s
}

func checkCrash(t *testing.T, c *Core, dead bool) {
	exe, _ := crash()
	if w := c.Warnings(); len(w) != 0 {
		t.Errorf("warnings %q", w)
	}
	if c.Exe() != exe {
		t.Errorf("exe %q, want %q", c.Exe(), exe)
	}
	for name, want := range map[string]string{"marked": "written in data", "constant": "constant in a file", "zeroed": "written in bss"} {
		if got := text(t, c, symbol(t, exe, name)); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	// Code comes from the file.
	f, _ := elf.Open(exe)
	defer f.Close()
	s := f.Section(".text")
	want, _ := s.Data()
	got := make([]byte, len(want))
	if n, err := c.ReadMemory(target.Addr(s.Addr), got); err != nil || !bytes.Equal(got, want) {
		t.Errorf(".text: %d bytes, %v", n, err)
	}
	if v, ok := c.Auxv(9); !ok || v != f.Entry {
		t.Errorf("AT_ENTRY %#x, want %#x", v, f.Entry)
	}
	maps, err := c.Mappings()
	if err != nil || len(maps) < 10 {
		t.Fatalf("%d mappings, %v", len(maps), err)
	}
	a := symbol(t, exe, "main")
	found := false
	for i, m := range maps {
		if i > 0 && m.Lo < maps[i-1].Hi {
			t.Errorf("%v is not above %v", m, maps[i-1])
		}
		if a >= m.Lo && a < m.Hi {
			found = m.Path == exe && m.Exec == target.Allowed && m.Read == target.Allowed && m.Write == target.Denied
		}
	}
	if !found {
		t.Errorf("no mapping for main in %+v", maps)
	}
	if !dead {
		return
	}
	threads := c.Threads()
	if len(threads) != 2 {
		t.Fatalf("threads %+v", threads)
	}
	sig := threads[0].Signal
	if sig == nil || sig.Number != 11 || sig.Addr != 0x1234 || !sig.HasAddr {
		t.Errorf("signal %+v", sig)
	}
	if int(threads[0].ID) == c.PID() || int(threads[1].ID) != c.PID() || threads[1].Name != "crash" {
		t.Errorf("threads %+v of %d", threads, c.PID())
	}
	r, err := c.Registers(threads[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	pc, _ := r.PC()
	di, _ := r.Get(arch.RDI)
	if at := symbol(t, exe, "crash"); target.Addr(pc) < at || target.Addr(pc) > at+32 || di != 0x1234 {
		t.Errorf("PC %#x, rdi %#x", pc, di)
	}
	if b, err := c.WideRegister(threads[0].ID, arch.XMM0); err != nil || len(b) < 16 {
		t.Errorf("xmm0: % x, %v", b, err)
	}
	if b, err := c.WideRegister(threads[1].ID, arch.ST0); err != nil || len(b) != 10 {
		t.Errorf("st0: % x, %v", b, err)
	}
}

func TestKernelCore(t *testing.T) {
	c := openKernelCore(t, Options{})
	checkCrash(t, c, true)
	var me *target.MemoryError
	if n, err := c.ReadMemory(0x10, make([]byte, 8)); n != 0 || !errors.As(err, &me) || me.Why != "not in the core file" {
		t.Errorf("%d, %v", n, err)
	}
	if err := c.SetRegister(1, 0, 0); err != target.ErrReadOnly {
		t.Error(err)
	}
	if ok, err := IsCore(c.base.Path()); !ok || err != nil {
		t.Errorf("IsCore: %v %v", ok, err)
	}
}

func TestGDBCore(t *testing.T) {
	fixture.Need(t, "gdb")
	exe, err := crash()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "gdb.core")
	out, err := exec.Command("gdb", "-batch", "-nx", "-ex", "run", "-ex", "generate-core-file "+path, "-ex", "kill", exe).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	c, err := Open(path, Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	defer c.Close()
	checkCrash(t, c, true)
}

func TestOtherProgram(t *testing.T) {
	exe, err := crash()
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other")
	src := other + ".c"
	_ = os.WriteFile(src, []byte("int main(void){return 0;}"), 0644)
	if out, err := exec.Command("gcc", "-no-pie", "-Wl,--build-id", "-o", other, src).CombinedOutput(); err != nil {
		t.Fatal(string(out))
	}
	c := openKernelCore(t, Options{Exe: other})
	if w := strings.Join(c.Warnings(), "\n"); !strings.Contains(w, "is not the program of this core (build id ") {
		t.Errorf("warnings %q", w)
	}
	if _, err := c.ReadMemory(symbol(t, exe, "constant"), make([]byte, 8)); err == nil {
		t.Error("bytes of another program")
	}
	c = openKernelCore(t, Options{FindFile: func(path, id string) string {
		if path == exe && len(id) == 40 {
			return other
		}
		return ""
	}})
	if _, err := c.ReadMemory(symbol(t, exe, "constant"), make([]byte, 8)); err == nil {
		t.Error("bytes of another file")
	}
	if w := strings.Join(c.Warnings(), "\n"); !strings.Contains(w, "is not the file that was mapped in the core") {
		t.Errorf("warnings %q", w)
	}
}

func TestNotACore(t *testing.T) {
	exe, err := crash()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty")
	_ = os.WriteFile(empty, nil, 0644)
	plain := filepath.Join(dir, "plain")
	_ = os.WriteFile(plain, []byte("hello"), 0644)
	for _, path := range []string{exe, empty, plain, dir} {
		_, err := Open(path, Options{})
		if !errors.Is(err, ErrNotCore) {
			t.Errorf("%s: %v", path, err)
		}
		t.Log(err)
		if ok, _ := IsCore(path); ok {
			t.Errorf("IsCore(%s)", path)
		}
	}
	if _, err := Open(filepath.Join(dir, "none"), Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// use does with a core what a debugger would.
func use(data []byte) {
	c, err := parse(corefile.New("fuzz", data), Options{FindFile: func(string, string) string { return "/dev/null/none" }})
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
	for i, m := range maps {
		if i > 100 {
			break
		}
		_, _ = c.ReadMemory(m.Lo, buf)
		_, _ = c.ReadMemory(m.Hi-5, buf)
	}
	_, _ = c.Auxv(9)
	_ = c.Warnings()
}

// small returns the head of a real core, notes included, in which the damage is
// interesting.
func small(t testing.TB) []byte {
	path, err := kernelCore()
	if err != nil {
		fixture.Missing(t, err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestTruncated(t *testing.T) {
	b := small(t)
	for n := 0; n < len(b); n += 1 + n/500 {
		use(b[:n:n])
	}
	c, err := parse(corefile.New("core", b[:len(b)/2:len(b)/2]), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if w := strings.Join(c.Warnings(), ""); !strings.Contains(w, "the core file is truncated: ") {
		t.Errorf("warnings %q", w)
	}
}

func TestDamaged(t *testing.T) {
	b := small(t)
	head := min(len(b), 24<<10)
	r := rand.New(rand.NewSource(1))
	for range 5000 {
		d := append([]byte(nil), b[:head]...)
		for range 1 + r.Intn(8) {
			d[r.Intn(len(d)>>uint(r.Intn(6)))] = byte(r.Intn(256))
		}
		use(d)
	}
}

func FuzzCore(f *testing.F) {
	b := small(f)
	f.Add(b[:min(len(b), 24<<10)])
	for _, m := range []elf.Machine{elf.EM_386, elf.EM_AARCH64, elf.EM_ARM, elf.EM_RISCV, elf.EM_X86_64} {
		f.Add(synthetic(m, 2))
	}
	f.Fuzz(func(t *testing.T, data []byte) { use(data) })
}

// synthetic makes a core of another architecture: n threads, whose registers
// are 1, 2, 3... in the kernel's order, and a page of memory at 0x10000.
func synthetic(m elf.Machine, n int) []byte {
	names := map[elf.Machine]string{elf.EM_386: "386", elf.EM_ARM: "arm", elf.EM_AARCH64: "arm64", elf.EM_RISCV: "riscv64", elf.EM_X86_64: "amd64"}
	a := arch.ByName(names[m])
	le := binary.LittleEndian
	ptr, reg := a.PtrSize, a.PtrSize
	if m == elf.EM_X86_64 {
		ptr = 4 // x32
	}
	word := func(b []byte, v uint64) []byte {
		if ptr == 8 {
			return le.AppendUint64(b, v)
		}
		return le.AppendUint32(b, uint32(v))
	}
	var nt []byte
	pid, regs := 24, 72
	if ptr == 8 {
		pid, regs = 32, 112
	}
	for i := range n {
		desc := make([]byte, regs)
		desc[12] = 11
		desc[pid] = byte(100 + i)
		for j := range len(a.User) {
			if desc = word(desc, uint64(j+1)); reg > ptr {
				desc = append(desc, 0, 0, 0, 0)
			}
		}
		desc = append(desc, 0, 0, 0, 0)
		nt = le.AppendUint32(le.AppendUint32(le.AppendUint32(nt, 5), uint32(len(desc))), ntPRSTATUS)
		nt = append(append(nt, "CORE\x00\x00\x00\x00"...), desc...)
	}
	if m == elf.EM_AARCH64 { // NT_ARM_PAC_MASK of a kernel whose addresses have 39 bits
		nt = le.AppendUint32(le.AppendUint32(le.AppendUint32(nt, 6), 16), ntPACMask)
		nt = append(nt, "LINUX\x00\x00\x00"...)
		nt = le.AppendUint64(le.AppendUint64(nt, 0x007fff8000000000), 0x007fff8000000000)
	}
	out := make([]byte, 16)
	copy(out, elf.ELFMAG)
	out[4], out[5], out[6] = byte(ptr/4), 1, 1
	out = le.AppendUint16(le.AppendUint16(out, uint16(elf.ET_CORE)), uint16(m))
	ehsize, phsize := 52, 32
	if ptr == 8 {
		ehsize, phsize = 64, 56
	}
	out = le.AppendUint32(out, 1)
	out = word(word(word(out, 0), uint64(ehsize)), 0)
	out = le.AppendUint32(out, 0)
	for _, v := range []int{ehsize, phsize, 2, 0, 0, 0} {
		out = le.AppendUint16(out, uint16(v))
	}
	header := func(kind, flags uint32, off, addr, filesz, memsz uint64) {
		out = le.AppendUint32(out, kind)
		if ptr == 8 {
			out = le.AppendUint32(out, flags)
		}
		for _, v := range []uint64{off, addr, 0, filesz, memsz} {
			out = word(out, v)
		}
		if ptr == 4 {
			out = le.AppendUint32(out, flags)
		}
		out = word(out, 4)
	}
	at := uint64(ehsize + 2*phsize)
	header(uint32(elf.PT_NOTE), 0, at, 0, uint64(len(nt)), 0)
	header(uint32(elf.PT_LOAD), 6, at+uint64(len(nt)), 0x10000, 16, 4096)
	return append(append(out, nt...), "sixteen bytes...."[:16]...)
}

func TestOtherArchitectures(t *testing.T) {
	for m, want := range map[elf.Machine]map[string]uint64{
		elf.EM_386:     {"ebx": 1, "eax": 7, "eip": 13, "esp": 16, "ss": 17, "eflags": 15},
		elf.EM_ARM:     {"r0": 1, "sp": 14, "pc": 16, "cpsr": 17},
		elf.EM_AARCH64: {"x0": 1, "x30": 31, "sp": 32, "pc": 33, "cpsr": 34},
		elf.EM_RISCV:   {"pc": 1, "ra": 2, "t6": 32, "zero": 0},
		elf.EM_X86_64:  {"r15": 1, "rbx": 6, "rip": 17, "rsp": 20}, // x32
	} {
		c, err := parse(corefile.New("synthetic", synthetic(m, 3)), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if w := c.Warnings(); len(w) > 0 {
			t.Errorf("%v: %q", m, w)
		}
		if got, want := c.CodeBits(), map[elf.Machine]uint8{elf.EM_AARCH64: 39}[m]; got != want {
			t.Errorf("%v: addresses of code have %d bits, want %d", m, got, want)
		}
		threads := c.Threads()
		if len(threads) != 3 || threads[0].ID != 100 || threads[0].Signal == nil || threads[0].Signal.Number != 11 {
			t.Fatalf("%v: threads %+v", m, threads)
		}
		r, err := c.Registers(100)
		if err != nil {
			t.Fatal(err)
		}
		for name, v := range want {
			reg, ok := c.Arch().RegByName(name)
			if got, known := r.Get(reg); !ok || !known || got != v {
				t.Errorf("%v: %s is %d (%v), want %d", m, name, got, known, v)
			}
		}
		b := make([]byte, 32)
		if n, err := c.ReadMemory(0x10000, b); n != 16 || err == nil || string(b[:16]) != "sixteen bytes..." {
			t.Errorf("%v: %d %v", m, n, err)
		}
	}
	b := synthetic(elf.EM_ARM, 1)
	b[18] = 8 // MIPS
	if _, err := parse(corefile.New("mips", b), Options{}); err == nil || !strings.Contains(err.Error(), "MIPS") {
		t.Error(err)
	}
}

// TestShortStatus: gdb on x86-64 writes a riscv64 thread's status with 27 of its 32 registers. The others are not known.
func TestShortStatus(t *testing.T) {
	c := &Core{base: corefile.New("status", nil), arch: arch.RISCV64, head: elfheader.Header{Order: binary.LittleEndian, Machine: elf.EM_RISCV, Wide: true}}
	b := make([]byte, 112)
	b[32] = 7
	for i := range uint64(27) {
		b = binary.LittleEndian.AppendUint64(b, i+1)
	}
	c.readStatus(append(b, 0, 0, 0, 0, 0, 0, 0, 0))
	r, err := c.Registers(7)
	if err != nil {
		t.Fatal(err)
	}
	if pc, ok := r.PC(); !ok || pc != 1 {
		t.Errorf("pc is %d, %t", pc, ok)
	}
	if v, ok := r.Get(26); !ok || v != 27 {
		t.Errorf("x26 is %d, %t", v, ok)
	}
	for reg := arch.Reg(27); reg < 32; reg++ {
		if v, ok := r.Get(reg); ok {
			t.Errorf("x%d is %d", reg, v)
		}
	}
	if len(c.Warnings()) != 1 {
		t.Errorf("%q", c.Warnings())
	}
}
