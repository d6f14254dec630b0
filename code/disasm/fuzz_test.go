package disasm_test

import (
	"bytes"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/code/disasm"
)

// FuzzDecode checks that any bytes decode to a length of 1 to 15 that both entry points agree on, and
// that it is objdump's length unless objdump finds the bytes bad.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		"c5f877", "62f17c4858c1", "8fe878c0c011", "f20f10442408", "f3480fb8c0", "0f0fc1bf", "9bd9380000", "66666690",
	} {
		b, err := hex.DecodeString(s)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	_, missing := exec.LookPath("objdump")
	path := filepath.Join(f.TempDir(), "code")
	f.Fuzz(func(t *testing.T, code []byte) {
		code = code[:min(len(code), 32)]
		n := disasm.Length(arch.AMD64, code)
		for _, syntax := range []disasm.Syntax{disasm.ATT, disasm.Intel} {
			got := disasm.Decode(arch.AMD64, code, 0, disasm.Options{Syntax: syntax})
			if got.Len != n || n > len(code) || n > 15 || (n > 0) != (got.Text != "") {
				t.Fatalf("% x: %d bytes by Length, %d by Decode: %q", code, n, got.Len, got.Text)
			}
		}
		if len(code) > 15 && n == 0 {
			t.Fatalf("% x: no length", code)
		}
		if missing != nil {
			return
		}
		code = append(code[:len(code):len(code)], bytes.Repeat([]byte{0x90}, 16)...)
		n = disasm.Length(arch.AMD64, code)
		if err := os.WriteFile(path, code, 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("objdump", "-D", "-b", "binary", "-m", "i386:x86-64", "-w", "-z", path).Output()
		if err != nil {
			t.Skip(err)
		}
		for _, l := range strings.Split(string(out), "\n") {
			field := strings.SplitN(l, "\t", 3)
			if len(field) < 3 || strings.TrimSpace(field[0]) != "0:" {
				continue
			}
			if want := len(strings.Fields(field[1])); want != n && !strings.Contains(field[2], "bad") {
				t.Fatalf("% x: length %d, by objdump %d: %s", code, n, want, field[2])
			}
		}
	})
}

// TestLengthAllocates: the length of an instruction costs no memory.
func TestLengthAllocates(t *testing.T) {
	code, _ := hex.DecodeString("62f17c48584402019090909090909090")
	if n := testing.AllocsPerRun(1000, func() { disasm.Length(arch.AMD64, code) }); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

func BenchmarkLength(b *testing.B) {
	code, _ := hex.DecodeString("62f17c48584402019090909090909090")
	for b.Loop() {
		disasm.Length(arch.AMD64, code)
	}
}

func BenchmarkText(b *testing.B) {
	code, _ := hex.DecodeString("488b84248000000090909090909090")
	for b.Loop() {
		disasm.Decode(arch.AMD64, code, 0x401000, disasm.Options{})
	}
}
