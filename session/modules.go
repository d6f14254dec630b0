package session

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"syscall"

	"dbg/frames"
	"dbg/image"
	"dbg/symbols"
	"dbg/target"
)

// Types of the auxiliary vector: getauxval(3).
const (
	auxPhdr        = 3
	auxEntry       = 9
	auxSysinfoEhdr = 33
)

// moduleList holds the mapped files, by rising address.
type moduleList struct {
	all    []*Module
	nextID int
	made   func(target.Addr) *Module // finds code that is in no file

	added, removed []string // the paths of the latest change

	exe   *Module     // the main program's; nil: not known yet
	entry target.Addr // where called functions return; 0: not known yet
}

// noModules returns an empty list.
func (s *Session) noModules() moduleList {
	return moduleList{nextID: s.modules.nextID, made: s.jitModule}
}

// mostProblems limits the number of warnings about modules. A minidump of another machine may have a
// hundred modules without a file.
const mostProblems = 8

// problems returns a sentence for each module with a problem. If there are many, the last sentence
// counts the others.
func (l *moduleList) problems() (out []string) {
	for _, m := range l.all {
		if m.Problem != "" {
			out = append(out, m.Path+": "+m.Problem)
		}
	}
	if more := len(out) - mostProblems; more > 1 {
		out = append(out[:mostProblems], fmt.Sprintf("%d more modules can't be used: info sharedlibrary lists them", more))
	}
	return out
}

// find returns the module at a: a file's module, or that of code that the program generated.
func (l *moduleList) find(a target.Addr) *Module {
	m := l.mapped(a)
	if m == nil || m.Symbols == nil {
		if made := l.made(a); made != nil {
			return made
		}
	}
	return m
}

// mapped returns the module of the file that is mapped at a.
func (l *moduleList) mapped(a target.Addr) *Module {
	i := sort.Search(len(l.all), func(i int) bool { return l.all[i].Hi > a })
	if i < len(l.all) && l.all[i].Lo <= a {
		return l.all[i]
	}
	return nil
}

// fileAddr converts an address in the process to one in the module's file.
func (m *Module) fileAddr(a target.Addr) image.Addr { return image.Addr(uint64(a) - m.Bias) }

// processAddr is the inverse of fileAddr.
func (m *Module) processAddr(a image.Addr) target.Addr { return target.Addr(uint64(a) + m.Bias) }

// fileEntry is an open file. It stays open until the session ends.
type fileEntry struct {
	file    *image.File
	symbols *symbols.Module

	unwind *frames.Module // the file's first unwind module, or nil
	debug  *image.File    // the separate debug file of unwind, or nil
}

func (e *fileEntry) close() {
	if e.symbols != nil {
		e.symbols.Close() // the separate debug file
	}
	e.file.Close()
}

// openFile opens an ELF file, once in a session. name is the file's name in the process, path its
// path on this machine.
func (s *Session) openFile(name, path string) (*symbols.Module, error) {
	return s.openFileAt(name, path, 0)
}

// openFileAt is openFile for an ELF file at an offset in another one.
func (s *Session) openFileAt(name, path string, offset uint64) (*symbols.Module, error) {
	st, err := os.Stat(path)
	if err != nil {
		_, err := image.Open(path)
		return nil, err
	}
	key := fileKey(path, st)
	if offset != 0 {
		key = fmt.Sprintf("%s+%x", key, offset)
	}
	if e, ok := s.files[key]; ok {
		return e.symbols, nil
	}
	var f *image.File
	if offset != 0 {
		f, err = image.OpenAt(path, offset)
	} else {
		f, err = image.Open(path)
	}
	if err != nil {
		return nil, err
	}
	m := s.loadSymbols(f, name, s.cfg.DebugDirs)
	s.files[key] = &fileEntry{file: f, symbols: m}
	return m, nil
}

// fileKey identifies a file. A program that was rebuilt between two runs is another file. The path
// from the user and the process's path without symbolic links name the same file.
func fileKey(path string, st os.FileInfo) string {
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		path = fmt.Sprintf("%d,%d", sys.Dev, sys.Ino)
	}
	return fmt.Sprintf("%s:%d:%d", path, st.Size(), st.ModTime().UnixNano())
}

