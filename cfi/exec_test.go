package cfi_test

import (
	"strings"
	"testing"

	"dbg/arch"
	"dbg/row"
)

// rowsOf returns the rows of a program as text, one per line, and the error that ended it.
func rowsOf(t *testing.T, a *arch.Arch, cie []byte, instr ...byte) string {
	t.Helper()
	b := &builder{a: a}
	c := b.cie(cie...)
	b.fde(c, 0x1000, 0x100, instr...)
	table := b.table()
	f, ok := table.Find(0x1000)
	if !ok {
		return "no FDE"
	}
	var lines []string
	for r, err := range table.Rows(f) {
		if err != nil {
			lines = append(lines, "error: "+err.Error())
			break
		}
		lines = append(lines, strings.TrimLeft(r.Format(a), "0"))
		var at row.Row
		if err := table.RowAt(r.Lo, &at); err != nil || at.Format(a) != r.Format(a) || at.Hi != r.Hi {
			t.Errorf("RowAt(0x%x): %s, %v", r.Lo, at.Format(a), err)
		}
	}
	return strings.Join(lines, "\n")
}

// TestInstructions has at least one case for each call frame instruction.
// beyondRange is the error of a program that continues after its range.
const beyondRange = "\nerror: .eh_frame entry at 0x12: instructions continue after the end of the range"

func TestInstructions(t *testing.T) {
	for _, c := range []struct {
		name  string
		instr string
		want  string
	}{
		{"nothing", "", "1000 cfa=rsp+8 ra=c-8"},
		{"nop", "\x00\x00", "1000 cfa=rsp+8 ra=c-8"},
		{"advance_loc", "\x41\x0e\x10", "1000 cfa=rsp+8 ra=c-8\n1001 cfa=rsp+16 ra=c-8"},
		{"advance_loc 0 makes no row", "\x40\x0e\x10", "1000 cfa=rsp+16 ra=c-8"},
		{"advance_loc1", "\x02\x80\x0e\x10", "1000 cfa=rsp+8 ra=c-8\n1080 cfa=rsp+16 ra=c-8"},
		{"advance_loc2", "\x03\x80\x00\x0e\x10", "1000 cfa=rsp+8 ra=c-8\n1080 cfa=rsp+16 ra=c-8"},
		{"advance_loc4", "\x04\x80\x00\x00\x00\x0e\x10", "1000 cfa=rsp+8 ra=c-8\n1080 cfa=rsp+16 ra=c-8"},
		{"MIPS_advance_loc8", "\x1d\x80\x00\x00\x00\x00\x00\x00\x00\x0e\x10", "1000 cfa=rsp+8 ra=c-8\n1080 cfa=rsp+16 ra=c-8"},
		{"set_loc", "\x01\x20\x10\x00\x00\x00\x00\x00\x00\x0e\x10", "1000 cfa=rsp+8 ra=c-8\n1020 cfa=rsp+16 ra=c-8"},
		{"set_loc backwards", "\x01\x00\x0f\x00\x00\x00\x00\x00\x00", "error: .eh_frame entry at 0x12: location goes backwards"},
		{"beyond the end", "\x04\x00\x10\x00\x00\x0e\x10", "1000 cfa=rsp+8 ra=c-8" + beyondRange},
		{"at the end", "\x04\x00\x01\x00\x00\x0e\x10\x86\x02", "1000 cfa=rsp+8 ra=c-8"},
		{"at the end and beyond", "\x04\x00\x01\x00\x00\x0e\x10\x41\x0e\x18", "1000 cfa=rsp+8 ra=c-8" + beyondRange},
		{"offset", "\x86\x02", "1000 cfa=rsp+8 rbp=c-16 ra=c-8"},
		{"offset_extended", "\x05\x06\x02", "1000 cfa=rsp+8 rbp=c-16 ra=c-8"},
		{"offset_extended_sf", "\x11\x06\x7e", "1000 cfa=rsp+8 rbp=c+16 ra=c-8"},
		{"GNU_negative_offset_extended", "\x2f\x06\x02", "1000 cfa=rsp+8 rbp=c+16 ra=c-8"},
		{"restore gives the CIE's rule", "\x90\x05\xd0", "1000 cfa=rsp+8 ra=c-8"},
		{"restore of what the CIE has not is unspecified", "\x86\x02\xc6", "1000 cfa=rsp+8 ra=c-8"},
		{"restore_extended", "\x86\x02\x06\x06", "1000 cfa=rsp+8 ra=c-8"},
		{"undefined", "\x07\x10", "1000 cfa=rsp+8 ra=u"},
		{"same_value", "\x08\x06", "1000 cfa=rsp+8 rbp=s ra=c-8"},
		{"register", "\x09\x10\x01", "1000 cfa=rsp+8 ra=r1"},
		{"val_offset", "\x14\x07\x02", "1000 cfa=rsp+8 rsp=v-16 ra=c-8"},
		{"val_offset_sf", "\x15\x07\x7e", "1000 cfa=rsp+8 rsp=v+16 ra=c-8"},
		{"expression", "\x10\x06\x02\x77\x08", "1000 cfa=rsp+8 rbp=exp ra=c-8"},
		{"val_expression", "\x16\x06\x02\x77\x08", "1000 cfa=rsp+8 rbp=vexp ra=c-8"},
		{"def_cfa", "\x0c\x06\x10", "1000 cfa=rbp+16 ra=c-8"},
		{"def_cfa_sf", "\x12\x06\x7e", "1000 cfa=rbp+16 ra=c-8"},
		{"def_cfa_register", "\x0d\x06", "1000 cfa=rbp+8 ra=c-8"},
		{"def_cfa_offset", "\x0e\x20", "1000 cfa=rsp+32 ra=c-8"},
		{"def_cfa_offset_sf", "\x13\x7c", "1000 cfa=rsp+32 ra=c-8"},
		{"def_cfa_expression", "\x0f\x02\x77\x08", "1000 cfa=exp ra=c-8"},
		{"def_cfa_register after an expression", "\x0e\x38\x0f\x02\x77\x08\x41\x0d\x07", "1000 cfa=exp ra=c-8\n1001 cfa=rsp+56 ra=c-8"},
		{"remember and restore", "\x0a\x0e\x10\x86\x02\x41\x0b", "1000 cfa=rsp+16 rbp=c-16 ra=c-8\n1001 cfa=rsp+8 ra=c-8"},
		{"remember, nested", "\x0a\x0e\x10\x0a\x0e\x20\x41\x0b\x41\x0b", "1000 cfa=rsp+32 ra=c-8\n1001 cfa=rsp+16 ra=c-8\n1002 cfa=rsp+8 ra=c-8"},
		{"restore unbalanced spoils only its own row", "\x41\x0e\x10\x41\x0b", "1000 cfa=rsp+8 ra=c-8\n1001 cfa=rsp+16 ra=c-8\nerror: .eh_frame entry at 0x12: DW_CFA_restore_state without DW_CFA_remember_state"},
		{"remember without end", strings.Repeat("\x0a", 65), "error: .eh_frame entry at 0x12: too many nested DW_CFA_remember_state"},
		{"GNU_args_size", "\x2e\x10", "1000 cfa=rsp+8 ra=c-8"},
		{"GNU_window_save", "\x2d", "error: .eh_frame entry at 0x12: DW_CFA_GNU_window_save is valid only on SPARC"},
		{"LLVM_def_aspace_cfa", "\x30\x06\x10\x00", "1000 cfa=rbp+16 ra=c-8"},
		{"LLVM_def_aspace_cfa_sf", "\x31\x06\x7e\x00", "1000 cfa=rbp+16 ra=c-8"},
		{"LLVM_def_aspace_cfa in another space", "\x30\x06\x10\x05", "error: .eh_frame entry at 0x12: CFA is in unsupported address space 5"},
		{"def_cfa_offset of two bytes", "\x0e\x88\x01", "1000 cfa=rsp+136 ra=c-8"},
		{"def_cfa_offset of three bytes", "\x0e\x88\x81\x01", "1000 cfa=rsp+16520 ra=c-8"},
		{"offset of two bytes", "\x86\x82\x01", "1000 cfa=rsp+8 rbp=c-1040 ra=c-8"},
		{"unknown instruction", "\x41\x3c", "1000 cfa=rsp+8 ra=c-8\nerror: .eh_frame entry at 0x12: unknown call frame instruction 0x3c"},
		{"truncated", "\x0e", "error: .eh_frame entry at 0x12: a LEB128 number is cut short at offset 0x2b"},
		{"a register that is not", "\x05\xff\x01\x02", "1000 cfa=rsp+8 ra=c-8"},
		{"CFA on a register that is not", "\x0c\xff\x01\x02", "error: .eh_frame entry at 0x12: amd64 has no DWARF register 255"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := rowsOf(t, arch.AMD64, plain, []byte(c.instr)...); got != c.want {
				t.Errorf("% x\n got %s\nwant %s", c.instr, got, c.want)
			}
		})
	}
}

