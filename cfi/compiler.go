package cfi

import (
	"sync"

	"dbg/row/compiled"
)

// Compiler holds state that the compilation of one table leaves for the next: the automata of call
// frame instructions, and the memory of builders that have been joined. A program has many files,
// and most of them are compiled from the same few hundred states.
//
// The owner of the files creates one Compiler for each address space, and passes it to EachBatch
// and to NewBuilder. The zero value is empty and ready to use. Results do not depend on it.
//
// Several goroutines may use a Compiler at once. An automaton belongs to the call of EachBatch that
// has taken it, a builder to the goroutine that has taken it, until it is returned. Unused ones are
// left to the garbage collector.
type Compiler struct {
	automata sync.Pool // of *automaton
	builders compiled.BuilderPool
}

// NewBuilder returns a builder for about n rows. compiled.Join returns it to the Compiler.
func (c *Compiler) NewBuilder(n int) *compiled.Builder { return c.builders.New(n) }

// take returns an automaton for exclusive use.
func (c *Compiler) take() *automaton {
	if m, ok := c.automata.Get().(*automaton); ok {
		return m
	}
	return newAutomaton()
}

// giveBack returns an automaton to the pool, unless it has become too large to be worth its memory.
func (c *Compiler) giveBack(m *automaton) {
	if len(m.states) > maxStatesSaved {
		return
	}
	if len(m.taken) > 1<<transitionBits/4 {
		m.reset()
	}
	c.automata.Put(m)
}
