package view

import (
	"errors"
	"fmt"

	"dbg/eval"
)

// Tables with open addressing have an array of elements and, beside it, a byte for each that tells whether
// it is in use. The functions __slots and __slot of our own views find those in use.
func init() {
	functions["__slots"] = hasSlots
	functions["__slot"] = nthSlot
}

// slotTable is where the bytes of a table are: groups of stride bytes, of which the first used ones stand for
// elements. An element is in use if its byte is from low to high.
type slotTable struct {
	at                   addr
	groups, stride, used int64
	low, high            int64
}

// slotWalk is what is known of a table until the program continues.
type slotWalk struct {
	table slotTable
	next  int64   // the first group that was not looked at
	found []int64 // the indexes of elements in use
	err   error
}

const (
	maxGroups   = 1 << 26 // that are looked at
	slotPiece   = 1 << 12 // bytes that one read has
	wholeSlots  = 1 << 14 // a smaller table is counted whole
	maxSlotWalk = 1 << 10 // tables that are kept
)

// slotsOf returns the walk over the table that the first six arguments describe.
func slotsOf(s *scope, n []int64) (*slotWalk, error) {
	t := slotTable{addr(n[0]), n[1], n[2], n[3], n[4], n[5]}
	if t.groups < 0 || t.stride < 1 || t.stride > slotPiece || t.used < 1 || t.used > t.stride {
		return nil, fmt.Errorf("a table of %d groups", t.groups)
	}
	set := s.set
	if w := set.slots[t]; w != nil {
		return w, nil
	}
	if set.slots == nil || len(set.slots) >= maxSlotWalk {
		set.slots = map[slotTable]*slotWalk{}
	}
	w := &slotWalk{table: t}
	set.slots[t] = w
	return w, nil
}

// read looks at some more groups.
func (w *slotWalk) read(s *scope) {
	t := &w.table
	if w.next >= maxGroups {
		w.err = fmt.Errorf("more than %d groups", maxGroups)
		return
	}
	groups := min(t.groups-w.next, max(slotPiece/t.stride, 1))
	b := make([]byte, groups*t.stride)
	if w.err = readAll(t.at+addr(w.next*t.stride), b, s); w.err != nil {
		return
	}
	for g := range groups {
		for k := range t.used {
			if c := int64(b[g*t.stride+k]); c >= t.low && c <= t.high {
				w.found = append(w.found, (w.next+g)*t.used+k)
			}
		}
	}
	w.next += groups
}

// hasSlots is __slots(at, groups, stride, used, low, high, size): whether a table has so many elements in use. A
// large table is not counted.
func hasSlots(s *scope, args []eval.Value) (eval.Value, error) {
	n, err := numbers(s, "__slots", args, 7)
	if err != nil {
		return eval.Value{}, err
	}
	if n[6] == 0 {
		return eval.Bool(true), nil
	}
	w, err := slotsOf(s, n)
	if err != nil {
		return eval.Value{}, err
	}
	if w.table.groups > wholeSlots/w.table.stride {
		return eval.Bool(true), nil
	}
	for w.next < w.table.groups && w.err == nil {
		w.read(s)
	}
	return eval.Bool(int64(len(w.found)) == n[6]), w.err
}

// nthSlot is __slot(at, groups, stride, used, low, high, i): the index of the i-th element in use.
func nthSlot(s *scope, args []eval.Value) (eval.Value, error) {
	n, err := numbers(s, "__slot", args, 7)
	if err != nil {
		return eval.Value{}, err
	}
	w, err := slotsOf(s, n)
	if err != nil {
		return eval.Value{}, err
	}
	for n[6] >= int64(len(w.found)) && w.next < w.table.groups && w.err == nil {
		w.read(s)
	}
	switch {
	case n[6] >= 0 && n[6] < int64(len(w.found)):
		return eval.FromInt(w.found[n[6]]), nil
	case w.err != nil:
		return eval.Value{}, w.err
	}
	return eval.Value{}, errors.Join(errNoElement, fmt.Errorf("the table has %d elements in use", len(w.found)))
}
