package debugfiles

import (
	"errors"
	"fmt"
	"strings"

	"dbg/dwarf"
	"dbg/image"
)

// Options tell where to search.
type Options struct {
	// Dirs are the folders of separate debug files; nil: image.DefaultDebugDirs.
	Dirs []string
	// Fetcher gets files that are not on this machine; nil: none are fetched.
	Fetcher image.Fetcher
	// Arrived is called, from another goroutine, when a file that was being fetched has come or
	// cannot be had. Files.Reload takes note of it.
	Arrived func()
}

// Files are a file and the files that belong to it. It is for one goroutine at a time.
type Files struct {
	file *image.File
	opt  Options

	data    *dwarf.Data // nil if there is none
	debug   *image.File // the separate debug file, nil if there is none
	mini    *image.File // in .gnu_debugdata, nil if there is none
	alt     *image.File // the file that .gnu_debugaltlink of debug or of the file names
	altData *dwarf.Data
	former  []*image.File // replaced; they stay open until Close
	splits  splitFiles    // of data

	looked   bool // the file itself and the directories have been searched
	asked    bool // the fetcher has been asked
	arrived  bool // the fetcher has given the debug file
	lookedIn bool // for mini
	pending  bool // something is being fetched

	origin, fetched, altOrigin, miniOrigin string
}

// New returns the Files of a file. Nothing is read yet. The file stays the caller's to close.
func New(f *image.File, opt Options) *Files { return &Files{file: f, opt: opt} }

// File returns the file itself.
func (x *Files) File() *image.File { return x.file }

// InfoFile returns the separate debug file if one is open, else the file itself: after a call of
// Data, the file with the debug information.
func (x *Files) InfoFile() *image.File {
	if x.debug != nil {
		return x.debug
	}
	return x.file
}

// Fetched reports whether the fetcher has given the debug file. That file may have a better symbol
// table than the one that SymbolTable returned before.
func (x *Files) Fetched() bool { return x.arrived }

// DebugFile returns the separate debug file, nil if there is none on this machine. It fetches
// nothing.
func (x *Files) DebugFile() *image.File {
	x.look()
	return x.debug
}

// Here reports whether there is DWARF now. It fetches nothing.
func (x *Files) Here() bool {
	x.look()
	return x.data != nil
}

// Origin tells, as text for the user, where the debug information is from, or why there is none and
// what was tried; also which parts of it are elsewhere, missing or damaged. more is a reader's
// further error, nil for none. Origin fetches nothing.
func (x *Files) Origin(more error) string {
	x.look()
	if x.data != nil {
		x.data.UnitAt(0) // this reports a section that cannot be inflated
	}
	var out []string
	add := func(s string) {
		if s != "" {
			out = append(out, s)
		}
	}
	add(x.origin)
	add(x.fetched)
	if x.data == nil {
		switch {
		case x.opt.Fetcher == nil:
			add("debuginfod is off")
		case !x.asked && x.fetchable():
			add("debuginfod has not been asked yet")
		}
		if x.miniOrigin == "" && !x.lookedIn && x.file.HasSection(miniSection) && !x.SymbolFile().HasSymtab() {
			add("symbols are in " + miniSection)
		}
		add(x.miniOrigin)
		return strings.Join(out, "; ")
	}
	add(x.splits.String())
	add(x.altOrigin)
	if more != nil {
		add(more.Error())
	}
	for _, f := range append([]*image.File{x.file, x.debug, x.alt}, x.splits.files...) {
		for _, err := range f.Errors() {
			add(err.Error())
		}
	}
	for _, d := range append([]*dwarf.Data{x.data, x.altData}, x.splits.all...) {
		for _, err := range d.Errors() {
			add(err.Error())
		}
	}
	return strings.Join(out, "; ")
}

// Close closes the files that New or a question has opened, not the file itself.
func (x *Files) Close() error {
	x.looked, x.asked, x.lookedIn, x.pending, x.data = true, true, true, false, nil
	x.splits.close()
	err := x.debug.Close()
	for _, f := range append(x.former, x.alt, x.mini) {
		if e := f.Close(); err == nil {
			err = e
		}
	}
	x.debug, x.alt, x.mini, x.former = nil, nil, nil, nil
	return err
}

// Reload prepares to ask again for files that were being fetched, and reports whether any were.
// If so, x is as New returned it. Data and files that it gave out before stay valid until Close.
func (x *Files) Reload() bool {
	if !x.pending {
		return false
	}
	fresh := New(x.file, x.opt)
	fresh.former = append(x.former, x.debug, x.alt, x.mini)
	fresh.former = append(fresh.former, x.splits.files...)
	*x = *fresh
	return true
}

// Data returns the debug information, nil if there is none. It asks the fetcher for a file that is
// not on this machine, once.
func (x *Files) Data() *dwarf.Data {
	if x.data == nil && !x.asked {
		x.find()
	}
	return x.data
}

