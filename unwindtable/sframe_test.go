package unwindtable

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"dbg/internal/fixture"
)

func printSFrame(t *testing.T, file string, o Options) string {
	t.Helper()
	var b bytes.Buffer
	o.Source = "sframe"
	if err := Print(context.Background(), &b, file, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestSFrame prints .sframe in each form.
func TestSFrame(t *testing.T) {
	file := fixture.Build(t, "unwind/sframe.c", "-Os", "-Wa,--gsframe", "-Wl,-z,lazy")
	text := printSFrame(t, file, Options{Func: "saves"})
	if !strings.HasPrefix(text, "saves 0x") || !strings.Contains(text, "  sframe  (FDE 0x") || !strings.Contains(text, "other registers unknown") ||
		!strings.Contains(text, "rsp+8") || !strings.Contains(text, "c-8") {
		t.Errorf("text: %s", text)
	}
	var o struct {
		Function, Source, Remark string
		Rows                     []struct {
			PC, CFA, RA string
			Registers   map[string]string
		}
	}
	if err := json.Unmarshal([]byte(printSFrame(t, file, Options{Func: "saves", JSON: true})), &o); err != nil {
		t.Fatal(err)
	}
	if o.Function != "saves" || o.Source != "sframe" || len(o.Rows) < 3 || o.Rows[0].CFA != "rsp+8" || o.Rows[0].RA != "c-8" ||
		o.Rows[0].Registers["rbp"] != "s" || len(o.Rows[1].Registers) != 1 || o.Remark != "other registers unknown" {
		t.Errorf("JSON: %+v", o)
	}
	raw := printSFrame(t, file, Options{Raw: true})
	if !strings.HasPrefix(raw, "Contents of the SFrame section .sframe:\n") || strings.Count(raw, "func idx [") < 8 {
		t.Errorf("raw: %s", raw)
	}
	if all := printSFrame(t, file, Options{}); !strings.Contains(all, ", repeats every 16 bytes\n") {
		t.Errorf("the PLT is missing: %s", all)
	}
	var b bytes.Buffer
	if err := Print(context.Background(), &b, fixture.Build(t, "unwind/deep.c"), Options{Source: "sframe"}); err == nil {
		t.Error("a program without .sframe has a table")
	}
}

// TestSFrameOfOthers prints version 3: files of machines that dbg does not debug, and an object, whose
// addresses are relocations.
func TestSFrameOfOthers(t *testing.T) {
	fixture.Sweep(t)
	bin := fixture.Binutils(t, fixture.Forky)
	dir := t.TempDir()
	for _, c := range []struct{ target, option, link, source, want string }{
		{"s390x-linux-gnu-", "-m64", "-melf64_s390", "k: .cfi_startproc\n.cfi_register 14, 17\nnop\n.cfi_register 11, 16\nnop\n.cfi_endproc\n", "r15+160 r16 v-160 r17"},
		{"aarch64-linux-gnu-", "-EB", "-maarch64linuxb", "k: .cfi_startproc\n.cfi_offset 30, -8\nnop\n.cfi_endproc\n", "sp+0 s   c-8"},
		{"x86_64-linux-gnu-", "--64", "", "nop\nk: .cfi_startproc\nnop\n.cfi_def_cfa_offset 24\nnop\n.cfi_endproc\n", "0x2 rsp+24 s   c-8"},
	} {
		source, object, linked := filepath.Join(dir, "x.s"), filepath.Join(dir, "x.o"), filepath.Join(dir, "x")
		if err := os.WriteFile(source, []byte(".text\n.globl _start\n_start:\n"+c.source), 0o644); err != nil {
			t.Fatal(err)
		}
		if msg, err := exec.Command(filepath.Join(bin, c.target+"as"), c.option, "--gsframe", "-o", object, source).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, msg)
		}
		if c.link != "" {
			if msg, err := exec.Command(filepath.Join(bin, c.target+"ld"), c.link, "-o", linked, object).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, msg)
			}
			object = linked
		}
		if text := printSFrame(t, object, Options{}); !strings.Contains(text, c.want) {
			t.Errorf("%s has no %q: %s", c.target, c.want, text)
		}
	}
}
