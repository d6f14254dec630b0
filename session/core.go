package session

import (
	"fmt"

	"dbg/image"
	"dbg/target"
	"dbg/target/elfcore"
	"dbg/target/machocore"
)

// coreFile is a core of any format.
type coreFile interface {
	target.Target
	Warnings() []string
}

// imageLister is a target that knows which images are loaded, and finds their files
// itself. What other targets have loaded is told by their memory map.
type imageLister interface {
	Images() []*machocore.Image
	OpenImage(*machocore.Image) (f *image.File, slide uint64, err error)
}

// codeSizer is a target that knows how many bits an address of code has; 0: it is not known.
type codeSizer interface {
	CodeBits() uint8
}

// openCoreFile opens a core by its format.
func (s *Session) openCoreFile(path, exe string) (coreFile, error) {
	if beginsAsMachO(path) {
		finder := &uuidFinder{root: s.cfg.Sysroot, logf: s.logf}
		return machocore.Open(path, machocore.Options{Exe: exe, FindFile: finder.find})
	}
	return elfcore.Open(path, elfcore.Options{Exe: exe, FindFile: s.findFile})
}

// imageGroups lists the images of a target that knows them, as groupMappings does of a memory map.
func imageGroups(l imageLister) []mappedFile {
	var out []mappedFile
	for _, im := range l.Images() {
		out = append(out, mappedFile{path: im.Path, lo: im.Lo, hi: im.Hi, exec: true, image: im})
	}
	return out
}

// imageModule makes the module of an image that the target knows.
func (s *Session) imageModule(g mappedFile) *Module {
	m := &Module{Path: g.path, Lo: g.lo, Hi: g.hi, Bias: g.image.Slide, BuildID: g.image.UUID}
	f, slide, err := s.tgt.(imageLister).OpenImage(g.image)
	if err != nil {
		m.Problem = err.Error()
		return m
	}
	dirs := s.cfg.DebugDirs
	if dirs == nil {
		dirs = image.DefaultDebugDirs
	}
	sym := s.loadSymbols(f, g.path, withSysroot(dirs, s.cfg.Sysroot, g.path))
	s.files[fmt.Sprintf("%s@%x", g.path, uint64(g.image.Header))] = &fileEntry{file: f, symbols: sym}
	m.Bias, m.file, m.Symbols = slide, f, sym
	m.unwind = unwindModule(m, sym)
	return m
}
