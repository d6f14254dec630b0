package session

import (
	"errors"
	"fmt"

	"dbg/eval"
)

var _ eval.EntryValuer = (*env)(nil)

// EntryValue implements eval.EntryValuer: x@entry, the value of a parameter when its function was entered
// (DWARF 5, section 2.5.1.7).
func (e *env) EntryValue(name string) (Value, error) {
	f := e.at()
	if f == nil {
		return Value{}, errors.New("No frame selected.") //lint:ignore ST1005 gdb's words
	}
	vars := e.variables()
	for i := len(vars) - 1; i >= 0; i-- {
		v := vars[i]
		if v.Name != name {
			continue
		}
		e.local = true
		if !v.Param {
			return Value{}, fmt.Errorf("%s is not a parameter, so it has no value at entry", name)
		}
		if old, ok := e.s.atEntry(v, f, e.thread); ok {
			return old, nil
		}
		return Value{}, fmt.Errorf("the value of %s at entry is not known: %w", name, e.s.whyNotAtEntry(v, f, e.thread))
	}
	return Value{}, &eval.NotFoundError{Name: name}
}
