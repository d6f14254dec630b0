package session

// Mark is an event for those who want to have seen all earlier ones: it comes after all events that were published before
// Session.Mark was called.
type Mark struct{ N uint64 }

func (Mark) isEvent() {}

// Mark publishes a Mark and returns its number.
func (s *Session) Mark() uint64 {
	n := s.marks.Add(1)
	s.publish(Mark{n})
	return n
}