// find searches for the debug information, and then asks the fetcher.
func (x *Files) find() {
	x.look()
	x.fetch()
}

// look searches for the debug information in the file and in the directories.
func (x *Files) look() {
	if x.looked {
		return
	}
	x.looked = true
	if x.file.HasDebugInfo() {
		x.origin = "the file has debug information"
		x.open(x.file)
		return
	}
	debug, origin, err := x.file.DebugFile(x.opt.Dirs)
	x.debug, x.origin = debug, origin
	if err != nil {
		x.origin += ": " + err.Error()
	}
	switch {
	case debug == nil:
	case debug.HasDebugInfo():
		x.open(debug)
	default:
		x.origin += ", which has no debug information"
	}
}

// fetchable reports whether the file can be named to a fetcher.
func (x *Files) fetchable() bool {
	return x.file.Format() == image.ELF && len(x.file.BuildID()) > 2
}

// fetch asks the fetcher for the debug information, once.
func (x *Files) fetch() {
	if x.asked || x.data != nil {
		return
	}
	x.asked = true
	if x.opt.Fetcher == nil || !x.fetchable() {
		return
	}
	f, why := x.fetchID(x.file.BuildID())
	x.fetched = why
	switch {
	case f == nil:
	case !f.HasDebugInfo():
		x.fetched = f.Path() + " has no debug information"
		f.Close()
	default:
		if x.debug != nil {
			x.former = append(x.former, x.debug)
		}
		x.debug, x.origin, x.fetched, x.arrived = f, why, "", true
		x.open(f)
	}
}

// fetchID gets the debug file with a build id. The string tells where it is, or why it was not
// found.
func (x *Files) fetchID(id string) (*image.File, string) {
	path, err := x.opt.Fetcher.Fetch(image.FetchDebug, id, x.opt.Arrived)
	if errors.Is(err, image.ErrFetching) {
		x.pending = true
		return nil, "debuginfod: the file with build id " + id + " is " + err.Error()
	}
	if err != nil {
		return nil, err.Error()
	}
	f, err := image.OpenAsBuildID(path, id)
	if err == nil {
		if err = sameKind(x.file, f); err != nil {
			f.Close()
		}
	}
	if err != nil {
		return nil, "debuginfod: " + err.Error()
	}
	return f, "debuginfod: " + path
}

// open reads the debug information of f: the file itself, or one that belongs to it.
func (x *Files) open(f *image.File) {
	x.data = dwarf.New(f, f.BigEndian())
	x.data.Split = func(u *dwarf.Unit) *dwarf.Unit { return x.split(f, u) }
	x.data.Alt = func() *dwarf.Data { return x.openAlt(f) }
}

// openAlt opens the file into which dwz has moved parts of f.
func (x *Files) openAlt(f *image.File) *dwarf.Data {
	alt, why, err := f.AltFile(x.opt.Dirs)
	if err != nil {
		why += ": " + err.Error()
	}
	if id := f.AltID(); alt == nil && x.opt.Fetcher != nil && len(id) > 2 {
		var how string
		alt, how = x.fetchID(id)
		if alt != nil {
			why = ""
		} else {
			why += "; "
		}
		why += how
	}
	x.altOrigin = why
	if alt == nil {
		return nil
	}
	x.alt, x.altOrigin = alt, "supplementary: "+why
	x.altData = dwarf.New(alt, alt.BigEndian())
	return x.altData
}

// SymbolFile returns the file with the better symbol table: .symtab, of the separate debug file if
// it is not in the file itself, else .dynsym.
func (x *Files) SymbolFile() *image.File {
	if !x.file.HasSymtab() {
		x.look()
		if x.debug != nil && x.debug.HasSymtab() {
			return x.debug
		}
	}
	return x.file
}

// SymbolTable returns the best symbol table and the sections that its symbols refer to: .symtab of
// the file, or of the separate debug file; else .dynsym with the symbols of .gnu_debugdata. It
// fetches nothing.
func (x *Files) SymbolTable() (*image.SymbolTable, []image.Section) {
	f := x.SymbolFile()
	if f == x.file && !f.HasSymtab() {
		if mini := x.miniDebug(); mini != nil {
			return f.SymbolTableWith(mini), f.Sections()
		}
	}
	return f.SymbolTable(), f.Sections()
}

const miniSection = ".gnu_debugdata"

// miniDebug opens .gnu_debugdata, on the first call.
func (x *Files) miniDebug() *image.File {
	if x.lookedIn {
		return x.mini
	}
	x.lookedIn = true
	mini, err := x.file.MiniDebug()
	switch {
	case err != nil:
		x.miniOrigin = err.Error()
	case mini != nil:
		x.mini = mini
		x.miniOrigin = fmt.Sprintf("symbols of .gnu_debugdata (%d)", len(mini.Symbols()))
	}
	return x.mini
}
