package unwindtable

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"dbg/image"
	"dbg/internal/fixture"
)

// FuzzPrint prints whatever a file may be: its sections, its relocations, its names.
func FuzzPrint(f *testing.F) {
	src := filepath.Join(fixture.Root(), "testdata/cfi/table.c")
	for _, words := range [][]string{
		{"gcc", "-c", "-O2"}, {"gcc", "-m32", "-c", "-O2"}, {"gcc", "-shared", "-fPIC", "-nostdlib", "-s"}, {"gcc", "-c", "-g", "-fno-asynchronous-unwind-tables"},
		{"aarch64-linux-gnu-gcc", "-c"}, {"riscv64-linux-gnu-gcc", "-c", "-fasynchronous-unwind-tables"}, {"arm-linux-gnueabihf-gcc", "-c", "-g"},
	} {
		out := filepath.Join(f.TempDir(), "seed.o")
		if exec.Command(words[0], append(words[1:], "-o", out, src)...).Run() != nil {
			continue // not installed
		}
		if data, err := os.ReadFile(out); err == nil {
			f.Add(data, uint64(1), "saves", byte(0))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, pc uint64, name string, how byte) {
		img, err := image.FromMemory("fuzzed", data)
		if err != nil {
			return
		}
		opt := Options{JSON: how&1 != 0, Raw: how&2 != 0}
		if how&4 != 0 {
			opt.PC = &pc
		}
		if how&8 != 0 {
			opt.Func = name
		}
		printImage(context.Background(), io.Discard, img, opt)
	})
}
