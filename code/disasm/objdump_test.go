package disasm_test

import (
	"bufio"
	"cmp"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/code/disasm"
	"dbg/internal/fixture"
)

// score counts what a comparison with objdump has found.
type score struct {
	name                     string
	instructions             int
	wrongLength, wrongText   int
	isCorpus                 bool               // invalid instructions and the filling do not count
	wrongLengths, wrongTexts map[string]example // by objdump's name of the instruction
}

type example struct {
	count int
	text  string
}

func newScore(name string) *score {
	return &score{name: name, wrongLengths: map[string]example{}, wrongTexts: map[string]example{}}
}

func (s *score) String() string {
	percent := func(wrong int) float64 { return 100 * float64(s.instructions-wrong) / float64(max(s.instructions, 1)) }
	return fmt.Sprintf("%-28s %9d instructions, length %8.4f %% (%d wrong), text %8.4f %% (%d wrong)", s.name, s.instructions,
		percent(s.wrongLength), s.wrongLength, percent(s.wrongText), s.wrongText)
}

// examples lists the most frequent differences.
func (s *score) examples(n int) string {
	var b strings.Builder
	for _, m := range []map[string]example{s.wrongLengths, s.wrongTexts} {
		list := make([]example, 0, len(m))
		for _, e := range m {
			list = append(list, e)
		}
		slices.SortFunc(list, func(a, b example) int { return cmp.Compare(b.count, a.count) })
		for _, e := range list[:min(n, len(list))] {
			fmt.Fprintf(&b, "\t%6d × %s\n", e.count, e.text)
		}
	}
	return b.String()
}

// normalized returns the text without symbols, notes and repeated blanks.
func normalized(s string) string {
	s = symbols.Replace(s)
	var b strings.Builder
	depth := 0
	for _, c := range s {
		switch {
		case c == '<':
			depth++
		case c == '>' && depth > 0:
			depth--
		case depth == 0:
			b.WriteRune(c)
		}
	}
	words := strings.Fields(b.String())
	return strings.Join(words, " ")
}

var symbols = strings.NewReplacer("# 0x", "# ")

// dump is one architecture's way to run objdump.
type dump struct {
	arch *arch.Arch
	tool string
	args []string
}

// compare runs objdump and decodes each line's bytes. Of so many lines one is compared, chosen by
// its address.
func (d dump) compare(t testing.TB, s *score, syntax disasm.Syntax, every int) {
	t.Helper()
	args := append([]string{"-w", "-z"}, d.args...)
	if syntax == disasm.Intel {
		args = append(args, "-Mintel")
	}
	cmd := exec.Command(d.tool, args...)
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(pipe)
	w := window{score: s, arch: d.arch, syntax: syntax}
	for n := 0; lines.Scan(); {
		f := strings.SplitN(lines.Text(), "\t", 3)
		if len(f) < 3 {
			continue
		}
		pc, err := strconv.ParseUint(strings.Trim(f[0], " :"), 16, 64)
		if err != nil {
			continue
		}
		code, err := hex.DecodeString(strings.ReplaceAll(strings.TrimSpace(f[1]), " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		if d.arch == arch.ARM64 { // objdump shows a word
			slices.Reverse(code)
		}
		n++
		w.add(pc, code, f[2], every <= 1 || n*2654435761>>8%every == 0)
	}
	w.flush(0)
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%s: %v", d.tool, err)
	}
}

// window holds the last lines until the bytes after them are known, since what follows a bad
// instruction decides what it is.
type window struct {
	score  *score
	arch   *arch.Arch
	syntax disasm.Syntax
	code   []byte
	pc     uint64 // of code
	lines  []line
}

type line struct {
	pc       uint64
	size     int
	text     string
	compared bool
}

func (w *window) add(pc uint64, code []byte, text string, compared bool) {
	if pc != w.pc+uint64(len(w.code)) {
		w.flush(0)
		w.code, w.pc = w.code[:0], pc
	}
	w.code = append(w.code, code...)
	w.lines = append(w.lines, line{pc, len(code), text, compared})
	if len(w.lines) >= 64 {
		w.flush(16)
	}
}

