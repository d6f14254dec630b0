package session

import (
	"os/exec"
	"testing"
	"time"

	"dbg/target"
)

// slowStart is a process in which a pause is asked for just before the target goes on.
type slowStart struct {
	target.Process
	before func()
}

func (p *slowStart) Resume(r target.Resume) error {
	p.before()
	return p.Process.Resume(r)
}

// TestPauseBeforeResume: a pause that comes while a run begins is not lost.
func TestPauseBeforeResume(t *testing.T) {
	t.Parallel()
	path, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	s := New(Config{})
	defer s.Close()
	events, unsubscribe := s.Subscribe()
	defer unsubscribe()
	if err := s.Load(Program{Path: path, Args: []string{"1000"}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	asked := error(nil)
	s.do(func() {
		real := s.proc
		s.proc = &slowStart{real, func() {
			s.proc = real
			asked = s.Pause()
		}}
	})
	if err := s.Continue(0); err != nil || asked != nil {
		t.Fatal(err, asked)
	}
	late := time.After(30 * time.Second)
	for {
		select {
		case ev := <-events:
			if st, ok := ev.(Stopped); ok {
				if st.Reason != StopPause {
					t.Errorf("%+v", st.Stop)
				}
				return
			}
		case <-late:
			t.Fatal("the pause is lost")
		}
	}
}
