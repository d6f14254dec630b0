package symbols

import (
	"fmt"
	"slices"

	"dbg/dwarf"
	"dbg/image"
)

// splitFiles are the .dwo files and the package that a module's units are split
// into.
type splitFiles struct {
	files    []*image.File          // all that are open
	dwo      map[string]*dwarf.Data // by compilation directory and name, in one string
	all      []*dwarf.Data          // each once
	pack     *dwarf.Data            // nil if there is none
	packPath string
	packWhy  string // why a package that is there can't be used
	packDone bool

	fromPack, fromFiles, missing int    // units
	why                          string // the first unit that is missing
}

// split gives the full unit of a skeleton unit. It is dwarf.Data.Split. f is
// the file with the skeleton.
func (m *Module) split(f *image.File, skeleton *dwarf.Unit) *dwarf.Unit {
	x := &m.splits
	if pack := m.openPackage(f); pack != nil {
		u, err := pack.SplitUnit(skeleton)
		if err == nil {
			x.fromPack++
			return u
		}
		x.packWhy = fmt.Sprintf("%s: %v", x.packPath, err)
	}
	u, err := m.openDwo(f, skeleton)
	if err == nil {
		x.fromFiles++
		return u
	}
	if x.missing++; x.missing == 1 {
		x.why = err.Error()
		if x.packWhy != "" {
			x.why = x.packWhy + "; " + x.why
		}
	}
	return nil
}

// openDwo opens the .dwo file of a skeleton unit, once for all units that are
// in it.
func (m *Module) openDwo(f *image.File, skeleton *dwarf.Unit) (*dwarf.Unit, error) {
	x := &m.splits
	root := skeleton.Root()
	key := root.CompDir + "\x00" + root.DwoName
	if d := x.dwo[key]; d != nil {
		if u, err := d.SplitUnit(skeleton); err == nil {
			return u, nil
		}
	}
	var d *dwarf.Data
	var u *dwarf.Unit
	file, err := f.OpenSplit(root.CompDir, root.DwoName, m.opt.DebugDirs, func(file *image.File) (err error) {
		if err := sameKind(f, file); err != nil {
			return err
		}
		d = dwarf.NewSplit(file.Split(), file.BigEndian())
		u, err = d.SplitUnit(skeleton)
		return err
	})
	if err != nil {
		return nil, err
	}
	if x.dwo == nil {
		x.dwo = map[string]*dwarf.Data{}
	}
	x.dwo[key] = d
	x.files, x.all = append(x.files, file), append(x.all, d)
	return u, nil
}

// openPackage opens the package, if there is one, on the first call.
func (m *Module) openPackage(f *image.File) *dwarf.Data {
	x := &m.splits
	if x.packDone {
		return x.pack
	}
	x.packDone = true
	for _, of := range []*image.File{f, m.file} {
		file, err := of.OpenPackage(m.opt.DebugDirs, func(file *image.File) (err error) {
			if err := sameKind(f, file); err != nil {
				return err
			}
			x.pack, err = dwarf.NewPackage(file.Split(), file.BigEndian())
			return err
		})
		if err != nil {
			x.packWhy, x.pack = err.Error(), nil
		}
		if file != nil {
			x.packPath, x.packWhy = file.Path(), ""
			x.files, x.all = append(x.files, file), append(x.all, x.pack)
			break
		}
		if f == m.file {
			break
		}
	}
	return x.pack
}

// sameKind returns an error if two files can't be parts of one program.
func sameKind(a, b *image.File) error {
	if a.BigEndian() != b.BigEndian() || a.Machine() != b.Machine() {
		return fmt.Errorf("it is for %s", b.Machine())
	}
	return nil
}

// close closes the files.
func (x *splitFiles) close() {
	for _, f := range x.files {
		f.Close()
	}
	*x = splitFiles{packDone: true}
}

// allUnits returns all units with entries of the debug information: those of
// split units for their skeletons, and the type units of their files. It opens
// every .dwo file.
func (m *Module) allUnits() []*dwarf.Unit {
	d := m.dwarf()
	if d == nil {
		return nil
	}
	units, _ := d.Units()
	split := false
	for i, u := range units {
		full := u.Full()
		if full == u {
			continue
		}
		if !split {
			// The slice is dwarf's.
			units, split = slices.Clone(units), true
		}
		units[i] = full
	}
	for _, d := range m.splits.all {
		units = append(units[:len(units):len(units)], d.TypeUnits()...)
	}
	return units
}

// String says where split units are from, and which are missing; "" if none has
// been asked for.
func (x *splitFiles) String() string {
	s := ""
	switch {
	case x.fromPack > 0 && x.fromFiles > 0:
		s = fmt.Sprintf("split: %s and %d .dwo files", x.packPath, len(x.files)-1)
	case x.fromPack > 0:
		s = "split: " + x.packPath
	case x.fromFiles == 1 && len(x.files) == 1:
		s = "split: " + x.files[0].Path()
	case x.fromFiles > 0:
		s = fmt.Sprintf("split: %d .dwo files", len(x.files))
	}
	if x.missing > 0 {
		if s != "" {
			s += "; "
		}
		s += fmt.Sprintf("split debug information of %d units is missing: %s", x.missing, x.why)
	}
	return s
}
