package session

import (
	"strings"
	"testing"
	"time"

	"dbg/arch"
	"dbg/target"
	"dbg/target/scripted"
)

// recorder is a plan that pushes the plans that it has, one after the other, and tells where it was asked.
type recorder struct {
	list  []mark
	parts []plan
	at    []target.Addr
}

func (p *recorder) begin(s *Session, c *course) (action, error) { return p.part() }

func (p *recorder) next(s *Session, c *course) (action, error) {
	pc, _, err := s.pcAndSP(c.thread)
	p.at = append(p.at, pc)
	if err != nil {
		return action{}, err
	}
	return p.part()
}

func (p *recorder) part() (action, error) {
	if len(p.parts) == 0 {
		return action{done: true, stop: Stop{Reason: StopStep}}, nil
	}
	next := p.parts[0]
	p.parts = p.parts[1:]
	return action{push: next}, nil
}

func (p *recorder) marks() []mark { return p.list }
func (p *recorder) shift(uint64)  {}

// planned is a session on a scripted process of two threads, the first of which goes by a plan.
func planned(t *testing.T, plan plan) (*Session, *scripted.Process, func() Stop) {
	t.Helper()
	s, p := New(Config{}), scripted.New(2)
	events, unsubscribe := s.Subscribe()
	t.Cleanup(func() { s.Close(); unsubscribe() })
	if err := s.Adopt(p); err != nil {
		t.Fatal(err)
	}
	if err := s.try(func() error { return s.goBy(1, plan) }); err != nil {
		t.Fatal(err)
	}
	return s, p, func() Stop {
		t.Helper()
		for deadline := time.After(20 * time.Second); ; {
			select {
			case ev := <-events:
				if st, ok := ev.(Stopped); ok {
					return st.Stop
				}
			case <-deadline:
				t.Fatal("no stop")
			}
		}
	}
}

// TestPlansCompose: a plan is asked again when the one that it has pushed is done, in the same stop, and the last one's end is the user's stop.
func TestPlansCompose(t *testing.T) {
	t.Parallel()
	outer := &recorder{parts: []plan{to(0x2000, 0), &recorder{parts: []plan{to(0x3000, 0x7000)}}, to(0x4000, 0)}}
	_, p, stop := planned(t, outer)
	p.Hit(2, 0x2000) // another thread's arrival means nothing
	p.Hit(1, 0x2000)
	p.SetRegisterOf(1, arch.RSP, 0x6000)
	p.Hit(1, 0x3000) // a deeper recursion
	p.SetRegisterOf(1, arch.RSP, 0x7000)
	p.Hit(1, 0x3000)
	p.Hit(1, 0x4000)
	st := stop()
	if st.Reason != StopStep || st.Thread != 1 {
		t.Errorf("%+v", st)
	}
	want := []target.Addr{0x2000, 0x3000, 0x4000}
	if len(outer.at) != len(want) {
		t.Fatalf("asked at %v", outer.at)
	}
	for i := range want {
		if outer.at[i] != want[i] {
			t.Errorf("asked at %v, want %v", outer.at, want)
		}
	}
	if sites := p.Sites(); len(sites) != 0 {
		t.Errorf("sites are left at %v", sites)
	}
}

// TestPlanBelowFindsItsMark: when an exception or a longjmp leaves the frames of the plans on top, the plan whose mark the thread has come to goes on.
func TestPlanBelowFindsItsMark(t *testing.T) {
	t.Parallel()
	outer := &recorder{list: []mark{{addr: 0x5000}}, parts: []plan{&recorder{parts: []plan{to(0x2000, 0)}}}}
	_, p, stop := planned(t, outer)
	p.Hit(1, 0x5000)
	if st := stop(); st.Reason != StopStep || len(outer.at) != 1 || outer.at[0] != 0x5000 {
		t.Errorf("%+v, asked at %v", st, outer.at)
	}
	if sites := p.Sites(); len(sites) != 0 {
		t.Errorf("sites are left at %v", sites)
	}
}

// TestPlansOfTwoThreads: each thread has a course of its own; a stop of the user's ends both.
func TestPlansOfTwoThreads(t *testing.T) {
	t.Parallel()
	first, second := &recorder{parts: []plan{to(0x2000, 0), to(0x3000, 0)}}, &recorder{parts: []plan{to(0x2000, 0)}}
	s, p, stop := planned(t, first)
	if err := s.try(func() error {
		_, err := s.begin(2, second)
		s.publishRules()
		return err
	}); err != nil {
		t.Fatal(err)
	}
	p.Hit(1, 0x2000)
	p.Hit(2, 0x2000)
	if st := stop(); st.Thread != 2 || len(first.at) != 1 || len(second.at) != 1 {
		t.Errorf("%+v, the first was asked at %v, the second at %v", st, first.at, second.at)
	}
	s.do(func() {
		if n := len(s.courses.all); n != 0 {
			t.Errorf("%d courses are left", n)
		}
	})
	if sites := p.Sites(); len(sites) != 0 {
		t.Errorf("sites are left at %v", sites)
	}
}

// endless is a plan that pushes another one of its kind.
type endless struct{ runTo }

func (p *endless) begin(*Session, *course) (action, error) { return action{push: &endless{}}, nil }

// TestEndlessPlans: plans that push without end are an error, and nothing is left of them.
func TestEndlessPlans(t *testing.T) {
	t.Parallel()
	s, p := New(Config{}), scripted.New(1)
	defer s.Close()
	if err := s.Adopt(p); err != nil {
		t.Fatal(err)
	}
	err := s.try(func() error { return s.goBy(1, &endless{}) })
	if err == nil || !strings.Contains(err.Error(), "too many internal steps") {
		t.Errorf("error %v", err)
	}
	s.do(func() {
		if len(s.courses.all) != 0 || s.state != IsStopped {
			t.Error("something is left of it")
		}
	})
}