// flush compares the lines except the last, and forgets them.
func (w *window) flush(except int) {
	done := max(len(w.lines)-except, 0)
	for _, l := range w.lines[:done] {
		if l.compared {
			w.score.one(w.arch, w.code, l.size, l.pc, l.text, w.syntax)
		}
		w.code = w.code[l.size:]
		w.pc += uint64(l.size)
	}
	w.lines = append(w.lines[:0], w.lines[done:]...)
	w.code = append([]byte(nil), w.code...)
}

// one compares one instruction of size bytes at the start of code.
func (s *score) one(a *arch.Arch, code []byte, size int, pc uint64, want string, syntax disasm.Syntax) {
	if strings.HasPrefix(want, ".byte") { // at the end of a section
		return
	}
	if s.isCorpus && (want == "nop" || strings.Contains(want, "bad")) {
		return
	}
	s.instructions++
	padded := append(code[:len(code):len(code)], make([]byte, 16)...)
	got := disasm.Decode(a, padded, pc, disasm.Options{Syntax: syntax})
	key := want
	if i := strings.IndexAny(want, " \t"); i > 0 {
		key = want[:i]
	}
	if got.Len != size {
		s.wrongLength++
		e := s.wrongLengths[key]
		s.wrongLengths[key] = example{e.count + 1,
			fmt.Sprintf("% x: %s: length %d, want %d (%s)", padded[:size], want, got.Len, size, got.Text)}
		s.wrongText++
		return
	}
	if g, w := normalized(got.Text), normalized(branch(want)); g != w && g != normalized(want) {
		s.wrongText++
		e := s.wrongTexts[key]
		s.wrongTexts[key] = example{e.count + 1, fmt.Sprintf("% x: got %q, want %q", padded[:size], g, w)}
	}
}

// branch puts 0x before a bare address, which is the last word of a branch.
func branch(s string) string {
	s = strings.ReplaceAll(s, "\t", " ")
	if body, note, ok := strings.Cut(s, "//"); ok {
		return strings.TrimSpace(branch(body)) + " //" + note
	}
	text, sym, _ := strings.Cut(s, "<")
	i := strings.LastIndexByte(strings.TrimSpace(text), ' ')
	last := strings.TrimSpace(text)[i+1:]
	if i < 0 || last == "" || strings.Contains(text, " # ") {
		return s
	}
	if _, err := strconv.ParseUint(last, 16, 64); err != nil {
		return s
	}
	return text[:i+1] + "0x" + last + " <" + sym
}

// TestFile compares one file in full, in both syntaxes:
//
//	DISASM_FILE=/usr/bin/node go test -run TestFile -v ./code/disasm
//
// DISASM_ARCH=arm64 is for a file of that architecture.
func TestFile(t *testing.T) {
	path := os.Getenv("DISASM_FILE")
	if path == "" {
		t.Skip("DISASM_FILE is not set")
	}
	d := amd64
	if os.Getenv("DISASM_ARCH") == "arm64" {
		d = arm64
	}
	for _, s := range d.file(t, path, 1) {
		t.Logf("%s\n%s", s, s.examples(25))
	}
}

var (
	amd64 = dump{arch.AMD64, "objdump", []string{"-d"}}
	arm64 = dump{arch.ARM64, "aarch64-linux-gnu-objdump", []string{"-d"}}
)

// file compares a file in each syntax.
func (d dump) file(t *testing.T, path string, every int) (scores []*score) {
	t.Helper()
	fixture.Need(t, d.tool)
	d.args = append(slices.Clone(d.args), path)
	for _, syntax := range []disasm.Syntax{disasm.ATT, disasm.Intel} {
		name := filepath.Base(path) + [...]string{" AT&T", " Intel"}[syntax]
		if d.arch == arch.ARM64 {
			name = filepath.Base(path) + " arm64"
		}
		s := newScore(name)
		d.compare(t, s, syntax, every)
		scores = append(scores, s)
		if d.arch == arch.ARM64 {
			break
		}
	}
	return scores
}

