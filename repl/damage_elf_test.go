package repl_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"dbg/internal/fixture"
	"dbg/session"
)

// deadChain is a program that has died, in a folder of its own, and its core.
func (d *damage) deadChain(args []string, flags ...string) (exe, core string) {
	d.t.Helper()
	data, err := os.ReadFile(fixture.Build(d.t, "torture/chain.c", flags...))
	exe = filepath.Join(d.t.TempDir(), "chain")
	if err == nil {
		err = os.WriteFile(exe, data, 0o755)
	}
	if err != nil {
		d.t.Fatal(err)
	}
	return exe, fixture.Core(d.t, exe, args...)
}

// opener opens a core in a new session.
func opener(core, exe string) func() (*session.Session, error) {
	return func() (*session.Session, error) {
		s := session.New(session.Config{DebugDirs: []string{}})
		return s, s.OpenCore(core, exe)
	}
}

// elfHeaders damages what says where everything in a program is.
func (d *damage) elfHeaders() {
	exe, core := d.deadChain([]string{"thread"}, "-O1", "-g")
	v := d.victim(exe)
	f := v.elf()
	sections := int(binary.LittleEndian.Uint64(v.data[40:]))
	v.parts(d.trials, opener(core, ""), part{"ELF header", 4, 64}, part{"program headers", 64, 64 + 56*len(f.Progs)}, part{"section headers", sections, len(v.data)})
	for _, s := range f.Sections {
		switch s.Name {
		case ".dynamic", ".symtab", ".strtab", ".shstrtab", ".dynsym", ".dynstr", ".note.gnu.build-id", ".eh_frame", ".eh_frame_hdr", ".text":
			v.parts(d.trials, opener(core, exe), sectionPart(s))
		}
	}
}

func (v *victim) elf() *elf.File {
	f, err := elf.NewFile(bytes.NewReader(v.data))
	if err != nil {
		v.d.t.Fatal(err)
	}
	return f
}

func sectionPart(s *elf.Section) part {
	return part{s.Name, int(s.Offset), int(s.Offset + s.FileSize)}
}

// debugSections damages each section of debug information, of both versions of DWARF that compilers write.
func (d *damage) debugSections() {
	d.sectionsOf("-O1", "-g", "-gdwarf-4")
	d.sectionsOf("cc=clang-19", "-O1", "-g", "-gdwarf-5")
	d.sectionsOf("-O1", "-g3", "-gdwarf-5", "-fno-asynchronous-unwind-tables", "-fdebug-types-section")
}

func (d *damage) compressedSections() {
	d.sectionsOf("-O1", "-g", "-gz=zlib")
	d.sectionsOf("-O1", "-g", "-gz=zlib-gnu")
	d.sectionsOf("cc=clang-19", "-O1", "-g", "-gz=zstd", "-fuse-ld=lld")
}

func (d *damage) sectionsOf(flags ...string) {
	exe, core := d.deadChain(nil, flags...)
	v := d.victim(exe)
	for _, s := range v.elf().Sections {
		if strings.Contains(s.Name, "debug_") {
			p := sectionPart(s)
			p.name = strings.Join(flags, " ") + " " + p.name
			v.parts(d.trials/3+1, opener(core, exe), p) // of three builds
		}
	}
}

// cores damages a core's headers, notes and memory: registers, the auxiliary vector, the dynamic linker's list, stacks.
func (d *damage) cores() {
	exe, core := d.deadChain([]string{"thread"}, "-O1", "-g")
	v := d.victim(core)
	f := v.elf()
	parts := []part{{"ELF header", 4, 64}, {"program headers", 64, 64 + 56*len(f.Progs)}}
	for _, n := range v.notes(f) {
		if n.name != "NT_FILE" {
			parts = append(parts, n)
		}
	}
	v.parts(d.trials, opener(core, ""), parts...)
	var memory []part
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Filesz > 0 && p.Flags&elf.PF_W != 0 && p.Filesz < 1<<20 {
			memory = append(memory, part{"memory", int(p.Off), int(p.Off + p.Filesz)})
		}
	}
	// Most of memory does not matter: damage is in many places at once.
	d.each("memory", d.trials, opener(core, exe), func(r *rand.Rand) func() {
		var undo []func()
		for range 40 {
			undo = append(undo, v.change(r, memory[r.IntN(len(memory))]))
		}
		return func() {
			for _, f := range undo {
				f()
			}
		}
	})
}

// notes are the notes of a core, each with its header.
func (v *victim) notes(f *elf.File) (list []part) {
	names := map[uint32]string{1: "NT_PRSTATUS", 3: "NT_PRPSINFO", 6: "NT_AUXV", 0x46494c45: "NT_FILE", 0x53494749: "NT_SIGINFO"}
	seen := map[string]bool{}
	for _, p := range f.Progs {
		if p.Type != elf.PT_NOTE {
			continue
		}
		for at := int(p.Off); at+12 <= int(p.Off+p.Filesz); {
			u := func(i int) int { return int(binary.LittleEndian.Uint32(v.data[at+i:])) }
			end := at + 12 + (u(0)+3)&^3 + (u(4)+3)&^3
			if name := names[uint32(u(8))]; name != "" && !seen[name] {
				seen[name] = true
				list = append(list, part{name, at, end})
			}
			at = end
		}
	}
	return list
}
