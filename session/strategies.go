package session

import (
	"fmt"
	"strings"

	"dbg/frames"
)

// strategyNames lists the strategies that may be chosen, by their names in the command line's
// contract. The registers of a thread need no strategy.
func strategyNames() (names []string) {
	for s := frames.Context + 1; frames.AllStrategies.Has(s); s++ {
		names = append(names, s.String())
	}
	return names
}

// SetStrategies restricts unwinding to strategies, by the names that frames have in Strategy, for every
// walk from now on. An empty list means all. Steps use the same walks.
func (s *Session) SetStrategies(names ...string) error {
	use := frames.SetOf(frames.Context)
	for _, n := range names {
		one, ok := frames.StrategyByName(n)
		if !ok || one == frames.Context {
			return fmt.Errorf("unknown strategy %q: expected some of %s", n, strings.Join(strategyNames(), ", "))
		}
		use |= frames.SetOf(one)
	}
	if len(names) == 0 {
		use = frames.AllStrategies
	}
	return s.try(func() error {
		s.strategies, s.unwind = use, nil
		s.changed()
		return nil
	})
}

// Strategies returns the names of the strategies in use; empty means all.
func (s *Session) Strategies() (names []string) {
	s.do(func() {
		if s.strategies == 0 || s.strategies == frames.AllStrategies {
			return
		}
		for _, n := range strategyNames() {
			if one, _ := frames.StrategyByName(n); s.strategies.Has(one) {
				names = append(names, n)
			}
		}
	})
	return names
}
