package session

import (
	"fmt"

	"dbg/eval/natvis"
	"dbg/image"
)

// maxNatvis limits the size of a file with views.
const maxNatvis = 16 << 20

// AddViews adds the views of .natvis files, which are preferred to dbg's own. They hold for all processes
// of the session. A file that is broken in parts has problems, and its other views count. The error
// tells which file can't be read.
func (s *Session) AddViews(files ...string) (problems []natvis.Problem, err error) {
	for _, name := range files {
		data, err := image.ReadText(name, maxNatvis)
		if err != nil {
			return problems, fmt.Errorf("can't read views: %w", err)
		}
		s.do(func() { problems = append(problems, s.views.Add(name, data)...) })
	}
	return problems, nil
}
