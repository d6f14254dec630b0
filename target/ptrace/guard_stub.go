package ptrace

import "dbg/target"

type guard struct{}

func (g *guard) add(a target.Addr, original byte) {}
func (g *guard) remove(a target.Addr)             {}
func (g *guard) clear()                           {}