func TestARM64(t *testing.T) {
	// code align 4, data align -8, RA 30; CFA = sp+0
	cie := []byte{1, 'z', 'R', 'B', 'G', 0, 4, 0x78, 30, 1, 0x00, 0x0c, 31, 0}
	b := &builder{a: arch.ARM64}
	c := b.cie(cie...)
	b.fde(c, 0x1000, 0x100, 0, 0x41, 0x2d, 0x41, 0x0e, 16, 0x9d, 2, 0x9e, 1, 0x41, 0x2d, 0x0e, 0)
	table := b.table()
	f, ok := table.Find(0x1004)
	if !ok || !f.CIE.BKey || !f.CIE.MTE {
		t.Fatalf("%+v, %v", f, ok)
	}
	var signed []bool
	var text []string
	for r, err := range table.Rows(f) {
		if err != nil {
			t.Fatal(err)
		}
		signed = append(signed, r.Signed)
		text = append(text, strings.TrimLeft(r.Format(arch.ARM64), "0"))
	}
	want := "1000 cfa=sp+0|1004 cfa=sp+0|1008 cfa=sp+16 x29=c-16 ra=c-8|100c cfa=sp+0 x29=c-16 ra=c-8"
	if got := strings.Join(text, "|"); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if len(signed) != 4 || signed[0] || !signed[1] || !signed[2] || signed[3] {
		t.Errorf("signed: %v", signed)
	}
}

func TestARMFloatRegisters(t *testing.T) {
	cie := []byte{1, 0, 1, 0x7c, 14, 0x0c, 13, 0}
	got := rowsOf(t, arch.ARM, cie, 0x05, 0x88, 0x02, 4) // d8 = 264
	if want := "1000 cfa=sp+0 d8=c-16"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
