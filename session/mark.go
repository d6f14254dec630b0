package session

// Mark is an event that follows all events published before Session.Mark was called. A receiver of
// the Mark has seen all earlier events.
type Mark struct{ N uint64 }

func (Mark) isEvent() {}

// Mark publishes a Mark and returns its number.
func (s *Session) Mark() uint64 {
	n := s.marks.Add(1)
	s.publish(Mark{n})
	return n
}
