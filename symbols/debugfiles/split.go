package debugfiles

import (
	"fmt"
	"slices"

	"dbg/dwarf"
	"dbg/image"
)

// splitFiles are the .dwo files, and the package, that contain the units of skeletons.
type splitFiles struct {
	files    []*image.File          // all that are open
	dwo      map[string]*dwarf.Data // by compilation directory and name, in one string
	all      []*dwarf.Data          // each once
	pack     *dwarf.Data            // nil if there is none
	packPath string
	packWhy  string // why the package cannot be used
	packDone bool

	fromPack, fromFiles, missing int    // units
	why                          string // the first unit that is missing
}

// split returns the full unit of a skeleton unit, nil if it is missing. It is dwarf.Data.Split. f
// is the file with the skeleton.
func (x *Files) split(f *image.File, skeleton *dwarf.Unit) *dwarf.Unit {
	s := &x.splits
	if pack := x.openPackage(f); pack != nil {
		u, err := pack.SplitUnit(skeleton)
		if err == nil {
			s.fromPack++
			return u
		}
		s.packWhy = fmt.Sprintf("%s: %v", s.packPath, err)
	}
	u, err := x.openDwo(f, skeleton)
	if err == nil {
		s.fromFiles++
		return u
	}
	if s.missing++; s.missing == 1 {
		s.why = err.Error()
		if s.packWhy != "" {
			s.why = s.packWhy + "; " + s.why
		}
	}
	return nil
}

// openDwo opens the .dwo file of a skeleton unit, once for all units in it.
func (x *Files) openDwo(f *image.File, skeleton *dwarf.Unit) (*dwarf.Unit, error) {
	s := &x.splits
	root := skeleton.Root()
	key := root.CompDir + "\x00" + root.DwoName
	if d := s.dwo[key]; d != nil {
		if u, err := d.SplitUnit(skeleton); err == nil {
			return u, nil
		}
	}
	var d *dwarf.Data
	var u *dwarf.Unit
	file, err := f.OpenSplit(root.CompDir, root.DwoName, x.opt.Dirs, func(file *image.File) (err error) {
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
	if s.dwo == nil {
		s.dwo = map[string]*dwarf.Data{}
	}
	s.dwo[key] = d
	s.files, s.all = append(s.files, file), append(s.all, d)
	return u, nil
}

// openPackage opens the package, if there is one, on the first call.
func (x *Files) openPackage(f *image.File) *dwarf.Data {
	s := &x.splits
	if s.packDone {
		return s.pack
	}
	s.packDone = true
	for _, of := range []*image.File{f, x.file} {
		file, err := of.OpenPackage(x.opt.Dirs, func(file *image.File) (err error) {
			if err := sameKind(f, file); err != nil {
				return err
			}
			s.pack, err = dwarf.NewPackage(file.Split(), file.BigEndian())
			return err
		})
		if err != nil {
			s.packWhy, s.pack = err.Error(), nil
		}
		if file != nil {
			s.packPath, s.packWhy = file.Path(), ""
			s.files, s.all = append(s.files, file), append(s.all, s.pack)
			break
		}
		if f == x.file {
			break
		}
	}
	return s.pack
}

// sameKind returns an error if two files cannot be parts of one program.
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

// Units returns all units of the debug information that have entries: in the place of skeletons the
// split units, and the type units of their files. It opens every .dwo file. The slice must not be
// changed.
func (x *Files) Units() []*dwarf.Unit {
	d := x.Data()
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
			// The slice belongs to d.
			units, split = slices.Clone(units), true
		}
		units[i] = full
	}
	for _, d := range x.splits.all {
		units = append(units[:len(units):len(units)], d.TypeUnits()...)
	}
	return units
}

// String tells where split units are from, and which are missing; "" if none has been asked for.
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
