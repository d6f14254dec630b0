package session

import (
	"errors"
	"fmt"
	"strings"

	"dbg/eval"
	"dbg/target"
)

// addressLocation evaluates the expression of a location "*EXPRESSION". If the address comes from a
// symbol, it is relative to the symbol's file: that may be loaded at another address, now or in the
// next run. A plain number or a register's value stays as it is.
func (s *Session) addressLocation(spec *LocationSpec, text string) error {
	e := s.env(s.selected, s.level)
	v, err := eval.Evaluate(text, e)
	if err != nil {
		return err
	}
	a, err := eval.AddressOf(v, e)
	if err != nil {
		return err
	}
	spec.Addr, spec.HasAddr = a, true
	if !namesVariable(text, e) {
		return nil
	}
	if s.tgt == nil {
		spec.inProgram, spec.fileAddr = true, imageAddr(uint64(a))
	} else if m := s.modules.find(a); m != nil && m.Symbols != nil {
		spec.inProgram, spec.file, spec.fileAddr = m == s.exeModule(), m.Symbols, m.fileAddr(a)
	}
	return nil
}

// namesVariable reports whether an expression contains the name of a function or a variable, and no
// register or convenience variable, which have only a current value.
func namesVariable(text string, e *env) bool {
	if strings.Contains(text, "$") {
		return false
	}
	letter := func(c rune) bool {
		return c == '_' || c == ':' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
	}
	for _, word := range strings.FieldsFunc(text, func(c rune) bool { return !letter(c) }) {
		if word[0] >= '0' && word[0] <= '9' {
			continue
		}
		var none *eval.NotFoundError
		if _, err := e.Variable(word); !errors.As(err, &none) {
			return true
		}
	}
	return false
}

// resolveAddress finds the current place of an address.
func (s *Session) resolveAddress(spec *BreakpointSpec) ([]BreakpointPlace, error) {
	a := spec.Addr
	moves := spec.inProgram || spec.file != nil
	if moves {
		var ok bool
		if a, ok = s.inFile(spec); !ok {
			return nil, &NoLocationError{fmt.Sprintf("The file that contains %s is not loaded.", spec.Text)}
		}
	}
	p := BreakpointPlace{Addr: a}
	if s.tgt != nil || moves {
		if lr, m, ok := s.position(a); ok {
			p.Position, p.Module = lr.Position, m
		}
		p.Function, _, _ = s.symbolize(a)
	}
	return []BreakpointPlace{p}, nil
}

// inFile returns the current address of an address in a file, or false if the file is not loaded.
func (s *Session) inFile(spec *BreakpointSpec) (target.Addr, bool) {
	for _, f := range s.searchList() {
		// The program may have been opened by another path than the process's.
		isProgram := f.mod == nil || f.mod == s.exeModule()
		if spec.inProgram != isProgram || !spec.inProgram && f.sym != spec.file {
			continue
		}
		if f.mod == nil {
			return target.Addr(spec.fileAddr), true
		}
		return f.mod.processAddr(spec.fileAddr), true
	}
	return 0, false
}
