package cfi

import (
	"sync"

	"dbg/row/compiled"
)

// Compiler holds what the compilation of one table teaches for the next: the automata of call frame
// instructions, and the memory of builders that have been joined. A program has many files, and most
// of them are compiled from the same few hundred states.
//
// The owner of the files creates one and passes it to EachBatch and to NewBuilder: one for each
// address space. The zero value is ready to use and knows nothing. Answers do not depend on it.
//
// Several goroutines may use a Compiler at once. An automaton, or a builder, belongs to the call of
// EachBatch, or to the goroutine, that has taken it until it is returned. What is not in use for a
// while is left to the garbage collector.
type Compiler struct {
	automata sync.Pool // of *automaton
	builders compiled.BuilderPool
}

// NewBuilder returns a builder for about n rows. It returns to the Compiler when compiled.Join has used
// it up.
func (c *Compiler) NewBuilder(n int) *compiled.Builder { return c.builders.New(n) }

// take returns an automaton that nobody else uses.
func (c *Compiler) take() *automaton {
	if m, ok := c.automata.Get().(*automaton); ok {
		return m
	}
	return newAutomaton()
}

// giveBack returns an automaton, unless it has become so large that it is not worth its memory.
func (c *Compiler) giveBack(m *automaton) {
	if len(m.states) > maxStatesSaved {
		return
	}
	if len(m.taken) > 1<<transitionBits/4 {
		m.reset()
	}
	c.automata.Put(m)
}