// refreshModules updates the list to the current mappings, and publishes the changes. It reports
// whether there were any.
func (s *Session) refreshModules() bool {
	maps, err := s.tgt.Mappings()
	if err != nil {
		s.logf("can't read the memory map: %v", err)
		return false
	}
	old := map[string]*Module{}
	key := func(path string, lo target.Addr) string { return fmt.Sprintf("%s@%x", path, uint64(lo)) }
	for _, m := range s.modules.all {
		old[key(m.Path, m.Lo)] = m
	}
	var now, added []*Module
	groups := frames.GroupMappings(maps, func(a target.Addr) bool { return frames.IsELFAt(s.tgt, a) })
	if l, ok := s.tgt.(frames.ImageLister); ok {
		groups = frames.ListedImages(l)
	}
	for _, g := range groups {
		if g.Exec != target.Allowed && s.state != IsCore {
			continue // a data file; a core's map may not tell what is executable
		}
		if m := old[key(g.Path, g.Lo)]; m != nil {
			delete(old, key(g.Path, g.Lo))
			if g.Hi > m.Hi {
				m.Hi = g.Hi // more of it has been mapped
			}
			now = append(now, m)
			continue
		}
		if m := s.newModule(g); m != nil {
			now, added = append(now, m), append(added, m)
		}
	}
	if v, ok := s.tgt.Auxv(auxSysinfoEhdr); ok && v != 0 {
		if m := old[key("[vdso]", target.Addr(v))]; m != nil {
			delete(old, key("[vdso]", target.Addr(v)))
			now = append(now, m)
		} else if m := s.vdso(target.Addr(v)); m != nil {
			now, added = append(now, m), append(added, m)
		}
	}
	sort.Slice(now, func(i, j int) bool { return now[i].Lo < now[j].Lo })
	s.modules.all, s.modules.exe = now, nil
	s.dropLists(old)
	s.modules.added, s.modules.removed = nil, nil
	for _, m := range old {
		s.modules.removed = append(s.modules.removed, m.Path)
		s.tell(ModuleLoaded{Module: m, Unloaded: true})
	}
	for _, m := range added {
		s.modules.nextID++
		m.ID = s.modules.nextID
		s.modules.added = append(s.modules.added, m.Path)
		s.tell(ModuleLoaded{Module: m})
	}
	if len(old)+len(added) > 0 {
		s.dropWalks()
		s.made.examined, s.dyn.examined, s.reg.examined = false, false, false
		if s.linked {
			s.followJIT()
		}
		if s.landings.at != nil {
			s.armLandings()
		}
		return true
	}
	return false
}

// tell publishes a change of the modules, unless s.quiet is set.
func (s *Session) tell(ev ModuleLoaded) {
	if !s.quiet {
		s.publish(ev)
	}
}

