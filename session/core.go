package session

import (
	"fmt"

	"dbg/image"
	"dbg/target"
	"dbg/target/kinds"
)

// coreFile is a core of any format.
type coreFile interface {
	target.Target
	Warnings() []string
}

// imageLister is a target that knows which images are loaded, and finds their files
// itself. What other targets have loaded is told by their memory map.
type imageLister interface {
	ListImages() []target.Image
	OpenListed(target.Image) (f *image.File, slide uint64, err error)
}

// codeSizer is a target that knows how many bits an address of code has; 0: it is not known.
type codeSizer interface {
	CodeBits() uint8
}

// openCoreFile opens a core of any format.
func (s *Session) openCoreFile(path, exe string) (coreFile, error) {
	finder := &uuidFinder{root: s.cfg.Sysroot, logf: s.logf}
	t, err := kinds.Open(kinds.Spec{Core: &kinds.Core{Path: path, Exe: exe, FindELF: s.findFile, FindMachO: finder.find}})
	if err != nil {
		return nil, err
	}
	return t.(coreFile), nil
}

// imageGroups lists the images of a target that knows them, as groupMappings does of a memory map.
func imageGroups(l imageLister) []mappedFile {
	var out []mappedFile
	for _, im := range l.ListImages() {
		out = append(out, mappedFile{path: im.Path, lo: im.Lo, hi: im.Hi, exec: true, image: &im})
	}
	return out
}

// imageModule makes the module of an image that the target knows.
func (s *Session) imageModule(g mappedFile) *Module {
	m := &Module{Path: g.path, Lo: g.lo, Hi: g.hi, Bias: g.image.Slide, BuildID: g.image.UUID}
	f, slide, err := s.tgt.(imageLister).OpenListed(*g.image)
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
	m.unwind = s.unwindModule(m, sym)
	return m
}
