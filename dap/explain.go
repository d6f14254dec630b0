package dap

import (
	"dbg/eval"

	godap "github.com/google/go-dap"
)

// explain adds to the types of variables that have no value the reason why. Editors show the type of a
// variable when the mouse is over its value; the protocol has no other place for it.
func (s *server) explain(frame frameKey, parts []part, list []godap.Variable) {
	if !s.client.types {
		return
	}
	count, missing := map[string]int{}, map[string]bool{}
	for _, p := range parts {
		count[p.name]++
	}
	var names []string
	for _, p := range parts {
		// Of variables with the same name, only one can be asked for.
		if p.value.Avail != eval.Available && p.name == p.value.Name && count[p.name] == 1 {
			missing[p.name] = true
			names = append(names, p.name)
		}
	}
	if len(names) == 0 {
		return
	}
	why := s.query.WhyMissing(frame.thread, frame.level, names)
	for i := range list {
		if text := why[list[i].Name]; text != "" && missing[list[i].Name] {
			list[i].Type += "\n" + text
		}
	}
}
