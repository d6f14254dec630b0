package symtab

import (
	"dbg/image"
)

// firstQuestions counts the questions about addresses. The first ones are answered by a walk
// through the table each. Sorting it, and choosing among the aliases of each address, costs as much
// as a dozen walks or more, and memory; most sessions ask few.
type firstQuestions struct {
	n       int
	answers [2]map[image.Addr]int // by Class - 1: numbers in the table, -1 for none
}

// linearQuestions is how many questions are answered by a walk.
const linearQuestions = 16

// Class tells what a symbol names.
type Class uint8

// The classes. Symbols that name neither, such as thread-local variables, are in none.
const (
	neither Class = iota
	Code
	Data
)

func (x *Table) classOf(e *image.SymbolEntry) Class {
	switch {
	case e.Kind == image.TLS || e.Section < 0 && e.Kind == image.NoType:
	case e.Kind == image.Object:
		return Data
	case x.IsCode(e.Addr):
		return Code
	}
	return neither
}

// At returns the symbol of a class at an address: the nearest below it, if the address is within
// its size. A symbol without a size reaches up to the next one.
func (x *Table) At(class Class, a image.Addr) (image.Symbol, bool) {
	t := x.Symbols()
	known := x.asked.answers[class-1]
	i, ok := known[a]
	if !ok {
		if x.asked.n++; x.sorted || x.asked.n > linearQuestions {
			x.sort()
			i = x.search(class, a)
		} else {
			if known == nil {
				known = map[image.Addr]int{}
				x.asked.answers[class-1] = known
			}
			i = x.nearest(class, a)
			known[a] = i
		}
	}
	if i < 0 {
		return image.Symbol{}, false
	}
	return t.Symbol(i)
}

// maxOuter is how many addresses with symbols are tried below an address: a symbol may lie within
// another one, and the outer one may reach further.
const maxOuter = 8

// reaches reports whether a symbol extends to an address; next is set for the next one below it.
func (x *Table) reaches(e *image.SymbolEntry, a image.Addr, next bool) bool {
	return uint64(a-e.Addr) < e.Size || a == e.Addr || e.Size == 0 && next && x.sameSection(e, a)
}

// nearest walks through the table. Its answer is that of search.
func (x *Table) nearest(class Class, a image.Addr) int {
	t := x.Symbols()
	type below struct {
		addr image.Addr
		num  int
	}
	var found [maxOuter]below // the next first
	n := 0
	for i, addr := range t.Addrs() {
		// The value in the table may have a low bit that is not part of the address (Thumb).
		if addr&^1 > a || n == maxOuter && addr < found[n-1].addr {
			continue
		}
		e, ok := t.Entry(i)
		if !ok || e.Addr > a || x.classOf(&e) != class {
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

// IsCode reports whether an address is in an executable segment.
func (x *Table) IsCode(a image.Addr) bool {
	for _, s := range x.file.Segments() {
		if s.Exec && s.Lo <= a && a < s.Hi {
			return true
		}
	}
	return false
}
