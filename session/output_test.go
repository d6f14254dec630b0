package session_test

import (
	"testing"

	"dbg/session"
)

// TestOutputIsWhole captures more output than may wait for a subscriber: the
// program is held up, nothing is lost, and the end comes last.
func TestOutputIsWhole(t *testing.T) {
	const total = 12 << 20
	s, events := newSession(t)
	if err := s.Load(session.Program{Path: "/bin/head", Args: []string{"-c", "12582912", "/dev/zero"}, Capture: true}); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	got := 0
	for ev := range events {
		switch ev := ev.(type) {
		case session.Output:
			got += len(ev.Data)
		case session.Ended:
			if got != total {
				t.Errorf("%d bytes of output, want %d", got, total)
			}
			return
		}
	}
	t.Fatal("no end")
}

// TestFloodEnds closes a session whose program floods a subscriber that does not
// read.
func TestFloodEnds(t *testing.T) {
	s := session.New(session.Config{})
	_, cancel := s.Subscribe()
	defer cancel()
	if err := s.Load(session.Program{Path: "/bin/cat", Args: []string{"/dev/zero"}, Capture: true}); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
