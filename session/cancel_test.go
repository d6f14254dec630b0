package session

import (
	"context"
	"errors"
	"os/exec"
	"testing"
	"time"
)

// TestUnder: the context of a handle ends its own query, and neither another client's nor a decision.
func TestUnder(t *testing.T) {
	t.Parallel()
	s := New(Config{})
	defer s.Close()
	ctx, cancel := context.WithCancel(context.Background())
	begun, ended := make(chan bool), make(chan error)
	go func() {
		ended <- s.Under(ctx).try(func() error {
			close(begun)
			<-s.ctx.Done()
			return s.ctx.Err()
		})
	}()
	<-begun
	waits := make(chan error)
	go func() { waits <- s.Under(ctx).try(func() error { return nil }) }() // for the lane
	cancel()
	for _, c := range []chan error{ended, waits} {
		if err := <-c; !errors.Is(err, context.Canceled) {
			t.Errorf("the query ended with %v", err)
		}
	}
	s.decideNext(func() {
		if s.ctx.Err() != nil {
			t.Error("a decision was cancelled")
		}
	})
	if err := s.try(func() error { return s.ctx.Err() }); err != nil {
		t.Errorf("another client's query: %v", err)
	}
}

// TestKillBesideQuery: the end of a program does not wait for a query that never notices that it was cancelled.
func TestKillBesideQuery(t *testing.T) {
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
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	begun, release, ended := make(chan bool), make(chan bool), make(chan error)
	go func() {
		ended <- s.do(func() {
			close(begun)
			<-release
		})
	}()
	<-begun
	killed := make(chan error, 1)
	go func() { killed <- s.Kill() }()
	select {
	case err := <-killed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Error("Kill waits for the query")
	}
	close(release)
	<-ended
	for ev := range events {
		if e, ok := ev.(Ended); ok {
			if e.Signal == nil || e.Signal.Number != 9 {
				t.Errorf("%+v", e)
			}
			return
		}
	}
}
