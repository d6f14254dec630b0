package session

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"dbg/target"
)

// A checkpoint is a copy of the process, made with fork, that stays stopped. Restart makes it the
// session's process; the one that was the session's until then becomes a checkpoint. Checkpoint 0 is
// the process that was started first.

// Checkpoint describes a checkpoint.
type Checkpoint struct {
	Number  int
	PID     int
	Current bool   // it is the session's process
	Frame   *Frame // where it was when it was made or left; nil if unknown
}

// checkpoint is the state of one that is not current.
type checkpoint struct {
	number int
	proc   target.Process
	frame  *Frame
	// positions holds the positions of its regular files, by descriptor. The copies share them.
	positions map[int]int64
}

// checkpoints holds those of a session.
type checkpoints struct {
	list    []*checkpoint // by number
	next    int           // the number of the next one, less one
	current int           // the number of the session's process
}

// Checkpoint makes a checkpoint of the process, and returns its number and its process id. The
// process must be stopped and have one thread.
func (s *Session) Checkpoint() (Checkpoint, error) {
	return ask(s, func() (Checkpoint, error) {
		if err := s.needProcess(); err != nil {
			return Checkpoint{}, err
		}
		p, ok := s.proc.(target.Copier)
		if !ok {
			return Checkpoint{}, errors.New("this process can't be copied")
		}
		q, err := p.CopyProcess()
		if err != nil {
			return Checkpoint{}, err
		}
		s.checkpoints.next++
		c := &checkpoint{number: s.checkpoints.next, proc: q, frame: s.framePlace(), positions: filePositions(s.proc.PID())}
		s.checkpoints.add(c)
		s.listen(q)
		return Checkpoint{Number: c.number, PID: q.PID(), Frame: c.frame}, nil
	})
}

// framePlace returns the frame of the selected thread, or nil.
func (s *Session) framePlace() *Frame {
	f, err := s.frame(s.selected, 0)
	if err != nil {
		return nil
	}
	return &f
}

func (l *checkpoints) add(c *checkpoint) {
	l.list = append(l.list, c)
	slices.SortFunc(l.list, func(a, b *checkpoint) int { return a.number - b.number })
}

// take removes a checkpoint from the list and returns it, or nil.
func (l *checkpoints) take(number int) *checkpoint {
	for i, c := range l.list {
		if c.number == number {
			l.list = slices.Delete(l.list, i, i+1)
			return c
		}
	}
	return nil
}

// Checkpoints lists the checkpoints and the current process by number. Without any checkpoint, the
// list is empty.
func (s *Session) Checkpoints() []Checkpoint {
	out, _ := ask(s, func() ([]Checkpoint, error) {
		if len(s.checkpoints.list) == 0 {
			return nil, nil
		}
		var out []Checkpoint
		for _, c := range s.checkpoints.list {
			out = append(out, Checkpoint{Number: c.number, PID: c.proc.PID(), Frame: c.frame})
		}
		if s.proc != nil {
			out = append(out, Checkpoint{Number: s.checkpoints.current, PID: s.proc.PID(), Current: true, Frame: s.framePlace()})
		}
		slices.SortFunc(out, func(a, b Checkpoint) int { return a.Number - b.Number })
		return out, nil
	})
	return out
}

func errNoCheckpoint(number int) error {
	return fmt.Errorf("Not found: checkpoint id %d", number) //lint:ignore ST1005 gdb's words
}

// Restart makes a checkpoint the session's process. Breakpoints stay. The positions of its files are
// those at the checkpoint.
func (s *Session) Restart(number int) error {
	return s.try(func() error {
		if s.proc != nil {
			if err := s.needProcess(); err != nil {
				return err
			}
			if number == s.checkpoints.current {
				return nil
			}
		}
		c := s.checkpoints.take(number)
		if c == nil {
			return errNoCheckpoint(number)
		}
		if s.proc != nil {
			s.endCourses()
			s.removeCallSite()
			s.endCalls(0, exitedInCall)
			s.checkpoints.add(&checkpoint{number: s.checkpoints.current, proc: s.proc, frame: s.framePlace(), positions: filePositions(s.proc.PID())})
			s.withdraw()
		}
		s.checkpoints.current = c.number
		s.adopt(c.proc, c.proc)
		return s.seekFiles(c)
	})
}

