package repl_test

import (
	"debug/macho"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"dbg/arch"
	"dbg/image"
	"dbg/internal/fixture"
	"dbg/session"
	"dbg/target/machocore/coretest"
)

// machO damages a core of macOS, the library that it died in, and that library's dSYM.
func (d *damage) machO() {
	fixture.Need(d.t, "dsymutil-19")
	for name, a := range map[string]*arch.Arch{"x86_64": arch.AMD64, "arm64": arch.ARM64} {
		lib, core, dsym := d.macOS(name, a)
		open := func() (*session.Session, error) {
			s := session.New(session.Config{DebugDirs: []string{}, Sysroot: filepath.Dir(lib)})
			return s, s.OpenCore(core, "")
		}
		n := d.trials/4 + 1 // of each of some fifty parts
		for _, path := range []string{lib, dsym} {
			v := d.victim(path)
			f, err := macho.Open(path)
			if err != nil {
				d.t.Fatal(err)
			}
			defer f.Close()
			of := name + " " + filepath.Base(path) + " "
			v.parts(n, open, part{of + "header", 4, 32}, part{of + "load commands", 32, 32 + int(f.Cmdsz)})
			for _, s := range f.Sections {
				if s.Offset != 0 && s.Size > 0 && int(s.Offset)+int(s.Size) <= len(v.data) {
					v.parts(n, open, part{of + s.Name, int(s.Offset), int(s.Offset) + int(s.Size)})
				}
			}
			if link := f.Segment("__LINKEDIT"); link != nil && link.Filesz > 0 {
				v.parts(n, open, part{of + "__LINKEDIT", int(link.Offset), int(link.Offset + link.Filesz)})
			}
		}
		v := d.victim(core)
		commands := 32 + int(binary.LittleEndian.Uint32(v.data[20:]))
		v.parts(n, open, part{name + " core header", 4, 32}, part{name + " core load commands", 32, commands},
			part{name + " core notes and memory", commands, len(v.data)})
	}
}

// macOS makes a core of a library that died: of two threads, whose frames are linked by their frame pointers.
func (d *damage) macOS(name string, a *arch.Arch) (lib, core, dsym string) {
	built := fixture.MachO(d.t, "../target/machocore/testdata/crash.c", name, "-O1", "-g", "-DBLIND", "-fno-omit-frame-pointer")
	dir := d.t.TempDir()
	lib, core = filepath.Join(dir, "libcrash.dylib"), filepath.Join(d.t.TempDir(), "core")
	data, err := os.ReadFile(built)
	if err == nil {
		err = os.WriteFile(lib, data, 0o600)
	}
	if err != nil {
		d.t.Fatal(err)
	}
	if out, err := exec.Command("dsymutil-19", built, "-o", lib+".dSYM").CombinedOutput(); err != nil {
		d.t.Fatalf("%v\n%s", err, out)
	}
	found, _ := filepath.Glob(lib + ".dSYM/Contents/Resources/DWARF/*")
	if len(found) != 1 {
		d.t.Fatalf("%d files in the dSYM", len(found))
	}
	f, err := image.Open(lib)
	if err != nil {
		d.t.Fatal(err)
	}
	defer f.Close()
	const base, stack = 0x1_0000_0000, 0x7ff7_bfef_f000
	at := map[string]uint64{}
	for _, s := range f.Symbols() {
		at[s.Name] = base + uint64(s.Addr)
	}
	c := coretest.Core{Arch: a, Platform: 1, Notes: []coretest.Note{
		coretest.AllImageInfos(coretest.Image{Path: "/usr/lib/libcrash.dylib", UUID: f.BuildID(), Header: base}),
		coretest.AddressableBits(47, 47),
		coretest.Plain("process metadata", []byte(`{"threads":[{"thread_id":4711},{"thread_id":4712}]}`)),
	}}
	for i, functions := range [][]string{{"leaf", "inner", "middle", "outer"}, {"spin", "second"}} {
		memory := make([]byte, 0x1000)
		lo := uint64(stack + i*0x10000)
		r := arch.Registers{Arch: a}
		for reg := range arch.Reg(31) {
			r.Set(reg, lo+8*uint64(reg))
		}
		r.Set(a.PC, at[functions[0]]+8)
		r.Set(a.SP, lo+0xf0)
		r.Set(a.FP, lo+0x100)
		if a.LR != arch.NoReg {
			r.Set(a.LR, at[functions[1]]+0x18)
		}
		for k := range len(functions) - 1 {
			fp := 0x100 + 0x40*k
			binary.LittleEndian.PutUint64(memory[fp:], lo+uint64(fp)+0x40)
			binary.LittleEndian.PutUint64(memory[fp+8:], returnAddress(f, base, at[functions[k+1]], a))
		}
		c.Segments = append(c.Segments, coretest.Segment{Addr: lo, Prot: 3, Data: memory})
		state := coretest.General(&r)
		exception := coretest.X86Exception(14, 6, 0x10)
		if a == arch.ARM64 {
			exception = coretest.ARMException(0x10, 0x9200_0006)
		}
		c.Threads = append(c.Threads, coretest.Thread{state, exception})
	}
	if err := os.WriteFile(core, c.Bytes(), 0o600); err != nil {
		d.t.Fatal(err)
	}
	s := session.New(session.Config{DebugDirs: []string{}, Sysroot: dir})
	defer s.Close()
	if err := s.OpenCore(core, ""); err != nil {
		d.t.Fatal(err)
	}
	thread, _ := s.Selected()
	bt, err := s.Backtrace(thread, 0, 0)
	if err != nil || len(bt.Frames) < 4 || bt.Frames[1].Function == nil {
		d.t.Fatalf("%s: %d frames, %v", name, len(bt.Frames), fmt.Sprint(bt.End, err, s.Warnings()))
	}
	return lib, core, found[0]
}

// returnAddress is that of the first call in a function.
func returnAddress(f *image.File, base, function uint64, a *arch.Arch) uint64 {
	var code [256]byte
	n, _ := f.ReadAt(image.Addr(function-base), code[:])
	for i := 0; i+5 <= n; i++ {
		if a == arch.ARM64 && i%4 == 0 && code[i+3]>>2 == 0x25 {
			return function + uint64(i) + 4
		}
		if a == arch.AMD64 && code[i] == 0xe8 {
			return function + uint64(i) + 5
		}
	}
	return function + 8
}
