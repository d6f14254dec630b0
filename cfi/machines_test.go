package cfi_test

import (
	"strings"
	"testing"

	"dbg/arch"
)

// TestBookExample is the example of DWARF 5, appendix D.6: a machine like the Motorola 88000, whose register 8 stands for
// the return address. MIPS serves as a machine with 4-byte words and that many registers.
func TestBookExample(t *testing.T) {
	cie := []byte{1, 0, 4, 0x7c, 8, // version 1, no augmentation, code in units of 4, data of -4, return address in R8
		0x0c, 7, 0, // def_cfa(7, 0)
		0x08, 0, 0x07, 1, 0x07, 2, 0x07, 3, 0x08, 4, 0x08, 5, 0x08, 6, 0x08, 7, // R7: the architecture's rule
		0x09, 8, 1} // register(8, 1)
	got := rowsOf(t, arch.MIPS32, cie,
		0x41, 0x0e, 12, // foo+4: def_cfa_offset(12)
		0x41, 0x88, 1, // foo+8: offset(8, 1)
		0x41, 0x86, 2, // foo+12: offset(6, 2)
		0x41, 0x0d, 6, // foo+16: def_cfa_register(6)
		0x41, 0x84, 3, // foo+20: offset(4, 3)
		0x4b, 0xc4, // foo+64: restore(4)
		0x41, 0xc6, 0x0d, 7, // foo+68: restore(6), def_cfa_register(7)
		0x41, 0xc8, // foo+72: restore(8)
		0x41, 0x0e, 0) // foo+76: def_cfa_offset(0)
	// R0 to R7 are zero, at, v0, v1, a0, a1, a2 and a3 on MIPS.
	const kept = "zero=s at=u v0=u v1=u "
	want := strings.Join([]string{
		"1000 cfa=a3+0 " + kept + "a0=s a1=s a2=s a3=s ra=r1",
		"1004 cfa=a3+12 " + kept + "a0=s a1=s a2=s a3=s ra=r1",
		"1008 cfa=a3+12 " + kept + "a0=s a1=s a2=s a3=s ra=c-4",
		"100c cfa=a3+12 " + kept + "a0=s a1=s a2=c-8 a3=s ra=c-4",
		"1010 cfa=a2+12 " + kept + "a0=s a1=s a2=c-8 a3=s ra=c-4",
		"1014 cfa=a2+12 " + kept + "a0=c-12 a1=s a2=c-8 a3=s ra=c-4",
		"1040 cfa=a2+12 " + kept + "a0=s a1=s a2=c-8 a3=s ra=c-4",
		"1044 cfa=a3+12 " + kept + "a0=s a1=s a2=s a3=s ra=c-4",
		"1048 cfa=a3+12 " + kept + "a0=s a1=s a2=s a3=s ra=r1",
		"104c cfa=a3+0 " + kept + "a0=s a1=s a2=s a3=s ra=r1"}, "\n")
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestWindowSave: a function of SPARC has its caller's registers in the register window, and those of the caller's window
// where it is saved.
func TestWindowSave(t *testing.T) {
	for a, word := range map[*arch.Arch]string{arch.SPARC64: "8", arch.SPARC32: "4"} {
		got := rowsOf(t, a, []byte{1, 0, 1, 0x78, 15, 0x0c, 14, 0}, 0x41, 0x0d, 30, 0x2d, 0x09, 15, 31)
		lines := strings.Split(got, "\n")
		if len(lines) != 2 || lines[0] != "1000 cfa=sp+0" {
			t.Fatal(got)
		}
		for _, want := range []string{"cfa=fp+0", "o0=r24", "sp=r30", "ra=r31", "l0=c+0", "l1=c+" + word} {
			if !strings.Contains(" "+lines[1]+" ", " "+want+" ") {
				t.Errorf("%s: no %s in %s", a.Name, want, lines[1])
			}
		}
	}
	if got := rowsOf(t, arch.SPARC64, []byte{1, 0, 1, 0x78, 15, 0x0c, 14, 0}, 0x2c); !strings.Contains(got, "valid only on SPARC") {
		t.Errorf("DW_CFA_AARCH64_negate_ra_state_with_pc on SPARC: %s", got)
	}
}

// TestPowerPCVectors: PowerPC numbers vr20 to vr31 beyond the slots of dbg; others have none.
func TestPowerPCVectors(t *testing.T) {
	got := rowsOf(t, arch.PPC64, []byte{1, 0, 4, 0x78, 65, 0x0c, 1, 0}, 0x05, 108, 2, 0x05, 97, 4, 0x05, 80, 6, 0x05, 70, 1, 0x05, 65, 0)
	if got != "1000 cfa=r1+0 cr2=c-8 vr20=c-32 vr31=c-16 ra=c+0" {
		t.Error(got)
	}
}
