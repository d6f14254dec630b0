package module

import (
	"debug/elf"
	"encoding/binary"
	"os"
	"testing"

	"dbg/arch"
	"dbg/image"
	"dbg/internal/fixture"
	"dbg/row"
)

// sectionless returns the bytes of an ELF file without its section headers.
func sectionless(t testing.TB, path string) []byte {
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	shoff, shnum := 40, 60 // e_shoff; e_shnum and e_shstrndx
	if b[elf.EI_CLASS] == byte(elf.ELFCLASS32) {
		shoff, shnum = 32, 48
		binary.LittleEndian.PutUint32(b[shoff:], 0)
	} else {
		binary.LittleEndian.PutUint64(b[shoff:], 0)
	}
	binary.LittleEndian.PutUint32(b[shnum:], 0)
	return b
}

// TestSectionless: .eh_frame is found by PT_GNU_EH_FRAME where there are no section headers, with the same rows.
func TestSectionless(t *testing.T) {
	for compiler, a := range map[string]*arch.Arch{
		"gcc": arch.AMD64, "i686-linux-gnu-gcc": arch.I386, "aarch64-linux-gnu-gcc": arch.ARM64,
	} {
		for _, flags := range [][]string{{"-static", "-Wl,--eh-frame-hdr"}, {"-pie", "-fPIE"}} {
			t.Run(a.Name+" "+flags[0], func(t *testing.T) {
				fixture.Need(t, compiler)
				path := fixture.Build(t, "unwind/deep.c", append([]string{"cc=" + compiler, "-O1"}, flags...)...)
				whole, err := image.Open(path)
				if err != nil {
					t.Fatal(err)
				}
				defer whole.Close()
				cut, err := image.FromMemory("cut", sectionless(t, path))
				if err != nil {
					t.Fatal(err)
				}
				_, want := Of(whole, nil).Tables(a)
				m := Of(cut, nil)
				_, got := m.Tables(a)
				if got == nil || want == nil {
					t.Fatalf("tables %v, %v", got != nil, want != nil)
				}
				if entry := uint64(cut.Entry()) &^ 3; len(m.contents.Code) == 0 || entry < m.contents.Code[0].Addr ||
					entry-m.contents.Code[0].Addr >= uint64(len(m.contents.Code[0].Data)) {
					t.Errorf("the code at the entry point is not there: %d pieces", len(m.contents.Code))
				}
				rows := 0
				for f, err := range want.FDEs() {
					if err != nil {
						t.Fatal(err)
					}
					var r, o row.Row
					e1, e2 := want.RowAt(f.Lo, &o), got.RowAt(f.Lo, &r)
					if f.Lo < f.Hi && (e1 != nil || e2 != nil || r.Format(a) != o.Format(a)) {
						t.Fatalf("at %x: %v %s, want %v %s", f.Lo, e2, r.Format(a), e1, o.Format(a))
					}
					rows++
				}
				if got.Entries() != want.Entries() || rows < 5 {
					t.Errorf("%d entries, want %d", got.Entries(), want.Entries())
				}
				// Damaged headers are no tables, and no panic.
				b := sectionless(t, path)
				hdr, _, _ := cut.EHFrame()
				for i := range 12 {
					for _, v := range []byte{0, 0xff, 0x1c, 0x30, 0x7f, 0x80} {
						damaged := append([]byte(nil), b...)
						damaged[hdr.Offset+uint64(i)] = v
						if f, err := image.FromMemory("damaged", damaged); err == nil {
							Of(f, nil).Compile(a)
						}
					}
				}
			})
		}
	}
}
