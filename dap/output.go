package dap

import (
	"unicode/utf8"

	"dbg/session"

	godap "github.com/google/go-dap"
)

// outputText holds an incomplete character at the end of standard output or standard error, until
// its rest is read: JSON has only whole characters.
type outputText struct{ rest [2][]byte }

// programOutput sends output of the program.
func (s *server) programOutput(ev session.Output) {
	which, category := 0, "stdout"
	if ev.Stderr {
		which, category = 1, "stderr"
	}
	data := append(s.output.rest[which], ev.Data...)
	n := wholeCharacters(data)
	s.output.rest[which] = append([]byte(nil), data[n:]...)
	if n > 0 {
		s.event("output", godap.OutputEventBody{Category: category, Output: string(data[:n])})
	}
}

// flushOutput sends the rest at the end of the output.
func (s *server) flushOutput() {
	for which, category := range []string{"stdout", "stderr"} {
		if rest := s.output.rest[which]; len(rest) > 0 {
			s.output.rest[which] = nil
			s.event("output", godap.OutputEventBody{Category: category, Output: string(rest)})
		}
	}
}

// wholeCharacters returns the length of data without an incomplete UTF-8 character at its end.
func wholeCharacters(data []byte) int {
	for i := len(data) - 1; i >= 0 && i >= len(data)-utf8.UTFMax; i-- {
		if utf8.RuneStart(data[i]) {
			if utf8.FullRune(data[i:]) {
				return len(data)
			}
			return i
		}
	}
	return len(data)
}