// newModule makes the module for a group of mappings. In a core it returns nil for a file that is
// not ELF.
func (s *Session) newModule(g frames.Mapped) *Module {
	if g.Listed != nil {
		return s.imageModule(g)
	}
	m := &Module{Path: g.Path, Lo: g.Lo, Hi: g.Hi, Bias: uint64(g.Lo)}
	sym, err := s.openMapped(g)
	if err != nil {
		if s.state == IsCore && g.Exec != target.Allowed {
			return nil
		}
		m.Problem = err.Error()
		if g.First.Offset == 0 {
			s.fromMemory(m)
		}
		return m
	}
	f := sym.File()
	bias, ok := g.LoadBias(f)
	if !ok {
		if s.state == IsCore {
			return nil
		}
		m.Problem = "its segments are not mapped as the file describes"
		s.fromMemory(m)
		return m
	}
	m.Bias, m.file, m.BuildID = bias, f, f.BuildID()
	if id, ok := s.mappedBuildID(m); ok && id != m.BuildID {
		m.Problem = fmt.Sprintf("the file has build id %s, but the mapped file has %s", orNone(m.BuildID), orNone(id))
		m.file, m.BuildID = nil, id
		s.fromMemory(m)
		return m
	}
	m.Symbols = sym
	m.unwind = s.unwindModule(m, sym)
	return m
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// openMapped opens the file that is mapped in a live process or a core.
func (s *Session) openMapped(g frames.Mapped) (*symbols.Module, error) {
	if s.proc == nil {
		if exe := s.core.Exe(); exe != "" && exe != g.Path && s.isCoreExe(g) {
			// The user's EXE replaces the recorded program, unless EXE is another program and the
			// recorded one is right.
			m, err := s.openPart(g, s.findFile(exe, ""))
			if id, ok := s.mappedBuildID(&Module{Path: g.Path, Lo: g.Lo}); err == nil && ok && id != m.File().BuildID() {
				if r, rerr := s.openPart(g, s.findFile(g.Path, "")); rerr == nil && r.File().BuildID() == id {
					return r, nil
				}
			}
			return m, err
		}
		return s.openPart(g, s.findFile(g.Path, ""))
	}
	pid := s.proc.PID()
	if g.First.Deleted {
		// The file was replaced or removed while the program ran: the kernel still has it.
		return s.openPart(g, fmt.Sprintf("/proc/%d/map_files/%x-%x", pid, uint64(g.First.Lo), uint64(g.First.Hi)))
	}
	// The process may be in another mount namespace (a container): look in its own root first, and
	// then in ours.
	if !sameMounts(pid) {
		if m, err := s.openPart(g, filepath.Join(fmt.Sprintf("/proc/%d/root", pid), g.Path)); err == nil {
			return m, nil
		}
	}
	return s.openPart(g, s.findFile(g.Path, ""))
}

// openPart opens the file of a group. The first mapping may start in the middle of an archive that
// contains the ELF file uncompressed.
func (s *Session) openPart(g frames.Mapped, path string) (*symbols.Module, error) {
	if g.First.Offset != 0 {
		if m, err := s.openFileAt(g.Path, path, g.First.Offset); err == nil {
			return m, nil
		}
	}
	return s.openFile(g.Path, path)
}

// sameMounts reports whether the process sees the file system that we see.
func sameMounts(pid int) bool {
	a, err1 := os.Readlink("/proc/self/ns/mnt")
	b, err2 := os.Readlink(fmt.Sprintf("/proc/%d/ns/mnt", pid))
	if err1 != nil || err2 != nil || a != b {
		return false
	}
	root, err := os.Readlink(fmt.Sprintf("/proc/%d/root", pid))
	self, _ := os.Readlink("/proc/self/root")
	return err == nil && root == self
}

// isCoreExe reports whether a group of a core's mappings is the main program.
func (s *Session) isCoreExe(g frames.Mapped) bool {
	for _, t := range []uint64{auxPhdr, auxEntry} {
		if v, ok := s.tgt.Auxv(t); ok && v != 0 {
			return target.Addr(v) >= g.Lo && target.Addr(v) < g.Hi
		}
	}
	return false
}

// vdso makes the module of the kernel's own shared object, which is only in memory.
func (s *Session) vdso(at target.Addr) *Module {
	const most = 4 * 4096
	data := make([]byte, most)
	n, _ := s.tgt.ReadMemory(at, data)
	if n < 64 {
		return nil
	}
	f, err := image.FromMemory("[vdso]", data[:n])
	if err != nil {
		s.logf("can't read the vdso: %v", err)
		return nil
	}
	sym := symbols.Load(f, symbols.Options{})
	m := &Module{Path: "[vdso]", Lo: at, Hi: at + target.Addr(n), BuildID: f.BuildID(), file: f, Symbols: sym}
	m.Bias = uint64(at)
	if segs := f.Segments(); len(segs) > 0 {
		m.Bias = uint64(at) - uint64(segs[0].Lo)
	}
	m.unwind = s.unwindModule(m, sym)
	return m
}

// mappedBuildID reads the build id from the target's memory. It returns false if the memory is
// unavailable (a core often omits it) or has no id.
func (s *Session) mappedBuildID(m *Module) (string, bool) {
	head := make([]byte, 4096)
	n, _ := s.tgt.ReadMemory(m.Lo, head)
	if n == 0 {
		return "", false
	}
	f, err := image.FromMemory(m.Path, head[:n])
	if err != nil {
		return "", false
	}
	defer f.Close()
	id := f.BuildID()
	return id, id != ""
}

// unwindModule makes the unwinder's module for a file. The modules of a file share its tables: in all
// processes of the group, and from one run to the next.
func (s *Session) unwindModule(m *Module, sym *symbols.Module) *frames.Module {
	p := frames.Placement{Name: m.Path, Lo: m.Lo, Hi: m.Hi, Bias: m.Bias, FunctionAt: functionAt(sym), Compiler: &s.compiler}
	for _, e := range s.files {
		if e.symbols != sym {
			continue
		}
		if e.unwind == nil || e.debug != sym.DebugFile() {
			e.unwind, e.debug = frames.ModuleAt(sym.File(), sym.DebugFile(), p), sym.DebugFile()
			return e.unwind
		}
		return e.unwind.Placed(p)
	}
	return frames.ModuleAt(sym.File(), sym.DebugFile(), p)
}

// functionAt returns a function that finds the bounds of functions in a file's symbols.
func functionAt(sym *symbols.Module) func(pc uint64) (lo, hi uint64, ok bool) {
	return func(pc uint64) (uint64, uint64, bool) {
		lo, hi, ok := sym.CodeBounds(image.Addr(pc))
		return uint64(lo), uint64(hi), ok
	}
}

// exeModule returns the module of the main program, or nil.
func (s *Session) exeModule() *Module {
	if s.modules.exe == nil {
		s.modules.exe = s.findExe()
	}
	return s.modules.exe
}

func (s *Session) findExe() *Module {
	for _, t := range []uint64{auxEntry, auxPhdr} {
		if v, ok := s.tgt.Auxv(t); ok && v != 0 {
			if m := s.modules.find(target.Addr(v)); m != nil {
				return m
			}
		}
	}
	for _, m := range s.modules.all {
		if m.Path == s.tgt.Exe() {
			return m
		}
	}
	return nil
}

// Modules lists the mapped files by address.
func (s *Session) Modules() ([]*Module, error) {
	return ask(s, func() ([]*Module, error) {
		if s.tgt == nil {
			return nil, nil
		}
		var out []*Module
		for _, m := range s.modules.all {
			c := *m // a copy for the caller, since some fields change
			out = append(out, &c)
		}
		return out, nil
	})
}

// followLinker sets a breakpoint where the dynamic linker reports that its list of files has
// changed (r_brk of the debugger interface in <link.h>; in every libc, the function there is
// _dl_debug_state).
//
// This is done when the process is about to run for the first time: a user who only inspects a
// process changes nothing in it.
func (s *Session) followLinker() {
	if s.proc == nil || s.linked {
		return
	}
	s.linked = true
	for _, m := range s.modules.all {
		if m.Symbols == nil || m.Path == "[vdso]" {
			continue
		}
		exe := m.Symbols == s.exeFile
		if exe && m.file.Interp() != "" {
			continue // the function is in its interpreter
		}
		if a, ok := m.Symbols.OwnLinkageAddr("_dl_debug_state"); ok {
			s.breakpoints.setInternal(s, m.processAddr(a), internalLinker)
		}
	}
	s.followJIT()
}

// space is the process's address space for the unwinder.
type space struct {
	s *Session
}

// Version changes with each stop, so that the unwinder asks again for the mapped modules.
func (sp *space) Version() uint64 { return sp.s.stops }

func (sp *space) ReadMemory(a target.Addr, buf []byte) (int, error) {
	return sp.s.tgt.ReadMemory(a, buf)
}

func (sp *space) FindModule(pc target.Addr) *frames.Module {
	m := sp.s.modules.find(pc)
	if m == nil || m.Symbols == nil || m.jit != nil {
		if r := sp.s.registeredModule(pc); r != nil {
			return r
		}
		if m == nil || m.Symbols == nil || !m.unwind.HasFrames() {
			if r := sp.s.registeredFrames(pc); r != nil {
				return r
			}
		}
	}
	if m == nil {
		return nil
	}
	return m.unwind
}

func (sp *space) Executable(a target.Addr) bool {
	s := sp.s
	if m := s.modules.mapped(a); m != nil && m.file != nil {
		if m.Path == "[vdso]" || frames.ExecutableIn(m.file, uint64(m.fileAddr(a))) {
			return true
		}
	}
	maps := s.mappings()
	i := sort.Search(len(maps), func(i int) bool { return maps[i].Hi > a })
	return i < len(maps) && maps[i].Lo <= a && maps[i].Exec != target.Denied
}

// mappings returns the memory map of this stop.
func (s *Session) mappings() []target.Mapping {
	if !s.cache.mapsRead {
		s.cache.maps, _ = s.tgt.Mappings()
		s.cache.mapsRead = true
	}
	return s.cache.maps
}
