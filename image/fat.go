package image

import (
	"dbg/image/macho"
	"fmt"
	"runtime"
)

// Slice is one of the files in a fat ("universal") Mach-O file.
type Slice = macho.Slice

// chooser returns the index of the slice of a fat file to open. data is the whole file.
type chooser func(data []byte, list []Slice) (int, error)

// Slices lists the slices of a fat file in file order, with their architecture and place. A thin
// Mach-O file has one slice, at offset 0. The error is an *OpenError.
func Slices(path string) ([]Slice, error) {
	m, err := Map(path)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	data := m.Bytes()
	f := &File{path: path, data: data}
	var list []Slice
	if macho.BeginsFat(data) {
		if list, err = macho.Slices(data); err != nil {
			err = f.machoError(err)
		}
	} else if err = f.parse(true, preferred); err == nil {
		list = []Slice{{Name: f.Machine(), Arch: f.Arch(), Size: uint64(len(data))}}
		if f.macho == nil {
			err = &OpenError{Path: path, Reason: UnknownFormat, Detail: "it is not a Mach-O file"}
		}
	}
	if err != nil {
		return nil, err
	}
	return list, nil
}

// OpenArch is Open for one slice of a fat file, or one view of a hybrid PE image. The name is that of a slice ("arm64e") or of an
// arch.Arch ("amd64": the first slice for it). A thin file or an ELF file must be for that
// architecture.
func OpenArch(path, name string) (*File, error) {
	f, err := openChosen(path, func(_ []byte, list []Slice) (int, error) {
		for i := range list {
			if list[i].Name == name {
				return i, nil
			}
		}
		names := ""
		for i := range list {
			if list[i].Arch != nil && list[i].Arch.Name == name {
				return i, nil
			}
			names += " " + list[i].Name
		}
		return 0, fmt.Errorf("it has no slice for %s, only%s", name, names)
	})
	if err != nil {
		return nil, err
	}
	if a := f.Arch(); !f.setView(name) && f.Machine() != name && (a == nil || a.Name != name) {
		err := &OpenError{Path: path, Reason: Unreadable, Err: fmt.Errorf("it is for %s, not for %s", f.Machine(), name)}
		f.Close()
		return nil, err
	}
	return f, nil
}

// preferred chooses the slice for the processor that dbg runs on, or else the first supported
// slice, or else the first.
func preferred(_ []byte, list []Slice) (int, error) {
	best := 0
	for i := range list {
		switch a := list[i].Arch; {
		case a == nil:
		case a.Name == runtime.GOARCH:
			return i, nil
		case list[best].Arch == nil:
			best = i
		}
	}
	return best, nil
}

// parseFat narrows the file to the slice that choose returns, and parses it.
func (f *File) parseFat(strict bool, choose chooser) error {
	list, err := macho.Slices(f.data)
	if err != nil {
		return f.machoError(err)
	}
	i, err := choose(f.data, list)
	if err != nil {
		return &OpenError{Path: f.path, Reason: Unreadable, Err: err}
	}
	f.data, _ = f.bytes(list[i].Offset, list[i].Size)
	f.offset = list[i].Offset
	if !macho.Begins(f.data) {
		return f.machoFailure(Malformed, "its slice for %s begins with %s", list[i].Name, describe(f.data))
	}
	return f.parseMachO(strict)
}
