package session_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"dbg/arch"
	"dbg/image"
	"dbg/internal/fixture"
	"dbg/session"
	"dbg/target"
	"dbg/target/machocore/coretest"
	"dbg/target/ptrace"
)

// The tests of this file open Mach-O cores that are made of real registers and memory: a library for macOS is mapped into a
// process (testdata/macho/loader.c), crashes, and is written as a core. What its functions have noted about themselves is the truth.

const crashSource = "../target/machocore/testdata/crash.c"

// crashed is a process that died in a Mach-O library, and what it knew of itself.
type crashed struct {
	file   string // the library
	base   uint64 // where it is mapped
	uuid   string
	core   coretest.Core // without notes
	chains [][]call      // innermost first; for each thread
	blind  bool          // the functions' PCs and CFAs are not known
}

// call is one function of a chain: where it is, and its CFA.
type call struct {
	function string
	pc, cfa  uint64
}

// crashIn runs the library until it crashes.
func crashIn(t *testing.T, flags ...string) *crashed {
	t.Helper()
	loader := fixture.Build(t, "macho/loader.c", "-O1", "-rdynamic", "-Wl,--no-as-needed", "-lstdc++", "-lgcc_s", "-ldl")
	c := &crashed{file: fixture.MachO(t, crashSource, "x86_64", append([]string{"link:-no_fixup_chains"}, flags...)...), blind: slices.Contains(flags, "-DBLIND")}
	p, err := ptrace.Launch(ptrace.LaunchOptions{Path: loader, Args: []string{c.file, "_run", "3"}, Env: []string{"LC_ALL=C"}, Stdout: os.Stderr, Stderr: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.Resume(target.Resume{}); err != nil {
		t.Fatal(err)
	}
	died := target.ThreadID(0)
	for late := time.After(time.Minute); died == 0; {
		select {
		case e := <-p.Events():
			if e.Kind == target.Stopped && e.Reason == target.Signalled && e.Signal.Number == 11 {
				died = e.Thread
			} else if e.Kind == target.Stopped || e.Kind == target.Exited || e.Kind == target.Killed {
				t.Fatalf("%+v", e)
			}
		case <-late:
			t.Fatal("the library does not crash")
		}
	}
	c.dump(t, p, died)
	return c
}

// dump makes the core.
func (c *crashed) dump(t *testing.T, p *ptrace.Process, died target.ThreadID) {
	t.Helper()
	c.core = coretest.Core{Arch: arch.AMD64, Subtype: 3, Platform: 1}
	maps, err := p.Mappings()
	if err != nil {
		t.Fatal(err)
	}
	read := func(a target.Addr, n uint64) []byte {
		b := make([]byte, n)
		got, _ := p.ReadMemory(a, b)
		return b[:got]
	}
	for _, m := range maps {
		if m.Path == c.file && c.base == 0 {
			c.base = uint64(m.Lo)
		}
		var prot uint32
		for i, has := range []target.Permission{m.Read, m.Write, m.Exec} {
			if has == target.Allowed {
				prot |= 1 << i
			}
		}
		if m.Read == target.Allowed && m.Hi-m.Lo < 64<<20 {
			c.core.Segments = append(c.core.Segments, coretest.Segment{Addr: uint64(m.Lo), Size: uint64(m.Hi - m.Lo), Prot: prot, Data: read(m.Lo, uint64(m.Hi-m.Lo))})
		}
	}
	f, err := image.Open(c.file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c.uuid = f.BuildID()
	at := map[string]uint64{}
	for _, s := range f.Symbols() {
		at[s.Name] = uint64(s.Addr) + c.base
	}
	for _, th := range p.Threads() {
		r, err := p.Registers(th.ID)
		if err != nil {
			t.Fatal(err)
		}
		states := coretest.Thread{coretest.General(&r)}
		names, suffix := []string{"spin", "second"}, "_second"
		if th.ID == died {
			states = append(states, coretest.X86Exception(14, 6, 0x10))
			names, suffix = []string{"leaf", "inner", "middle", "outer", "run"}, ""
		}
		c.core.Threads = append(c.core.Threads, states)
		// A function notes its return address, which is the next one's PC, and its CFA.
		pc, _ := r.PC()
		chain := []call{{function: names[0], pc: pc}}
		for i := 1; i < len(names); i++ {
			chain = append(chain, call{function: names[i]})
		}
		if !c.blind {
			noted := read(target.Addr(at["seen"+suffix]), 8*16)
			for i := range names {
				k := len(names) - 1 - i // the outermost was first
				ret, cfa := binary.LittleEndian.Uint64(noted[16*k:]), binary.LittleEndian.Uint64(noted[16*k+8:])
				chain[i].cfa = cfa
				if i+1 < len(names) {
					chain[i+1].pc = ret
				}
			}
		}
		c.chains = append(c.chains, chain)
	}
}

// write puts the core with some notes into a file.
func (c *crashed) write(t *testing.T, edit func(*coretest.Core), notes ...coretest.Note) string {
	t.Helper()
	core := c.core
	core.Segments = slices.Clone(core.Segments)
	core.Notes = notes
	if edit != nil {
		edit(&core)
	}
	path := filepath.Join(t.TempDir(), "core")
	if err := os.WriteFile(path, core.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// listed is the note that lists the library under a path.
func (c *crashed) listed(path string) coretest.Note {
	return coretest.AllImageInfos(coretest.Image{Path: path, UUID: c.uuid, Header: c.base})
}

// openMachOCore opens a core for a test.
func openMachOCore(t *testing.T, cfg session.Config, path string) *session.Session {
	t.Helper()
	s := session.New(cfg)
	t.Cleanup(func() { s.Close() })
	if err := s.OpenCore(path, ""); err != nil {
		t.Fatal(err)
	}
	return s
}

// check holds all backtraces against the truth.
func (c *crashed) check(t *testing.T, s *session.Session) {
	t.Helper()
	threads, err := s.Threads()
	if err != nil || len(threads) != len(c.chains) {
		t.Fatalf("%d threads, not %d; %v", len(threads), len(c.chains), err)
	}
	if sig := threads[0].Signal; sig == nil || sig.Number != 11 || sig.Addr != 0x10 {
		t.Errorf("signal %+v", sig)
	}
	for _, th := range threads {
		bt, err := s.Backtrace(th.ID, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		want := c.chains[int(th.ID)-1]
		for i, w := range want {
			if i >= len(bt.Frames) {
				t.Errorf("thread %d has %d frames: %+v", th.ID, len(bt.Frames), bt.End)
				break
			}
			f := bt.Frames[i]
			if f.FunctionName != w.function || f.Module == nil || f.Module.BuildID != c.uuid {
				t.Errorf("thread %d, frame %d: %s, not %s", th.ID, i, f.FunctionName, w.function)
			}
			if w.pc != 0 && uint64(f.PC) != w.pc || w.cfa != 0 && uint64(f.Machine.CFA) != w.cfa {
				t.Errorf("thread %d, frame %d: PC %v CFA %#x, want %#x and %#x", th.ID, i, f.PC, f.Machine.CFA, w.pc, w.cfa)
			}
			// Blind or not: the return address is just below the CFA.
			if i+1 < len(want) && i+1 < len(bt.Frames) {
				b := make([]byte, 8)
				if _, err := s.ReadMemory(f.Machine.CFA-8, b); err != nil || binary.LittleEndian.Uint64(b) != uint64(bt.Frames[i+1].PC) {
					t.Errorf("thread %d, frame %d: % x below the CFA %#x, then PC %v; %v", th.ID, i, b, f.Machine.CFA, bt.Frames[i+1].PC, err)
				}
			}
		}
	}
}

// withoutLibrary drops the library's segments that are not writable.
func (c *crashed) withoutLibrary(core *coretest.Core) {
	core.Segments = slices.DeleteFunc(core.Segments, func(s coretest.Segment) bool {
		return s.Addr >= c.base && s.Addr < c.base+0x8000 && s.Prot&2 == 0
	})
}

func TestMachOCore(t *testing.T) {
	for _, flags := range [][]string{
		{"-O0", "-g"}, {"-O2", "-fno-omit-frame-pointer"}, {"-O2", "-fomit-frame-pointer", "-DBLIND"}, {"-O1", "-fomit-frame-pointer", "-DBLIND"},
	} {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			c := crashIn(t, flags...)
			name := filepath.Base(c.file)
			const there = "/usr/local/lib/crash.dylib"
			copied := func(path string) string {
				root := t.TempDir()
				to := filepath.Join(root, path)
				data, err := os.ReadFile(c.file)
				if err == nil {
					err = os.MkdirAll(filepath.Dir(to), 0o755)
				}
				if err == nil {
					err = os.WriteFile(to, data, 0o644)
				}
				if err != nil {
					t.Fatal(err)
				}
				return root
			}
			for _, v := range []struct {
				name    string
				cfg     session.Config
				edit    func(*coretest.Core)
				notes   []coretest.Note
				problem string
			}{
				{name: "file at its path", notes: []coretest.Note{c.listed(c.file)}},
				{name: "file under the sysroot", cfg: session.Config{Sysroot: copied(there)}, notes: []coretest.Note{c.listed(there)}},
				{name: "file found by UUID", cfg: session.Config{Sysroot: copied("elsewhere/" + name)}, notes: []coretest.Note{c.listed(there)}},
				{name: "no file", notes: []coretest.Note{c.listed(there)}},
				{name: "code only in the file", cfg: session.Config{Sysroot: copied(there)}, edit: c.withoutLibrary, notes: []coretest.Note{c.listed(there)}},
				{name: "load binary", cfg: session.Config{Sysroot: copied("x")}, notes: []coretest.Note{coretest.LoadBinary(c.uuid, c.base, coretest.None, "crash")}},
				{name: "slide only", cfg: session.Config{Sysroot: copied("x")}, notes: []coretest.Note{coretest.LoadBinary(c.uuid, coretest.None, c.base, "crash")}},
				{name: "segments only", edit: c.withoutLibrary, cfg: session.Config{Sysroot: copied(there)}, notes: []coretest.Note{coretest.AllImageInfos(
					coretest.Image{Path: there, UUID: c.uuid, Header: coretest.None, Segments: []coretest.Placed{{Name: "__TEXT", Addr: c.base}}})}},
				{name: "main bin spec", notes: []coretest.Note{coretest.MainBinary(2, 3, c.base, coretest.None, c.uuid, 1)}},
				{name: "no note"},
			} {
				t.Run(v.name, func(t *testing.T) {
					s := openMachOCore(t, v.cfg, c.write(t, v.edit, v.notes...))
					if w := s.Warnings(); len(w) > 0 {
						t.Errorf("warnings %q", w)
					}
					c.check(t, s)
				})
			}
			t.Run("another file at its path", func(t *testing.T) {
				other := fixture.MachO(t, crashSource, "x86_64", "-O3", "link:-no_fixup_chains", "-DBLIND", "-DANOTHER")
				s := openMachOCore(t, session.Config{}, c.write(t, nil, c.listed(other)))
				c.check(t, s) // the image is in the core
				s = openMachOCore(t, session.Config{}, c.write(t, c.withoutLibrary, c.listed(other)))
				if w := strings.Join(s.Warnings(), "\n"); !strings.Contains(w, "its UUID is ") {
					t.Errorf("warnings %q", w)
				}
			})
		})
	}
}

// TestMachOCoreDSYM: the dSYM gives lines and arguments, wherever it is, and names if it is all there is.
func TestMachOCoreDSYM(t *testing.T) {
	const tool = "dsymutil-19"
	fixture.Need(t, tool)
	c := crashIn(t, "-O1", "-g")
	root := t.TempDir()
	if out, err := exec.Command(tool, c.file, "-o", filepath.Join(root, "usr/lib/crash.dylib.dSYM")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, v := range []struct {
		name string
		cfg  session.Config
		path string
		edit func(*coretest.Core)
	}{
		{"beside where the file would be", session.Config{Sysroot: root}, "/usr/lib/crash.dylib", nil},
		{"debug directory", session.Config{DebugDirs: []string{filepath.Join(root, "usr/lib")}}, "/usr/lib/crash.dylib", nil},
		{"file and dSYM apart", session.Config{DebugDirs: []string{filepath.Join(root, "usr/lib")}}, c.file, c.withoutLibrary},
		{"neither file nor code", session.Config{Sysroot: root}, "/other/name", c.withoutLibrary},
	} {
		t.Run(v.name, func(t *testing.T) {
			s := openMachOCore(t, v.cfg, c.write(t, v.edit, c.listed(v.path)))
			threads, _ := s.Threads()
			bt, err := s.Backtrace(threads[0].ID, 0, 0)
			if err != nil || len(bt.Frames) < 5 {
				t.Fatalf("%d frames, %v", len(bt.Frames), err)
			}
			for i, w := range c.chains[int(threads[0].ID)-1] {
				f := bt.Frames[i]
				if f.FunctionName != w.function || f.Position.Line == 0 || filepath.Base(f.Position.File) != "crash.c" {
					t.Errorf("frame %d: %s at %s:%d, not %s", i, f.FunctionName, f.Position.File, f.Position.Line, w.function)
				}
			}
		})
	}
}

// TestMachOCoreARM64 walks stacks that are made by hand under real code: a leaf without a frame, whose caller is in LR, and a chain
// of frame records. (No arm64 Mach-O file can be run here with its own threads and signals.)
func TestMachOCoreARM64(t *testing.T) {
	file := fixture.MachO(t, crashSource, "arm64", "-O1", "-DBLIND")
	f, err := image.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const base, stack = 0x1_0400_0000, 0x1_6fdf_0000
	lo, size := map[string]uint64{}, map[string]uint64{}
	for _, s := range f.Symbols() {
		lo[s.Name], size[s.Name] = uint64(s.Addr), s.Size
	}
	// after returns where a function goes on after it has called another.
	after := func(caller, callee string) uint64 {
		code := make([]byte, size[caller])
		if _, err := f.ReadAt(image.Addr(lo[caller]), code); err != nil {
			t.Fatal(err)
		}
		for i := 0; i+4 <= len(code); i += 4 {
			w := binary.LittleEndian.Uint32(code[i:])
			if at := lo[caller] + uint64(i); w>>26 == 0x25 && at+uint64(int64(int32(w<<6)>>6)*4) == lo[callee] {
				return base + at + 4
			}
		}
		t.Fatalf("%s does not call %s", caller, callee)
		return 0
	}
	names := []string{"leaf", "inner", "middle", "outer", "run"}
	pcs := []uint64{base + lo["leaf"] + 4} // at its store
	for i := 1; i < len(names); i++ {
		pcs = append(pcs, after(names[i], names[i-1]))
	}
	const outside = 0x1_9000_0000 // the caller of run
	for _, signed := range []uint64{0, 0x002a_0000_0000_0000, 0x7f00_0000_0000_0000, 0x0000_8000_0000_0000, 0x0055_8000_0000_0000} {
		t.Run(fmt.Sprintf("signed %#x", signed), func(t *testing.T) {
			memory := make([]byte, 0x1000)
			r := arch.Registers{Arch: arch.ARM64}
			for i := range arch.Reg(31) {
				r.Set(i, uint64(i)+100)
			}
			// Each function's frame record is at the top of its frame, which has 96, 48... bytes.
			records := []uint64{0, stack + 0x150, stack + 0x1a0, stack + 0x200, stack + 0x260} // of inner, middle, outer, run
			for i := 1; i < len(names); i++ {
				next, ret := uint64(0), uint64(outside)
				if i+1 < len(names) {
					next, ret = records[i+1], pcs[i+1]
				}
				binary.LittleEndian.PutUint64(memory[records[i]-stack:], next)
				binary.LittleEndian.PutUint64(memory[records[i]-stack+8:], ret|signed)
			}
			r.Set(0, 0x10)
			r.Set(29, records[1])
			r.Set(30, pcs[1]|signed)
			r.Set(31, records[1]-80)
			r.Set(32, pcs[0]|signed)
			c := crashed{file: file, base: base, uuid: f.BuildID(), blind: true}
			c.core = coretest.Core{Arch: arch.ARM64, Platform: 1, Threads: []coretest.Thread{{coretest.General(&r), coretest.ARMException(0x10, 0x92000046)}},
				Segments: []coretest.Segment{{Addr: stack, Prot: 3, Data: memory}, {Addr: outside - 4, Prot: 5, Data: []byte{0, 0, 0x3f, 0xd6, 0x1f, 0x20, 0x03, 0xd5}}}} // blr x0; nop
			for _, inCore := range []bool{false, true} {
				edit := func(core *coretest.Core) {
					for _, s := range f.Segments() {
						if data := make([]byte, s.Hi-s.Lo); inCore {
							_, _ = f.ReadAt(s.Lo, data)
							core.Segments = append(core.Segments, coretest.Segment{Addr: base + uint64(s.Lo), Prot: 5, Data: data})
						}
					}
				}
				path := file
				if inCore {
					path = "/usr/lib/none.dylib"
				}
				s := openMachOCore(t, session.Config{}, c.write(t, edit, c.listed(path), coretest.AddressableBits(47, 47)))
				threads, _ := s.Threads()
				if sig := threads[0].Signal; sig == nil || sig.Number != 11 || sig.Addr != 0x10 {
					t.Errorf("signal %+v", sig)
				}
				bt, err := s.Backtrace(threads[0].ID, 0, 0)
				if err != nil || len(bt.Frames) < len(names) {
					t.Fatalf("%d frames, %v, %+v", len(bt.Frames), err, bt.End)
				}
				for i, name := range names {
					fr := bt.Frames[i]
					cfa := records[i] + 16
					if i == 0 {
						cfa = records[1] - 80 // SP: the leaf has no frame
					}
					if fr.FunctionName != name || uint64(fr.PC) != pcs[i] || !fr.Machine.HasCFA || uint64(fr.Machine.CFA) != cfa {
						t.Errorf("frame %d: %s at %v, CFA %#x (%v); want %s at %#x, CFA %#x; %+v", i, fr.FunctionName, fr.PC, fr.Machine.CFA, fr.Machine.HasCFA, name, pcs[i], cfa, bt.End)
					}
				}
			}
		})
	}
}

// TestMachOCorePeer holds threads and registers of a core against lldb's reading of it.
func TestMachOCorePeer(t *testing.T) {
	fixture.Need(t, "lldb-19")
	c := crashIn(t, "-O2", "-fno-omit-frame-pointer")
	path := c.write(t, nil, c.listed(c.file), coretest.MainBinary(2, 0, coretest.None, coretest.None, "", 1))
	out, err := exec.Command("lldb-19", "--no-lldbinit", "-b", "-o", "target create --core "+path, "-o", "bt all", "-o", "thread select 1", "-o", "register read", "-o", "thread select 2", "-o", "register read").CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("thread #1")) {
		fixture.Missing(t, fmt.Sprintf("lldb reads no Mach-O cores here: %v\n%s", err, out))
	}
	t.Logf("%s", out)
	s := openMachOCore(t, session.Config{}, path)
	number := regexp.MustCompile(`(?m)^ +([a-z0-9]+) = 0x([0-9a-f]{16})`)
	parts := bytes.Split(out, []byte("(lldb) register read"))[1:]
	if len(parts) != len(c.chains) {
		t.Fatalf("lldb has %d threads, not %d", len(parts), len(c.chains))
	}
	threads, _ := s.Threads()
	for _, th := range threads {
		regs, err := s.Registers(th.ID, 0)
		if err != nil {
			t.Fatal(err)
		}
		compared := 0
		for _, m := range number.FindAllSubmatch(parts[th.ID-1], -1) {
			name := string(m[1])
			if name == "rflags" {
				name = "eflags"
			}
			for _, r := range regs {
				if r.Name != name {
					continue
				}
				if compared++; !r.Known || fmt.Sprintf("%016x", r.Value) != string(m[2]) {
					t.Errorf("thread %d: %s is %#x (%v), lldb says 0x%s", th.ID, name, r.Value, r.Known, m[2])
				}
			}
		}
		if compared < 18 {
			t.Errorf("thread %d: %d registers were compared", th.ID, compared)
		}
		bt, err := s.Backtrace(th.ID, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		from := bytes.Index(out, fmt.Appendf(nil, "thread #%d", th.ID))
		frame := regexp.MustCompile(`frame #(\d+): 0x([0-9a-f]{16})`)
		section := out[from:]
		if end := bytes.Index(section[1:], []byte("thread #")); end > 0 {
			section = section[:end]
		}
		for i, m := range frame.FindAllSubmatch(section, -1) {
			if i >= len(c.chains[th.ID-1]) {
				break
			}
			if got := fmt.Sprintf("%016x", uint64(bt.Frames[i].PC)); got != string(m[2]) {
				t.Errorf("thread %d, frame %d: PC 0x%s, lldb says 0x%s", th.ID, i, got, m[2])
			}
		}
	}
}
