package unwindtable

import (
	"context"
	"errors"
	"fmt"

	"dbg/arch"
	"dbg/cfi"
	"dbg/image"
	"dbg/symbols"
)

// file is a file, or a file and the separate debug file that has its tables.
type file struct {
	*image.File
	debug     *image.File // nil if it is not needed
	arch      *arch.Arch
	syms      *symbols.Module
	tables    []source
	typeNames map[uint64]string // see dataNames

	elsewhere bool // there is a section without contents: this is a separate debug file
}

// source is one section.
type source struct {
	name    string // of Sources
	section string
	table   *cfi.Table
	other   other          // instead of table
	relocs  map[uint64]int // of a relocatable file: the section that a relocated word refers to
}

// other is a table that is no call frame information.
type other interface {
	// print prints the entries that are wanted, in the printer's style or raw.
	print(ctx context.Context, p *printer, s *source) error
}

// formats are the formats of tables in the order in which a file's are printed. add adds the file's
// tables of the format; missing is said of a file that has none.
var formats = [...]struct {
	name    string // of Sources
	add     func(f *file) error
	missing string
}{
	{"eh_frame", func(f *file) error { return f.add(f.File, "eh_frame") }, ""},
	{"compact", (*file).addCompact, "it has no section __unwind_info or __compact_unwind"},
	{"pdata", (*file).addPData, "it has no function table of Windows"},
	{"debug_frame", (*file).addDebugFrame, ""},
	{"orc", (*file).addORC, "it has no sections .orc_unwind and .orc_unwind_ip"},
	{"exidx", (*file).addExidx, "it is not a linked file with a section .ARM.exidx"},
	{"sframe", (*file).addSFrame, "it has no section .sframe for x86-64, AArch64 or s390x"},
	{compactEH, (*file).addCompactEH, "it is not a linked MIPS file with compact exception tables"},
}

func open(img *image.File, only string) (*file, error) {
	f := &file{File: img, arch: img.TableArch()}
	if err := f.load(only); err != nil {
		f.close()
		return nil, fmt.Errorf("%s: %w", img.Path(), err)
	}
	f.syms = symbols.Load(img, symbols.Options{})
	return f, nil
}

// close closes what open opened; the file itself is the caller's.
func (f *file) close() {
	if f.syms != nil {
		f.syms.Close()
	}
	f.debug.Close()
}

// load finds the tables.
func (f *file) load(only string) error {
	if f.arch == nil {
		return fmt.Errorf("it is for %s, of which dbg knows no registers", f.Machine())
	}
	for i := range formats {
		if x := &formats[i]; only == "" || only == x.name {
			if err := x.add(f); err != nil {
				return err
			}
		}
	}
	if len(f.tables) > 0 {
		return nil
	}
	return f.missing(only)
}

// missing is the error of a file without the table, or without any.
func (f *file) missing(only string) error {
	if f.elsewhere {
		return errors.New("it is a separate debug file, and the tables are in the file that it was split from")
	}
	for i := range formats {
		switch x := &formats[i]; {
		case only != x.name:
		case x.missing != "":
			return errors.New(x.missing)
		default:
			return fmt.Errorf("it has no section %s with contents", f.sectionName(only))
		}
	}
	switch {
	case only != "":
		return fmt.Errorf("%s tables can't be printed yet", only)
	case f.Format() == image.MachO:
		return errors.New("it has no unwind tables (__unwind_info, __eh_frame, __debug_frame)")
	case f.Format() == image.PE:
		return errors.New("it has no unwind tables (.pdata, .eh_frame, .debug_frame)")
	}
	return errors.New("it has no unwind tables (.eh_frame, .debug_frame, .ARM.exidx, .sframe)")
}

// sectionName is the name of the section of a table. Debug information of Mach-O files is found by its names in ELF files.
func (f *file) sectionName(name string) string {
	if f.Format() == image.MachO && name == "eh_frame" {
		return "__eh_frame"
	}
	return "." + name
}

// addDebugFrame adds .debug_frame, of the separate debug file if the file itself has no table.
func (f *file) addDebugFrame() error {
	if err := f.add(f.File, "debug_frame"); err != nil || len(f.tables) > 0 {
		return err
	}
	if f.debug, _, _ = f.DebugFile(nil); f.debug != nil {
		return f.add(f.debug, "debug_frame")
	}
	return nil
}

// add adds a section if the file has it.
func (f *file) add(img *image.File, name string) error {
	s, ok := img.Section(f.sectionName(name))
	if !ok || s.Size == 0 {
		return nil
	}
	if s.Data == nil { // in a separate debug file only the header is left
		f.elsewhere = true
		_, err := img.SectionData(s.Name)
		return err
	}
	src := source{name: name, section: f.sectionName(name)}
	c := cfi.Config{Arch: f.arch, Data: s.Data, Addr: uint64(s.Addr), Debug: name == "debug_frame",
		DarwinEH: f.Format() == image.MachO && name == "eh_frame"}
	if img.Kind() == image.Relocatable && img.Format() != image.MachO {
		c.Data, src.relocs = relocated(img, s)
	}
	if name == "eh_frame" {
		if h, ok := img.Section(".eh_frame_hdr"); ok {
			c.Hdr, c.HdrAddr = h.Data, uint64(h.Addr)
		}
		if t, ok := img.Section(".text"); ok {
			c.Text = uint64(t.Addr)
		}
		for _, got := range []string{".got", ".got.plt"} {
			if g, ok := img.Section(got); ok {
				c.DataBase = uint64(g.Addr)
			}
		}
	}
	src.table = cfi.New(c)
	f.tables = append(f.tables, src)
	return nil
}
