package session

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"dbg/target"
)

// ErrNotKnown is the error of a question about the process that its core does not answer.
var ErrNotKnown = errors.New("the core file does not contain that")

// mostProcFile limits how much of a file in /proc is read.
const mostProcFile = 64 << 20

// ProcessFacts describes the process. A string that is not known is "".
type ProcessFacts struct {
	target.ProcessInfo
	Args []string // the words of the command line; a core may have cut them
	Dir  string   // the current folder
	Exe  string
	// Text files of proc(5), as the kernel wrote them. Of cores only a minidump of Linux has Status.
	Status, Limits, Stat string
	Notes                []target.Note // of a minidump
}

// ProcessFacts returns what is known of the process. It needs a process, or a core.
func (s *Session) ProcessFacts() (ProcessFacts, error) {
	return ask(s, func() (ProcessFacts, error) {
		var f ProcessFacts
		if s.tgt == nil {
			return f, target.ErrNotRunning
		}
		var err error
		if f.ProcessInfo, err = s.processInfo(); err != nil {
			return f, err
		}
		f.Exe = s.tgt.Exe()
		if s.proc == nil {
			f.Args = strings.Fields(f.ProcessInfo.Args)
			if n, ok := s.tgt.(target.NoteLister); ok {
				f.Notes = n.Notes()
			}
			if t, ok := s.tgt.(interface{ ProcStatus() string }); ok {
				f.Status = t.ProcStatus()
			}
			return f, nil
		}
		f.Args = s.commandLine()
		f.Dir = s.procLink("cwd")
		for name, to := range map[string]*string{"status": &f.Status, "limits": &f.Limits, "stat": &f.Stat} {
			b, err := s.procFile(name)
			if err != nil {
				return f, err
			}
			*to = string(b)
		}
		return f, nil
	})
}

// processInfo returns the facts that NT_PRPSINFO has.
func (s *Session) processInfo() (p target.ProcessInfo, err error) {
	if s.proc == nil {
		if d, ok := s.tgt.(target.ProcessDescriber); ok {
			if p, ok = d.ProcessInfo(); ok {
				return p, nil
			}
		}
		return target.ProcessInfo{PID: s.tgt.PID()}, nil
	}
	b, err := s.procFile("stat")
	if err != nil {
		return p, err
	}
	if p, err = parseStat(string(b)); err != nil {
		return p, fmt.Errorf("/proc/%d/stat: %w", s.proc.PID(), err)
	}
	p.Args = strings.Join(s.commandLine(), " ")
	if b, err = s.procFile("status"); err != nil {
		return p, err
	}
	p.UID, p.GID = firstID(string(b), "Uid:"), firstID(string(b), "Gid:")
	return p, nil
}

// parseStat reads proc_pid_stat(5). The name is in parentheses and may contain any character.
func parseStat(text string) (p target.ProcessInfo, err error) {
	open, end := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
	if open < 0 || end < open {
		return p, errors.New("no name in parentheses")
	}
	p.Name = text[open+1 : end]
	rest := strings.Fields(text[end+1:])
	if len(rest) < 17 || len(rest[0]) != 1 {
		return p, fmt.Errorf("%d fields", len(rest))
	}
	p.State = rest[0][0]
	ints := []*int{&p.PID, &p.PPID, &p.PGID, &p.SID}
	for i, text := range append([]string{text[:open]}, rest[1:4]...) {
		if *ints[i], err = strconv.Atoi(strings.TrimSpace(text)); err != nil {
			return p, err
		}
	}
	p.Flags, _ = strconv.ParseUint(rest[6], 10, 64)
	nice, _ := strconv.ParseInt(rest[16], 10, 8)
	p.Nice = int8(nice)
	return p, nil
}

// firstID returns the first number of a line of proc_pid_status(5).
func firstID(status, name string) uint32 {
	for line := range strings.Lines(status) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			if f := strings.Fields(rest); len(f) > 0 {
				n, _ := strconv.ParseUint(f[0], 10, 32)
				return uint32(n)
			}
		}
	}
	return 0
}

func (s *Session) commandLine() []string {
	b, err := s.procFile("cmdline")
	if err != nil || len(b) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00")
}

