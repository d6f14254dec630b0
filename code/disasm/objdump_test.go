package disasm_test

import (
	"bufio"
	"cmp"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
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
		s.wrongLengths[key] = example{e.count + 1, fmt.Sprintf("% x: %s: length %d, want %d (%s)", padded[:size], want, got.Len, size, got.Text)}
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
	text, sym, _ := strings.Cut(s, "<")
	i := strings.LastIndexByte(strings.TrimSpace(text), ' ')
	last := strings.TrimSpace(text)[i+1:]
	if i < 0 || last == "" || strings.Contains(text, "#") {
		return s
	}
	if _, err := strconv.ParseUint(last, 16, 64); err != nil {
		return s
	}
	return text[:i+1] + "0x" + last + " <" + sym
}

func TestFile(t *testing.T) {
	fixture.Need(t, "objdump")
	path := os.Getenv("DISASM_FILE")
	if path == "" {
		t.Skip("DISASM_FILE is not set")
	}
	every, _ := strconv.Atoi(os.Getenv("DISASM_EVERY"))
	for _, syntax := range []disasm.Syntax{disasm.ATT, disasm.Intel} {
		s := newScore(path)
		dump{arch.AMD64, "objdump", []string{"-d", path}}.compare(t, s, syntax, every)
		t.Logf("%s\n%s", s, s.examples(25))
	}
}
