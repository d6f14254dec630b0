package session

import (
	"errors"
	"fmt"

	"dbg/target"
)

// threadList numbers threads in the order in which they appeared, as gdb does.
type threadList struct {
	all   []ThreadInfo
	next  int
	names map[target.ThreadID]string // that the user has given
	icy   map[target.ThreadID]bool   // the frozen ones
}

// FreezeThread keeps a thread stopped when the program continues, or lets it run again. A frozen thread
// can't be stepped.
func (s *Session) FreezeThread(id target.ThreadID, on bool) error {
	return s.try(func() error {
		if err := s.needProcess(); err != nil {
			return err
		}
		p, ok := s.proc.(target.Freezer)
		if !ok {
			return errors.New("the threads of this process can't be frozen")
		}
		if err := p.Freeze(id, on); err != nil {
			return err
		}
		if s.threads.icy == nil {
			s.threads.icy = map[target.ThreadID]bool{}
		}
		if delete(s.threads.icy, id); on {
			s.threads.icy[id] = true
		}
		return nil
	})
}

// errAllFrozen is the error when no thread would move.
var errAllFrozen = errors.New("all threads are frozen")

// allFrozen reports whether no thread would move.
func (s *Session) allFrozen() bool {
	if len(s.threads.icy) == 0 {
		return false
	}
	s.refreshThreads()
	for _, t := range s.threads.all {
		if !s.threads.icy[t.ID] {
			return false
		}
	}
	return true
}

// refreshThreads reads the target's threads, and publishes new and ended ones.
func (s *Session) refreshThreads() {
	if s.tgt == nil {
		return
	}
	now := s.tgt.Threads()
	numbers := make(map[target.ThreadID]int, len(s.threads.all))
	for _, t := range s.threads.all {
		numbers[t.ID] = t.Number
	}
	var list []ThreadInfo
	var fresh []target.ThreadID
	for _, t := range now {
		n, ok := numbers[t.ID]
		if !ok {
			s.threads.next++
			n = s.threads.next
			fresh = append(fresh, t.ID)
		}
		delete(numbers, t.ID)
		list = append(list, ThreadInfo{Number: n, ID: t.ID, Name: t.Name, Signal: t.Signal})
	}
	s.threads.all = list
	for id := range numbers {
		s.publish(ThreadExited{Thread: id})
	}
	for _, id := range fresh {
		s.publish(ThreadStarted{Thread: id})
	}
}

// threadStarted and threadExited follow the target's events between stops.
func (s *Session) threadStarted(id target.ThreadID) {
	for _, t := range s.threads.all {
		if t.ID == id {
			return
		}
	}
	s.threads.next++
	s.threads.all = append(s.threads.all, ThreadInfo{Number: s.threads.next, ID: id})
	s.publish(ThreadStarted{Thread: id})
}

func (s *Session) threadExited(id target.ThreadID) {
	for i, t := range s.threads.all {
		if t.ID == id {
			s.threads.all = append(s.threads.all[:i:i], s.threads.all[i+1:]...)
			s.publish(ThreadExited{Thread: id})
			return
		}
	}
}

// Threads lists the threads by number. While the program runs, it lists the known threads. The list
// is never empty while there is a process.
func (s *Session) Threads() ([]ThreadInfo, error) {
	return ask(s, func() ([]ThreadInfo, error) {
		if s.tgt == nil {
			return nil, nil
		}
		if s.state != IsRunning && !s.cache.threadsFresh {
			s.refreshThreads()
			s.cache.threadsFresh = true
		}
		out := append([]ThreadInfo(nil), s.threads.all...)
		for i := range out {
			out[i].Selected = out[i].ID == s.selected
			out[i].Frozen = s.threads.icy[out[i].ID]
			if name := s.threads.names[out[i].ID]; name != "" {
				out[i].Name = name
			}
		}
		return out, nil
	})
}

// NameThread gives a thread a name of the user's; "" restores its own.
func (s *Session) NameThread(id target.ThreadID, name string) error {
	return s.try(func() error {
		if !s.hasThread(id) {
			return target.ErrNoThread
		}
		if s.threads.names == nil {
			s.threads.names = map[target.ThreadID]string{}
		}
		s.threads.names[id] = name
		return nil
	})
}

// knowThread adds a thread to the list before its event arrives.
func (s *Session) knowThread(id target.ThreadID) {
	if !s.hasThread(id) {
		s.threadStarted(id)
	}
}

// hasThread reports whether a thread exists.
func (s *Session) hasThread(id target.ThreadID) bool {
	for _, t := range s.threads.all {
		if t.ID == id {
			return true
		}
	}
	return false
}

// SelectThread selects a thread and its frame 0.
func (s *Session) SelectThread(id target.ThreadID) error {
	return s.try(func() error {
		if err := s.needStopped(); err != nil {
			return err
		}
		if !s.hasThread(id) {
			return fmt.Errorf("%w: %d", target.ErrNoThread, id)
		}
		s.selected, s.level = id, 0
		return nil
	})
}

// Selected returns the selected thread and frame; the thread is 0 if there is none.
func (s *Session) Selected() (target.ThreadID, int) {
	var id target.ThreadID
	var level int
	s.do(func() { id, level = s.selected, s.level })
	return id, level
}
