package session

import (
	"testing"

	"dbg/target"
)

// TestLimitWalks keeps the frames of the threads that were asked for last, and of the very last one all.
func TestLimitWalks(t *testing.T) {
	s := New(Config{})
	stopped := 0
	for id := range target.ThreadID(3000) {
		s.limitWalks()
		if s.cache.walks == nil {
			s.cache.walks = map[target.ThreadID]*walk{}
		}
		s.cache.walks[id] = &walk{kept: make([]Frame, 30), stop: func() { stopped++ }}
		s.cache.recent = append(s.cache.recent, id)
	}
	kept := len(s.cache.walks)
	if want := keepInAll/31 + 1; kept != want || len(s.cache.recent) != want || stopped != 3000-want {
		t.Errorf("%d walks are kept, %d in order, %d are stopped, want %d", kept, len(s.cache.recent), stopped, want)
	}
	for i, id := range s.cache.recent {
		if want := target.ThreadID(3000 - kept + i); id != want || s.cache.walks[id] == nil {
			t.Errorf("thread %d is kept, want %d", id, want)
		}
	}
}
