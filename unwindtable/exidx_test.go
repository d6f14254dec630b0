package unwindtable_test

import (
	"bytes"
	"context"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"dbg/internal/fixture"
	"dbg/unwindtable"
)

// exidxText prints .ARM.exidx of the file with every instruction.
func exidxText(t *testing.T, opt unwindtable.Options) (text, path string) {
	t.Helper()
	path = fixture.Build(t, "unwind/ehabi.s", "cc=arm-linux-gnueabihf-gcc", "-nostdlib", "-static")
	opt.Source = "exidx"
	var out bytes.Buffer
	if err := unwindtable.Print(context.Background(), &out, path, opt); err != nil {
		t.Fatal(err)
	}
	return out.String(), path
}

// TestExidx: a function has one row, its personality routine, and its language-specific data.
func TestExidx(t *testing.T) {
	fixture.Need(t, "arm-linux-gnueabihf-gcc")
	got, _ := exidxText(t, unwindtable.Options{Func: "f2"})
	want := `^f2 0x[0-9a-f]+\.\.0x[0-9a-f]+  exidx  \(entry 0x10\) personality 0x[0-9a-f]+ __gxx_personality_v0 LSDA 0x[0-9a-f]+
  pc      cfa  r4  ra
  0x[0-9a-f]+ sp\+8 c-8 c-4
  exceptions 0x[0-9a-f]+\.\.0x[0-9a-f]+  pass
  exceptions 0x[0-9a-f]+\.\.0x[0-9a-f]+  land at 0x[0-9a-f]+: cleanup
$`
	if !regexp.MustCompile(want).MatchString(got) {
		t.Errorf("%s\nwant %s", got, want)
	}
	got, _ = exidxText(t, unwindtable.Options{Func: "f1"})
	if !strings.HasSuffix(got, "(entry 0x8) the entry is marked as one that can't be unwound\n") {
		t.Error(got)
	}
	got, _ = exidxText(t, unwindtable.Options{Func: "f2", JSON: true})
	want = `^{"function":"f2","start":"0x[0-9a-f]+","end":"0x[0-9a-f]+","source":"exidx","entry":"0x10","signal":false,` +
		`"personality":"0x[0-9a-f]+ __gxx_personality_v0","lsda":"0x[0-9a-f]+","call_sites":\[{"start":"0x[0-9a-f]+","end":"0x[0-9a-f]+"},{"start":"0x[0-9a-f]+","end":"0x[0-9a-f]+","landing_pad":"0x[0-9a-f]+","actions":\[{"kind":"cleanup"}\]}\],"rows":\[{"pc":"0x[0-9a-f]+","cfa":"sp\+8","registers":{"r4":"c-8"},"ra":"c-4"}\]}\n$`
	if !regexp.MustCompile(want).MatchString(got) {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// TestExidxRaw: raw it is what readelf -u prints, but for names of gaps, the word for spare instructions, and the
// instructions of a personality routine that readelf does not know.
func TestExidxRaw(t *testing.T) {
	fixture.Need(t, "arm-linux-gnueabihf-gcc", "readelf")
	got, path := exidxText(t, unwindtable.Options{Raw: true})
	out, _ := exec.Command("readelf", "-u", path).Output() // fails after spare instructions
	want := strings.ReplaceAll(string(out), "[unsupported opcode]", "[Spare]")
	want = regexp.MustCompile(` <[^>]*\+0x[^>]*>`).ReplaceAllString(want, "")
	want = strings.Replace(want, "<other>\n", "<other>\n  0xb0      finish\n  0xb0      finish\n  0xb0      finish\n", 1)
	if got != want {
		t.Errorf("it is\n%s\nwant\n%s", got, want)
	}
}
