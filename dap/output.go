package dap

import (
	"unicode/utf8"

	"dbg/session"

	godap "github.com/google/go-dap"
)

// outputText keeps the beginning of a character whose rest has not been read yet, of
// standard output and standard error: JSON has whole characters only.
type outputText struct{ rest [2][]byte }

// programOutput sends what the program wrote.
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

// flushOutput sends what is left when no more will come.
func (s *server) flushOutput() {
	for which, category := range []string{"stdout", "stderr"} {
		if rest := s.output.rest[which]; len(rest) > 0 {
			s.output.rest[which] = nil
			s.event("output", godap.OutputEventBody{Category: category, Output: string(rest)})
		}
	}
}

// wholeCharacters is how much of data does not end within a UTF-8 character.
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
