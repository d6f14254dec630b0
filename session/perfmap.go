package session

import (
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"dbg/jit"
	"dbg/target"
)

// perfMap holds the names that a live program has written for its generated code
// (/tmp/perf-PID.map), as V8, LuaJIT and others can. They are used only if nothing better is known,
// and only as names: the file may be old, and contains nothing about stacks.
type perfMap struct {
	checked uint64 // the number of the stop at the last check; 0 means never
	size    int64  // the file's size then
	changed time.Time
	names   *jit.PerfMap // nil if there is none
}

// perfName returns the name and the start of the function at an address in code of no file.
func (s *Session) perfName(a target.Addr) (name string, lo target.Addr, ok bool) {
	if name, lo, ok := s.registeredName(a); ok {
		return name, lo, true
	}
	if s.proc == nil || !s.isMadeCode(a) {
		return "", 0, false
	}
	if s.perf.checked != s.stops || s.stops == 0 {
		s.perf.checked = s.stops
		if err := s.perf.read(s.proc.PID()); err != nil && !os.IsNotExist(err) {
			s.logf("can't read the perf map: %v", err)
		}
	}
	if s.perf.names == nil {
		return "", 0, false
	}
	f, ok := s.perf.names.Find(uint64(a))
	return f.Name, target.Addr(f.Lo), ok
}

// read reads the file if it is new or has changed.
func (p *perfMap) read(pid int) error {
	path, err := perfMapPath(pid)
	if err != nil {
		p.names = nil
		return err
	}
	// Every user may write to /tmp: a link could lead elsewhere, and a pipe could block us.
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		p.names = nil
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = fmt.Errorf("%s is not a regular file", path)
	case !ownedLike(info, pid):
		err = fmt.Errorf("%s belongs to another user than the process", path)
	case p.names != nil && info.Size() == p.size && info.ModTime().Equal(p.changed):
		return nil
	}
	p.names = nil
	if err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(f, jit.MaxPerfMap))
	if err != nil {
		return err
	}
	p.names, p.size, p.changed = jit.ParsePerfMap(text), info.Size(), info.ModTime()
	return nil
}

// perfMapPath returns the path of a process's file. The file name contains the process's id in its
// own namespace, and the file is in the process's own /tmp: both may differ from ours in a
// container.
func perfMapPath(pid int) (string, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return "", err
	}
	own := fmt.Sprint(pid)
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "NSpid:"); ok {
			if ids := strings.Fields(rest); len(ids) > 0 {
				own = ids[len(ids)-1]
			}
		}
	}
	return fmt.Sprintf("/proc/%d/root/tmp/perf-%s.map", pid, own), nil
}

// ownedLike reports whether a file belongs to the process's user, or to root.
func ownedLike(info os.FileInfo, pid int) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	proc, err := os.Stat(fmt.Sprintf("/proc/%d", pid))
	if !ok || err != nil {
		return false
	}
	owner, ok := proc.Sys().(*syscall.Stat_t)
	return ok && (st.Uid == 0 || st.Uid == owner.Uid)
}