// procFile reads a file of the live process in /proc. The main thread may have ended before the
// others: then the file of another thread is read.
func (s *Session) procFile(name string) ([]byte, error) {
	b, err := s.procFileOf(fmt.Sprintf("/proc/%d/%s", s.proc.PID(), name))
	if err == nil && len(b) > 0 {
		return b, nil
	}
	for i, t := range s.tgt.Threads() {
		if i == 16 {
			break
		}
		b, terr := s.procFileOf(fmt.Sprintf("/proc/%d/task/%d/%s", s.proc.PID(), t.ID, name))
		if terr == nil && len(b) > 0 {
			return b, nil
		}
	}
	return b, err
}

func (s *Session) procFileOf(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, mostProcFile))
}

func (s *Session) procLink(name string) string {
	l, err := os.Readlink(fmt.Sprintf("/proc/%d/%s", s.proc.PID(), name))
	for i, t := range s.tgt.Threads() {
		if err == nil || i == 16 {
			break
		}
		l, err = os.Readlink(fmt.Sprintf("/proc/%d/task/%d/%s", s.proc.PID(), t.ID, name))
	}
	return l
}

// OpenFile is a file descriptor of the process.
type OpenFile struct {
	FD     int
	Path   string // or "socket:[123]", "pipe:[123]", …
	Offset uint64
	Flags  uint64 // of open(2)
}

// mostOpenFiles limits the number of descriptors in a list.
const mostOpenFiles = 1 << 20

// OpenFiles lists the file descriptors of a live process.
func (s *Session) OpenFiles() ([]OpenFile, error) {
	return ask(s, func() ([]OpenFile, error) {
		if s.proc == nil {
			if s.tgt != nil {
				return nil, ErrNotKnown
			}
			return nil, target.ErrNotRunning
		}
		dir := fmt.Sprintf("/proc/%d", s.proc.PID())
		names, err := os.ReadDir(dir + "/fd")
		if err != nil {
			return nil, err
		}
		var out []OpenFile
		for _, n := range names {
			fd, err := strconv.Atoi(n.Name())
			if err != nil || len(out) == mostOpenFiles {
				continue
			}
			f := OpenFile{FD: fd}
			f.Path, _ = os.Readlink(filepath.Join(dir, "fd", n.Name()))
			info, _ := s.procFileOf(filepath.Join(dir, "fdinfo", n.Name()))
			for line := range strings.Lines(string(info)) {
				name, value, _ := strings.Cut(line, ":")
				switch value = strings.TrimSpace(value); name {
				case "pos":
					f.Offset, _ = strconv.ParseUint(value, 10, 64)
				case "flags":
					f.Flags, _ = strconv.ParseUint(value, 8, 64)
				}
			}
			out = append(out, f)
			if s.cutShort() {
				return nil, s.ctx.Err()
			}
		}
		return sortedFiles(out), nil
	})
}

// Mapping is an entry of the memory map as faces show it.
type Mapping struct {
	target.Mapping
	Perms string // as in proc_pid_maps(5): "rw-p"; "" if unknown
}

// Mappings lists the memory map by address.
func (s *Session) Mappings() ([]Mapping, error) {
	return ask(s, func() ([]Mapping, error) {
		if s.tgt == nil {
			return nil, target.ErrNotRunning
		}
		list, err := s.tgt.Mappings()
		if err != nil {
			return nil, err
		}
		perms := map[target.Addr]string{}
		if s.proc != nil {
			b, _ := s.procFile("maps")
			for line := range strings.Lines(string(b)) {
				at, rest, _ := strings.Cut(line, "-")
				lo, err := strconv.ParseUint(at, 16, 64)
				if f := strings.Fields(rest); err == nil && len(f) > 1 {
					perms[target.Addr(lo)] = f[1]
				}
			}
		}
		out := make([]Mapping, len(list))
		for i, m := range list {
			out[i] = Mapping{Mapping: m, Perms: perms[m.Lo]}
			if out[i].Perms == "" && m.Read != target.PermissionUnknown {
				out[i].Perms = permissions(&m)
			}
		}
		return out, nil
	})
}

func permissions(m *target.Mapping) string {
	b := []byte("---")
	for i, p := range []target.Permission{m.Read, m.Write, m.Exec} {
		if p == target.Allowed {
			b[i] = "rwx"[i]
		}
	}
	return string(b)
}