// libraries are the files of TestLibraries: those of them that are installed. The first ones are also
// compared without DBG_ALL, one instruction of some.
var libraries = []struct {
	dump  dump
	short bool
	path  string
}{
	{amd64, true, "/usr/lib/x86_64-linux-gnu/libc.so.6"},
	{amd64, true, "/usr/lib/x86_64-linux-gnu/libcrypto.so.3"},
	{amd64, false, "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"},
	{amd64, false, "/usr/lib/x86_64-linux-gnu/libm.so.6"},
	{amd64, false, "/usr/lib/x86_64-linux-gnu/libgmp.so.10"},
	{amd64, false, "/usr/lib/x86_64-linux-gnu/libx265.so.199"},
	{amd64, false, "/usr/lib/x86_64-linux-gnu/libdav1d.so.6"},
	{amd64, false, "/usr/lib/x86_64-linux-gnu/libSvtAv1Enc.so.1"},
	{amd64, false, "/usr/lib/x86_64-linux-gnu/libavcodec.so.59"},
	{amd64, false, "/usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0"},
	{amd64, false, "/usr/bin/python3.11"},
	{amd64, false, "/usr/bin/node"},
	{arm64, true, "/usr/aarch64-linux-gnu/lib/libc.so.6"},
	{arm64, false, "/usr/aarch64-linux-gnu/lib/libstdc++.so.6"},
	{arm64, false, "/usr/aarch64-linux-gnu/lib/libm.so.6"},
}

// packageOf has the Debian packages of libraries that few machines have.
var packageOf = map[string]string{"libx265.so.199": "libx265-199", "libdav1d.so.6": "libdav1d6", "libSvtAv1Enc.so.1": "libsvtav1enc1",
	"libavcodec.so.59": "libavcodec59", "libgmp.so.10": "libgmp10"}

// TestLibraries holds length and text against objdump. With DBG_ALL it compares every instruction of
// every library and prints a table.
func TestLibraries(t *testing.T) {
	for _, l := range libraries {
		t.Run(filepath.Base(l.path)+" "+l.dump.arch.Name, func(t *testing.T) {
			every := 1
			if !fixture.All() {
				if every = 8; l.dump.arch == arch.ARM64 {
					every = 1 // SVE, which is missing, comes in lumps
				}
				if !l.short {
					t.Skip("DBG_ALL is not set")
				}
			}
			path := l.path
			if _, err := os.Stat(path); err != nil {
				name := packageOf[filepath.Base(path)]
				if !fixture.All() || name == "" {
					t.Skip(err) // not every machine has it
				}
				path = filepath.Join(fixture.Debian(t, "bookworm", name), path)
			}
			for _, s := range l.dump.file(t, path, every) {
				t.Log(s)
				s.check(t, 99.9998, 99.9) // objdump stops at symbols, also within an instruction
			}
		})
	}
}

// vectorForms returns encodings of all opcodes of VEX, EVEX and XOP, each in a slot of 32 bytes that
// nops fill. Registers, masks and displacements are random. Of so many opcodes one is tried.
func vectorForms(r *rand.Rand, every int) []byte {
	var out []byte
	slot := func(b ...byte) {
		b = append(b, modRM(r)...)
		b = append(b, byte(r.IntN(256)))
		out = append(out, b...)
		for len(out)%32 != 0 {
			out = append(out, 0x90)
		}
	}
	n := 0
	for op := range 256 {
		for bits := range 4 * 2 * 4 { // the prefix, W, L
			pp, w, l := byte(bits&3), byte(bits>>2&1), byte(bits>>3)
			for m := range 16 {
				if n++; n*2654435761>>8%every != 0 {
					continue
				}
				vvvv := byte(15)
				if r.IntN(2) == 0 {
					vvvv = byte(r.IntN(16))
				}
				rxb := byte(r.IntN(8)) << 5
				switch {
				case m < 3 && l < 2:
					slot(0xc4, rxb|byte(m+1), w<<7|vvvv<<3|l<<2|pp, byte(op))
				case m < 6 && l < 2 && pp == 0:
					slot(0x8f, rxb|byte(m-3+8), w<<7|vvvv<<3|l<<2, byte(op))
				case m >= 6 && m < 12 && l < 3:
					mask, high := byte(0), byte(8)
					if r.IntN(2) == 0 {
						mask = byte(r.IntN(8))
					}
					if vvvv != 15 && r.IntN(2) == 0 {
						high = 0
					}
					slot(0x62, rxb|byte(r.IntN(2))<<4|byte(m-5), w<<7|vvvv<<3|4|pp, l<<5|byte(r.IntN(2))<<4|high|mask, byte(op))
				}
			}
		}
	}
	return out
}

