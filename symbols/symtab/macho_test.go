package symtab

import (
	"testing"

	"dbg/image"
	"dbg/internal/fixture"
)

// TestMachOCodeBounds finds functions that have lost their symbols: in a stripped
// file they are where they are in the file that is not.
func TestMachOCodeBounds(t *testing.T) {
	for _, arch := range []string{"x86_64", "arm64"} {
		full, f := open(t, fixture.MachO(t, "macho/throws.cc", arch, "-O2"))
		bare, _ := open(t, fixture.MachO(t, "macho/throws.cc", arch, "-O2", "link:-x"))
		text, _ := f.Section("__text")
		found := 0
		for a := text.Addr; a < text.Addr+image.Addr(text.Size); a += 4 {
			lo, hi, ok := full.CodeBounds(a)
			lo2, hi2, ok2 := bare.CodeBounds(a)
			if lo != lo2 || hi != hi2 || ok != ok2 {
				t.Fatalf("%s: %v is in %v-%v, stripped in %v-%v", arch, a, lo, hi, lo2, hi2)
			}
			if ok {
				found++
			}
		}
		if found != int(text.Size+3)/4 {
			t.Errorf("%s: %d of %d", arch, found, text.Size/4)
		}
	}
}
