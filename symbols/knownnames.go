package symbols

import (
	"dbg/symbols/names"
	"dbg/symbols/symtab"
)

// knownNames keeps the answers about names: an expression that is evaluated again and again asks for
// the same ones, and a search goes through all symbols.
type knownNames struct {
	table     *symtab.Table // which, with lookup, the answers are from
	lookup    *names.Lookup
	functions nameAnswers[*Function]
	globals   nameAnswers[*Variable]
}

// nameAnswers has the answers about some names.
type nameAnswers[T any] map[string][]T

// maxAnswers bounds how many answers are kept, and how many elements one has.
const maxAnswers, maxAnswer = 1024, 64

func (a nameAnswers[T]) find(name string, search func(string) []T) []T {
	if list, ok := a[name]; ok {
		return list[:len(list):len(list)]
	}
	list := search(name)
	if len(list) <= maxAnswer && len(name) < 1024 {
		if len(a) >= maxAnswers {
			clear(a)
		}
		a[name] = list
	}
	return list
}

// knownNames returns the answers that are from the present debug information.
func (m *Module) knownNames() *knownNames {
	if t := m.symbols(); m.known.table != t || m.known.lookup != m.names {
		m.known = knownNames{t, m.names, nameAnswers[*Function]{}, nameAnswers[*Variable]{}}
	}
	return &m.known
}
