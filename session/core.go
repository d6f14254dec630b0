package session

import (
	"fmt"
	"path/filepath"

	"dbg/frames"
	"dbg/image"
	"dbg/target"
	"dbg/target/kinds"
)

// coreFile is a core of any format.
type coreFile interface {
	target.Target
	Warnings() []string
}

// codeSizer is a target that knows the number of bits in a code address, or returns 0 if it is
// unknown.
type codeSizer interface {
	CodeBits() uint8
}

// openCoreFile opens a core of any format.
func (s *Session) openCoreFile(path, exe string) (coreFile, error) {
	finder := &uuidFinder{root: s.cfg.Sysroot, logf: s.logf}
	names := &nameFinder{sysroot: s.cfg.Sysroot, beside: filepath.Dir(path), uuids: finder, logf: s.logf}
	t, err := kinds.Open(kinds.Spec{Core: &kinds.Core{Path: path, Exe: exe, FindELF: s.findFile, FindMachO: finder.find, FindModule: names.find}})
	if err != nil {
		return nil, err
	}
	return t.(coreFile), nil
}

// imageModule makes the module for an image that the target lists.
func (s *Session) imageModule(g frames.Mapped) *Module {
	m := &Module{Path: g.Path, Lo: g.Lo, Hi: g.Hi, Bias: g.Listed.Slide, BuildID: g.Listed.UUID}
	f, slide, err := s.tgt.(frames.ImageLister).OpenListed(*g.Listed)
	if err != nil {
		m.Problem = err.Error()
		return m
	}
	dirs := s.cfg.DebugDirs
	if dirs == nil {
		dirs = image.DefaultDebugDirs
	}
	sym := s.loadSymbols(f, g.Path, withSysroot(dirs, s.cfg.Sysroot, g.Path))
	s.files[fmt.Sprintf("%s@%x", g.Path, uint64(g.Listed.Header))] = &fileEntry{file: f, symbols: sym}
	m.Bias, m.file, m.Symbols = slide, f, sym
	m.unwind = s.unwindModule(m, sym)
	return m
}
