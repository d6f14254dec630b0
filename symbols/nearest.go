package symbols

import (
	"dbg/image"
)

// symbolAsked is how the first questions about addresses are answered: the table is gone through for each of them. To sort it, and to
// choose among the aliases of each address, costs as much as a dozen walks or more, and memory; most sessions ask for few.
type symbolAsked struct {
	n       int
	answers [2]map[image.Addr]int // of symbolClass - 1: numbers in the table, -1 for none
}

// linearSymbols is how many questions the table is gone through for.
const linearSymbols = 16

// symbolClass is what a symbol is the name of.
type symbolClass uint8

const (
	neither symbolClass = iota
	codeSymbol
	dataSymbol
)

func (m *Module) symbolClass(e *image.SymbolEntry) symbolClass {
	switch {
	case e.Kind == image.TLS || e.Section < 0 && e.Kind == image.NoType:
	case e.Kind == image.Object:
		return dataSymbol
	case m.isCode(e.Addr):
		return codeSymbol
	}
	return neither
}

// symbolWith returns the symbol of a class that has an address: the nearest below it, if the address is within its size; one without
// size reaches up to the next symbol.
func (m *Module) symbolWith(class symbolClass, a image.Addr) (image.Symbol, bool) {
	x := m.symbols()
	known := x.asked.answers[class-1]
	i, ok := known[a]
	if !ok {
		if x.asked.n++; x.sorted || x.asked.n > linearSymbols {
			m.sortedSymbols()
			i = x.search(class, a)
		} else {
			if known == nil {
				known = map[image.Addr]int{}
				x.asked.answers[class-1] = known
			}
			i = m.nearest(class, a)
			known[a] = i
		}
	}
	if i < 0 {
		return image.Symbol{}, false
	}
	return x.table.Symbol(i)
}

// maxOuter is how many addresses that have symbols are looked at below an address: a symbol may lie within another, and then the outer
// one may reach further.
const maxOuter = 8

// reaches reports whether a symbol has an address; next is whether it is the next below it.
func (x *elfSymbols) reaches(e *image.SymbolEntry, a image.Addr, next bool) bool {
	return uint64(a-e.Addr) < e.Size || a == e.Addr || e.Size == 0 && next && x.sameSection(e, a)
}

// nearest goes through the table. Its answer is that of the sorted one.
func (m *Module) nearest(class symbolClass, a image.Addr) int {
	x := m.symbols()
	t := x.table
	type below struct {
		addr image.Addr
		num  int
	}
	var found [maxOuter]below // the next first
	n := 0
	for i, addr := range t.Addrs() {
		// What the table has may be more than the address by a bit that stands for something else.
		if addr&^1 > a || n == maxOuter && addr < found[n-1].addr {
			continue
		}
		e, ok := t.Entry(i)
		if !ok || e.Addr > a || m.symbolClass(&e) != class {
			continue
		}
		k := 0
		for k < n && found[k].addr > e.Addr {
			k++
		}
		switch {
		case k < n && found[k].addr == e.Addr:
			if better(t, i, found[k].num) {
				found[k].num = i
			}
		case k < maxOuter:
			n = min(n+1, maxOuter)
			copy(found[k+1:n], found[k:])
			found[k] = below{e.Addr, i}
		}
	}
	for k, f := range found[:n] {
		if e, _ := t.Entry(f.num); x.reaches(&e, a, k == 0) {
			return f.num
		}
	}
	return -1
}
