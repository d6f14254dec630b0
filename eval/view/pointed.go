package view

import (
	"fmt"

	"dbg/eval"
	"dbg/symbols/types"
)

// pointedSummary returns what a display string shows for a pointer to an object that has a view: the address and the
// object's own display string, or with the specifier na only that.
func pointedSummary(v eval.Value, bare bool, s *scope, opt eval.Options) (string, bool) {
	t := v.Type.Strip()
	if t.Kind != types.Pointer || t.Elem() == nil || t.Elem().Strip().Kind != types.Struct {
		return "", false
	}
	n, err := eval.Number(v, s)
	if err != nil || n == 0 {
		return "", false
	}
	view := eval.ViewOf(at(t.Elem(), addr(n), ""), s.inner)
	if view == nil {
		return "", false
	}
	text, err := view.Summary(opt)
	switch {
	case err != nil || text == "":
		return "", false
	case bare:
		return text, true
	}
	return fmt.Sprintf("%#x {%s}", uint64(n), text), true
}
