package session

import (
	"regexp"

	"dbg/image"
	"dbg/symbols"
	"dbg/target"
)

// Search returns the functions, variables or types in all loaded files whose names match a regular
// expression. It returns at most most of them; more means that there are others.
func (s *Session) Search(kind symbols.SearchKind, expr string, most int) (list []symbols.Found, more bool, err error) {
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, false, err
	}
	err = s.try(func() error {
		for _, f := range s.searchList() {
			found, m := f.sym.Search(kind, re, most-len(list))
			for i := range found {
				if found[i].Symbol && f.mod != nil {
					found[i].Addr = image.Addr(f.mod.processAddr(found[i].Addr))
				}
			}
			list = append(list, found...)
			if more = more || m; len(list) >= most {
				break
			}
		}
		return nil
	})
	return list, more, err
}

// ScopeVariable is a variable that is visible at a place: "info scope".
type ScopeVariable struct {
	Name  string
	Where string // as text
	Size  int64  // -1 if unknown
}

// Scope returns the variables that are visible at an address of the program, in the innermost call
// there.
func (s *Session) Scope(at target.Addr) ([]ScopeVariable, error) {
	return ask(s, func() ([]ScopeVariable, error) {
		for _, f := range s.searchList() {
			a := image.Addr(at)
			if f.mod != nil {
				a = f.mod.fileAddr(at)
			}
			list := f.sym.Locals(a)
			var out []ScopeVariable
			for _, v := range list {
				size := int64(-1)
				if v.Type != nil {
					size = v.Type.Strip().Size
				}
				out = append(out, ScopeVariable{v.Name, v.Where(a), size})
			}
			if len(out) > 0 {
				return out, nil
			}
		}
		return nil, nil
	})
}
