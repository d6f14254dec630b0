package module

import (
	"errors"
	"testing"

	"dbg/arch"
	"dbg/ehabi"
	"dbg/image"
	"dbg/internal/fixture"
	"dbg/row"
)

// exidxOf is the module's source for .ARM.exidx.
func exidxOf(t *testing.T, f *image.File) *Source {
	t.Helper()
	for _, s := range Of(f, nil).Sources(arch.ARM) {
		if s.Kind() == KindEHABI {
			return s
		}
	}
	t.Fatalf("%s has no .ARM.exidx", f.Path())
	return nil
}

// headerOf is the address of the ELF header.
func headerOf(f *image.File) uint64 {
	for _, s := range f.Segments() {
		if s.FileOff == 0 {
			return uint64(s.Lo)
		}
	}
	return 0
}

// TestSectionlessExidx: .ARM.exidx and .ARM.extab are found by PT_ARM_EXIDX where there are no section headers: in a file
// that was stripped of them, and in a process's memory.
func TestSectionlessExidx(t *testing.T) {
	fixture.Need(t, "arm-linux-gnueabihf-gcc")
	for _, flags := range [][]string{{"-static"}, {"-pie", "-fPIE"}} {
		t.Run(flags[0], func(t *testing.T) {
			path := fixture.Build(t, "unwind/deep.c", append([]string{"cc=arm-linux-gnueabihf-gcc", "-O1", "-funwind-tables"}, flags...)...)
			whole, err := image.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer whole.Close()
			cut, err := image.FromMemory("cut", sectionless(t, path))
			if err != nil {
				t.Fatal(err)
			}
			defer cut.Close()
			const slide = 0x40000000
			mapped, err := image.FromMapped("mapped", func(addr uint64, buf []byte) (int, error) {
				n, err := whole.ReadAt(image.Addr(addr-slide), buf)
				if n == 0 && err == nil {
					err = errors.New("not mapped")
				}
				return n, err
			}, slide+headerOf(whole))
			if err != nil {
				t.Fatal(err)
			}
			defer mapped.Close()
			want := exidxOf(t, whole)
			for name, f := range map[string]*image.File{"cut": cut, "mapped": mapped} {
				got := exidxOf(t, f)
				if got.Entries() != want.Entries() || want.Entries() < 5 {
					t.Fatalf("%s: %d entries, want %d", name, got.Entries(), want.Entries())
				}
				rows := 0
				for e := range want.table.(ehabiTable).All() {
					var r, o row.Row
					e1, e2 := want.RowAt(e.Lo, &o), got.RowAt(e.Lo, &r)
					if (e1 == nil) != (e2 == nil) || e1 == nil && r.Format(arch.ARM) != o.Format(arch.ARM) {
						t.Fatalf("%s at %#x: %v %s, want %v %s", name, e.Lo, e2, r.Format(arch.ARM), e1, o.Format(arch.ARM))
					}
					if e1 == nil && e.Model != ehabi.Inline {
						rows++
					}
				}
				if flags[0] == "-static" && rows < 5 {
					t.Errorf("%s: %d rows from .ARM.extab", name, rows)
				}
			}
		})
	}
}

// TestCompiledExidx holds the compiled rows against those that are decoded.
func TestCompiledExidx(t *testing.T) {
	fixture.Need(t, "arm-linux-gnueabihf-gcc")
	path := fixture.Build(t, "unwind/deep.c", "cc=arm-linux-gnueabihf-gcc", "-O1", "-funwind-tables", "-static")
	f, err := image.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m := Of(f, nil)
	m.Compile(arch.ARM)
	for _, s := range m.Sources(arch.ARM) {
		if s.Kind() != KindEHABI {
			continue
		}
		c := s.compiled.Load()
		if c == nil || c.Rows() < 50 {
			t.Fatal("the table was not compiled")
		}
		var r row.Row
		for e := range s.table.(ehabiTable).All() {
			for _, pc := range []uint64{e.Lo, e.Hi - 1} {
				if e.Lo == e.Hi {
					continue
				}
				err := s.RowAt(pc, &r)
				p, _ := c.Lookup(pc)
				if (p != nil) != (err == nil) {
					t.Fatalf("at %#x: compiled %v, decoded %v", pc, p != nil, err)
				}
				if p == nil {
					continue
				}
				own := *p.Row()
				own.Lo, own.Hi, own.Source = r.Lo, r.Hi, r.Source
				if own.Format(arch.ARM) != r.Format(arch.ARM) {
					t.Fatalf("at %#x: compiled %s, decoded %s", pc, own.Format(arch.ARM), r.Format(arch.ARM))
				}
			}
		}
	}
}