// withdraw removes all sites from the process, which stays stopped.
func (s *Session) withdraw() {
	for _, b := range s.breakpoints.all {
		if !b.Enabled {
			continue
		}
		if b.watch != nil {
			s.disarm(b)
			continue
		}
		for _, p := range b.Places {
			s.removeAt(b, p.Addr)
		}
	}
	for a, kinds := range s.breakpoints.internal {
		for range kinds {
			if err := s.proc.RemoveBreakpoint(a); err != nil {
				s.logf("can't remove a breakpoint: %v", err)
			}
		}
	}
}

// filePositions reads the positions of a process's regular files, except those that are our own
// standard files, too: our own output would overwrite itself.
func filePositions(pid int) map[int]int64 {
	const most = 1000
	dir := fmt.Sprintf("/proc/%d/", pid)
	list, err := os.ReadDir(dir + "fd")
	if err != nil {
		return nil
	}
	var own []os.FileInfo
	for _, f := range []*os.File{os.Stdin, os.Stdout, os.Stderr} {
		if st, err := f.Stat(); err == nil {
			own = append(own, st)
		}
	}
	out := map[int]int64{}
	for _, e := range list[:min(len(list), most)] {
		fd, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		st, err := os.Stat(filepath.Join(dir, "fd", e.Name()))
		if err != nil || !st.Mode().IsRegular() || slices.ContainsFunc(own, func(o os.FileInfo) bool { return os.SameFile(o, st) }) {
			continue
		}
		info, _ := os.ReadFile(filepath.Join(dir, "fdinfo", e.Name()))
		for line := range strings.Lines(string(info)) {
			if value, ok := strings.CutPrefix(line, "pos:"); ok {
				if n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64); err == nil {
					out[fd] = n
				}
			}
		}
	}
	return out
}

// seekFiles moves the files of a checkpoint's process to their positions.
func (s *Session) seekFiles(c *checkpoint) error {
	p, ok := s.proc.(target.Copier)
	if !ok {
		return nil
	}
	now := filePositions(c.proc.PID())
	for fd, at := range c.positions {
		if have, open := now[fd]; !open || have == at {
			continue
		}
		if _, err := p.SystemCall(syscall.SYS_LSEEK, uint64(fd), uint64(at), 0); err != nil {
			return fmt.Errorf("the position of file descriptor %d can't be restored: %w", fd, err)
		}
	}
	s.dropCache()
	return nil
}

// DeleteCheckpoint kills the process of a checkpoint, or detaches it.
func (s *Session) DeleteCheckpoint(number int, detach bool) error {
	return s.try(func() error {
		if s.proc != nil && number == s.checkpoints.current {
			return errors.New("Please switch to another checkpoint before deleting the current one") //lint:ignore ST1005 gdb's words
		}
		c := s.checkpoints.take(number)
		if c == nil {
			return errNoCheckpoint(number)
		}
		if detach {
			return c.proc.Detach()
		}
		return s.endCheckpoint(c)
	})
}

// endCheckpoint kills a checkpoint's process. A copy is ours to kill, also if the original was
// attached to; the original is released.
func (s *Session) endCheckpoint(c *checkpoint) error {
	if c.number == 0 {
		return c.proc.Close()
	}
	err := c.proc.Kill()
	if cerr := c.proc.Close(); err == nil {
		err = cerr
	}
	if errors.Is(err, target.ErrGone) {
		return nil
	}
	return err
}

// dropCheckpoints ends all checkpoints.
func (s *Session) dropCheckpoints() {
	for _, c := range s.checkpoints.list {
		if err := s.endCheckpoint(c); err != nil {
			s.logf("checkpoint %d: %v", c.number, err)
		}
	}
	s.checkpoints = checkpoints{}
}

// lostCheckpoint removes the checkpoint whose process has ended.
func (s *Session) lostCheckpoint(p target.Process) {
	for _, c := range s.checkpoints.list {
		if c.proc == p {
			s.checkpoints.take(c.number)
			s.publish(LogMessage{Warning: true, Text: fmt.Sprintf("The process of checkpoint %d has ended.", c.number)})
			return
		}
	}
}
