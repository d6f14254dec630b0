package compact_test

import (
	"bufio"
	"bytes"
	"debug/macho"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/compact"
	"dbg/internal/fixture"
	"dbg/row"
)

// What the compiler says in the assembly's CFI directives of a function's body is what its opcode comes to. This is where the
// places of registers are proven, for i386 too (which LLVM's linker does not know: the opcodes are those of the object file).
func TestDirectives(t *testing.T) {
	fixture.Need(t, "clang-19", objdump)
	for _, c := range []struct {
		arch  *arch.Arch
		name  string
		flags []string
	}{
		{arch.AMD64, "x86_64", []string{"-O0"}},
		{arch.AMD64, "x86_64", []string{"-O2"}},
		{arch.AMD64, "x86_64", []string{"-O2", "-fomit-frame-pointer", "-DBP"}},
		{arch.I386, "i386", []string{"-O0"}},
		{arch.I386, "i386", []string{"-O2"}},
		{arch.I386, "i386", []string{"-O2", "-fomit-frame-pointer", "-DBP"}},
		{arch.ARM64, "arm64", []string{"-O0"}},
		{arch.ARM64, "arm64", []string{"-O2"}},
	} {
		for _, source := range []string{"frames.c", "throws.cc"} {
			t.Run(fmt.Sprint(source, c.name, c.flags), func(t *testing.T) {
				object := build(t, source, c.name, append(c.flags, "-c")...)
				compareDirectives(t, c.arch, object, bodies(t, c.arch, source, c.name, c.flags))
			})
		}
	}
}

// body is what directives say of a function: where its CFA is and what is saved.
type body struct {
	cfa   arch.Reg
	off   int64
	saved map[arch.Reg]int64
}

var directive = regexp.MustCompile(`^\s*\.cfi_(def_cfa|def_cfa_offset|def_cfa_register|offset) (.*)$`)

// bodies compiles to assembly and reads it. Compilers for macOS have no directives in epilogues, and so the last ones are the body's.
func bodies(t *testing.T, a *arch.Arch, source, name string, flags []string) map[string]*body {
	t.Helper()
	target := name + "-apple-macos11"
	if name == "i386" {
		target = "i386-apple-macos10.6"
	}
	args := append([]string{"-target", target, "-S", "-o", "-", filepath.Join("testdata", source)}, flags...)
	out, err := exec.Command("clang-19", args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*body{}
	var b *body
	label := ""
	s := bufio.NewScanner(bytes.NewReader(out))
	for s.Scan() {
		l, _, _ := strings.Cut(s.Text(), "##")
		l, _, _ = strings.Cut(l, ";")
		l = strings.TrimRight(l, " \t")
		if n, ok := strings.CutSuffix(l, ":"); ok && strings.HasPrefix(n, "_") {
			label = n
		}
		if strings.TrimSpace(l) == ".cfi_startproc" {
			b = &body{cfa: a.SP, off: int64(a.PtrSize), saved: map[arch.Reg]int64{a.PC: -int64(a.PtrSize)}}
			if a == arch.ARM64 {
				b.off, b.saved = 0, map[arch.Reg]int64{}
			}
			all[label] = b
		}
		m := directive.FindStringSubmatch(l)
		if m == nil {
			continue
		}
		reg, n, two := strings.Cut(m[2], ", ")
		if m[1] == "def_cfa_offset" {
			reg, n = "", m[2]
		}
		if m[1] != "def_cfa_register" {
			v, err := strconv.ParseInt(n, 0, 64)
			if err != nil {
				t.Fatalf("%q", s.Text())
			}
			if m[1] == "offset" {
				b.saved[directiveReg(t, a, reg)] = v
				continue
			}
			b.off = v
		}
		if reg != "" && (two || m[1] == "def_cfa_register") {
			b.cfa = directiveReg(t, a, reg)
		}
	}
	return all
}

func directiveReg(t *testing.T, a *arch.Arch, s string) arch.Reg {
	t.Helper()
	s = strings.TrimPrefix(s, "%")
	if a == arch.ARM64 && s[0] != 's' {
		s = map[byte]string{'w': "x", 'x': "x", 'b': "v", 'd': "v"}[s[0]] + s[1:]
	}
	// i386's frame and stack pointer have each other's numbers in Apple's .eh_frame; these are names.
	r, ok := a.RegByName(s)
	if !ok {
		t.Fatalf("register %q of %s", s, a.Name)
	}
	return r
}

var objectEntry = regexp.MustCompile(`start: +0x([0-9a-f]+)[^_\n]*(_\w+)?\n +length: +0x[0-9a-f]+\n +compact encoding: +0x([0-9a-f]+)`)

func compareDirectives(t *testing.T, a *arch.Arch, object string, all map[string]*body) {
	f, err := macho.Open(object)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, err := f.Section("__text").Data()
	if err != nil {
		t.Fatal(err)
	}
	symbols := map[uint64]string{}
	for _, s := range f.Symtab.Syms {
		if s.Sect == 1 && strings.HasPrefix(s.Name, "_") {
			symbols[s.Value] = s.Name
		}
	}
	out, err := exec.Command(objdump, "--unwind-info", object).Output()
	if err != nil {
		t.Fatal(err)
	}
	tab, err := compact.New(compact.Config{Arch: a, Data: (&section{}).encode(), Code: func(addr uint64, n int) []byte {
		if addr > uint64(len(text)) {
			return nil
		}
		return text[addr:min(addr+uint64(n), uint64(len(text)))]
	}})
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[compact.Kind]int{}
	for _, m := range objectEntry.FindAllSubmatch(out, -1) {
		start, _ := strconv.ParseUint(string(m[1]), 16, 64)
		op, _ := strconv.ParseUint(string(m[3]), 16, 32)
		e := compact.Entry{Lo: start, Hi: start + 1, Opcode: compact.Opcode(op)}
		b := all[symbols[start]]
		if b == nil {
			t.Fatalf("no assembly of the function at %#x, %q", start, symbols[start])
		}
		kinds[e.Opcode.Kind(a)]++
		var w row.Row
		var dwarf *compact.ErrDWARF
		if err := tab.Row(&e, &w); errors.As(err, &dwarf) || err == compact.ErrNone {
			continue
		} else if err != nil {
			t.Errorf("%s: opcode %#x: %v", symbols[start], op, err)
			continue
		}
		ok := w.CFA.Reg == b.cfa && w.CFA.N == b.off && len(w.Regs) == len(b.saved)
		for reg, at := range b.saved {
			ok = ok && w.Rule(reg).N == at
		}
		if !ok {
			t.Errorf("%s: opcode %#x is %s; the directives have the CFA at %s%+d, saved %v", symbols[start], op, w.Format(a), a.RegName(b.cfa), b.off, b.saved)
		}
	}
	if len(kinds) == 0 {
		t.Error("nothing compared")
	}
	t.Log(kinds)
}
