package unwindtable_test

import (
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"dbg/internal/fixture"
	"dbg/unwindtable"
)

// mipsFile assembles and links the functions of each form. flags are those of an ABI and a byte order.
func mipsFile(t *testing.T, as, ld []string) string {
	t.Helper()
	fixture.Need(t, "mips-linux-gnu-as", "mips-linux-gnu-ld")
	dir := t.TempDir()
	object, out := filepath.Join(dir, "a.o"), filepath.Join(dir, "a")
	for _, c := range []*exec.Cmd{
		exec.Command("mips-linux-gnu-as", append(as, "-mno-pdr", "-o", object, filepath.Join(fixture.Root(),
			"testdata/unwind/mipseh.s"))...),
		exec.Command("mips-linux-gnu-ld", append(ld, "--eh-frame-hdr", "-Ttext=0x401100", object, "-o", out)...),
	} {
		if text, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", c, err, text)
		}
	}
	return out
}

func compactEHText(t *testing.T, path string, opt unwindtable.Options) string {
	t.Helper()
	opt.Source = "eh_frame_entry"
	var out bytes.Buffer
	if err := unwindtable.Print(context.Background(), &out, path, opt); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestCompactEH prints the tables that GNU as and ld write, in both byte orders and for each ABI.
func TestCompactEH(t *testing.T) {
	// The linker has a symbol of its own at the start, and the last function ends where .text ends.
	const o32 = `_ftext 0x401100..0x401108 can't unwind
inline 0x401108..0x401114 sp+16 c-20 c-16 c-12 c-8 c-4
outside 0x401114..0x401120 sp+2136 c-2080 c-2076 c-2072 c-2068
framed 0x401120..0x40112c s8+32 c-12 c-8 c-4
generic 0x40112c..0x401138 sp+8 c-12 c-8 c-4 routine
routine 0x401138..0x401150 sp+64 c-8 c-4 c-20 c-16 c-12 - LSDA`
	const n64 = `_ftext 0x401100..0x401108 can't unwind
inline 0x401108..0x401114 sp+32 c-40 c-32 c-24 c-16 c-8
outside 0x401114..0x401120 sp+4272 c-4160 c-4152 c-4144 c-4136
framed 0x401120..0x40112c s8+64 c-24 c-16 c-8
generic 0x40112c..0x401138 sp+16 c-24 c-16 c-8 routine
routine 0x401138..0x401150 sp+128 c-16 c-8 c-40 c-32 c-24 - LSDA`
	for _, c := range []struct {
		name   string
		as, ld []string
		want   string
	}{
		{"o32 big-endian", []string{"-EB", "-mabi=32"}, []string{"-EB"}, o32},
		{"o32 little-endian", []string{"-EL", "-mabi=32"}, []string{"-EL"}, o32},
		{"n32", []string{"-EB", "-n32", "-mips64"}, []string{"-EB", "-melf32btsmipn32"}, n64},
		{"n64", []string{"-EL", "-64", "-mips64"}, []string{"-EL", "-melf64ltsmip"}, n64},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := compactEHText(t, mipsFile(t, c.as, c.ld), unwindtable.Options{})
			if summary := summarize(got); summary != c.want {
				t.Errorf("%s\nsummary\n%s\nwant\n%s", got, summary, c.want)
			}
		})
	}
}

// summarize makes one line for each function: its addresses, its row, and its personality routine if that
// has a name, or that it has data.
func summarize(text string) string {
	var out []string
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		w := strings.Fields(line)
		switch {
		case w[0] == "pc":
		case strings.HasPrefix(w[0], "0x"):
			i := len(out) - 1
			head, tail, _ := strings.Cut(out[i], "|")
			out[i] = head + strings.Join(w[1:], " ") + tail
		default:
			s := w[0] + " " + w[1] + " |"
			switch {
			case strings.Contains(line, "can't be unwound"):
				s = w[0] + " " + w[1] + " can't unwind"
			case strings.HasSuffix(line, " routine"):
				s += " routine" // the personality routine
			case strings.Contains(line, "__gnu_compact_pr2 LSDA 0x"):
				s += " LSDA"
			}
			out = append(out, s)
		}
	}
	return strings.ReplaceAll(strings.Join(out, "\n"), "|", "")
}

// TestCompactEHRaw prints the entries with their instructions.
func TestCompactEHRaw(t *testing.T) {
	got := compactEHText(t, mipsFile(t, []string{"-EB", "-mabi=32"}, []string{"-EB"}), unwindtable.Options{Raw: true,
		Func: "routine"})
	lines := strings.Split(strings.TrimSpace(got), "\n")
	want := []string{"  07  sp += 64", "  59 81  push s1, s0", "  62  push f22, f21, f20", "  5f  nop", "  5c  finish"}
	if !strings.HasPrefix(lines[0], "0x401138..0x401150 routine: out of line @0x") || !strings.HasSuffix(lines[0],
		", __gnu_compact_pr2") ||
		strings.ReplaceAll(strings.Join(lines[1:], "\n"), "  5f  nop\n", "") != strings.ReplaceAll(strings.Join(want,
			"\n"), "  5f  nop\n", "") {
		t.Errorf("%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}
