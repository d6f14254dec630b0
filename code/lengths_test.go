package code

import (
	"bufio"
	"encoding/hex"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/internal/fixture"
)

// TestLengths holds the lengths of instructions, and where branches and calls lead to, against objdump.
func TestLengths(t *testing.T) {
	for _, c := range []struct {
		a             *arch.Arch
		objdump, file string
	}{
		{arch.I386, "i686-linux-gnu-objdump", "/usr/i686-linux-gnu/lib/libc.so.6"},
		{arch.RISCV64, "riscv64-linux-gnu-objdump", "/usr/riscv64-linux-gnu/lib/libc.so.6"},
		{arch.ARM64, "aarch64-linux-gnu-objdump", "/usr/aarch64-linux-gnu/lib/libc.so.6"},
		{arch.ARM, "arm-linux-gnueabihf-objdump", ""}, // ARM and Thumb, which symbols tell apart
	} {
		t.Run(c.a.Name, func(t *testing.T) {
			fixture.Need(t, c.objdump)
			if c.file == "" {
				c.file = fixture.Build(t, "check/plain.c", "cc=arm-linux-gnueabihf-gcc", "-O2", "-g", "-static", "-marm")
			}
			cmd := exec.Command(c.objdump, "-d", "-w", "-z", "-j", ".text", c.file)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				fixture.Missing(t, err.Error())
			}
			defer cmd.Wait()
			defer cmd.Process.Kill()
			all, bad := 0, 0
			in := bufio.NewScanner(out)
			for in.Scan() && bad < 20 && (all < 300_000 || fixture.All()) {
				f := strings.Split(in.Text(), "\t")
				if len(f) < 3 {
					continue
				}
				pc, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(f[0]), ":"), 16, 64)
				b := objdumpBytes(f[1])
				if err != nil || b == nil || strings.Contains(f[2], "(bad)") || strings.HasPrefix(f[2], ".") {
					continue
				}
				all++
				code := append(b[:len(b):len(b)], 0x90, 0x90, 0x90, 0x90)
				got := Decode(c.a, code)
				if thumb := c.a == arch.ARM && len(strings.Fields(f[1])[0]) == 4; thumb {
					got = DecodeThumb(code)
				}
				if int(got.Len) != len(b) {
					bad++
					t.Errorf("%x: %s: % x: length %d", pc, f[2], b, got.Len)
					continue
				}
				if got.Next != Jump && got.Next != Branch && got.Next != Call {
					continue
				}
				operand := f[len(f)-1] // "401000 <main>", "eq, 401000 <main>"
				operand, _, _ = strings.Cut(operand, " <")
				if i := strings.LastIndexAny(operand, " ,"); i >= 0 {
					operand = operand[i+1:]
				}
				want, err := strconv.ParseUint(strings.TrimPrefix(operand, "0x"), 16, 64)
				to := pc + uint64(len(b)) + uint64(int64(got.Imm))
				if c.a.PtrSize == 4 {
					to &= 0xffffffff
				}
				if err == nil && to != want {
					bad++
					t.Errorf("%x: %s: % x: leads to %x", pc, strings.Join(f[2:], " "), b, to)
				}
			}
			t.Logf("%d instructions", all)
			if all < 20_000 {
				t.Errorf("%d instructions were compared", all)
			}
		})
	}
}

// objdumpBytes are the bytes of "e8 01 00 00 00", "94000001" or "9b02": what is written as words is little-endian.
func objdumpBytes(s string) []byte {
	words := strings.Fields(s)
	var out []byte
	for _, w := range words {
		b, err := hex.DecodeString(w)
		if err != nil {
			return nil
		}
		for i := len(b) - 1; i >= 0; i-- {
			out = append(out, b[i])
		}
	}
	return out
}