// generalForms returns encodings of all opcodes of the legacy maps with prefixes, in slots like those
// of vectorForms.
func generalForms(r *rand.Rand, every int) []byte {
	prefixes := []string{
		"", "\x66", "\xf2", "\xf3", "\x48", "\x66\x48", "\x45", "\xf3\x48", "\x67", "\x64", "\xf0", "\x2e", "\x66\xf2",
	}
	var out []byte
	n := 0
	for _, m := range []string{"", "\x0f", "\x0f\x38", "\x0f\x3a"} {
		for op := range 256 {
			for modrm := range 256 {
				for _, p := range prefixes {
					if n++; n*2654435761>>8%every != 0 || m == "" && op == 0x62 {
						continue
					}
					out = append(append(out, p...), m...)
					out = append(append(out, byte(op), byte(modrm)), modRM(r)...)
					for range 4 {
						out = append(out, byte(r.IntN(256)))
					}
					for len(out)%32 != 0 {
						out = append(out, 0x90)
					}
				}
			}
		}
	}
	return out
}

func TestGeneralForms(t *testing.T) {
	fixture.Need(t, "objdump")
	every := 100
	if fixture.All() {
		every = 16
	}
	for _, s := range binary(t, "forms", generalForms(rand.New(rand.NewPCG(5, 6)), every), 1) {
		s.check(t, 99.999, 99.9)
	}
}

// modRM returns a random ModRM byte with its SIB and displacement.
func modRM(r *rand.Rand) []byte {
	b := []byte{byte(r.IntN(256))}
	for range 5 {
		b = append(b, byte(r.IntN(256)))
	}
	return b[:]
}

// binary compares the bytes of code, which belong to no file format.
func binary(t *testing.T, name string, code []byte, every int) []*score {
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, code, 0o600); err != nil {
		t.Fatal(err)
	}
	var scores []*score
	for _, syntax := range []disasm.Syntax{disasm.ATT, disasm.Intel} {
		s := newScore(name)
		s.isCorpus = true
		dump{arch.AMD64, "objdump", []string{"-D", "-b", "binary", "-m", "i386:x86-64", path}}.compare(t, s, syntax, every)
		t.Log(s)
		scores = append(scores, s)
	}
	return scores
}

func TestVectorForms(t *testing.T) {
	fixture.Need(t, "objdump")
	every := 10
	if fixture.All() {
		every = 1
	}
	for _, s := range binary(t, "forms", vectorForms(rand.New(rand.NewPCG(1, 2)), every), 1) {
		s.check(t, 99.999, 99.9)
	}
}

func TestRandomBytes(t *testing.T) {
	fixture.Need(t, "objdump")
	n := 100_000
	if fixture.All() {
		n = 5_000_000
	}
	r := rand.New(rand.NewPCG(3, 4))
	code := make([]byte, n)
	for i := range code {
		code[i] = byte(r.Uint32())
	}
	for _, s := range binary(t, "random", code, 1) {
		s.check(t, 99.999, 99)
	}
}

// check fails the test if too few instructions agree, in percent.
func (s *score) check(t *testing.T, length, text float64) {
	t.Helper()
	n := float64(s.instructions)
	if n == 0 || 100*(n-float64(s.wrongLength)) < length*n || 100*(n-float64(s.wrongText)) < text*n {
		t.Errorf("%s\nwant length ≥ %v %%, text ≥ %v %%\n%s", s, length, text, s.examples(10))
	}
}
