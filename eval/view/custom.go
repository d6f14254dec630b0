package view

import (
	"errors"
	"fmt"
	"time"

	"dbg/eval"
	"dbg/eval/natvis"
)

// customList are the items of CustomListItems: a program of the view makes them one after the other.
// When more are asked for than were made, the program runs again from its start, for twice as many.
type customList struct {
	o     *object
	it    *natvis.CustomListItems
	n     int64 // the size that the view tells; -1: none
	items []eval.Value
	whole bool  // the program has ended
	err   error // why it has ended early
}

// Len implements segment.
func (l *customList) Len() int64 {
	if l.n >= 0 {
		return l.n
	}
	l.reach(maxNodes)
	return int64(len(l.items))
}

// At implements segment.
func (l *customList) At(i int64) eval.Value {
	l.reach(i + 1)
	if i < int64(len(l.items)) {
		return l.items[i]
	}
	err := l.err
	if err == nil {
		err = fmt.Errorf("the view makes %d items only", len(l.items))
	}
	return named(unreadable(err), i)
}

func (l *customList) reach(n int64) {
	if l.whole || int64(len(l.items)) >= n {
		return
	}
	r := &customRun{list: l, most: int(min(max(n, 2*int64(len(l.items)), 64), maxNodes)), late: time.Now().Add(walkTime)}
	l.items = l.items[:0]
	err := r.run()
	switch {
	case err == errEnough:
	case err == errBreak || err == nil:
		l.whole = true
	default:
		l.whole, l.err = true, err
	}
}

// namesItems reports whether a program gives its items names.
func namesItems(list []natvis.Statement) bool {
	for _, st := range list {
		switch st := st.(type) {
		case *natvis.ListItem:
			if st.Name != nil {
				return true
			}
		case *natvis.Loop:
			if namesItems(st.Body) {
				return true
			}
		case *natvis.If:
			for _, b := range st.Branches {
				if namesItems(b.Body) {
					return true
				}
			}
		}
	}
	return false
}

// customRun is one run of the program.
type customRun struct {
	list  *customList
	s     *scope
	most  int
	steps int
	late  time.Time
}

// maxCustomSteps limits the statements of one run.
const maxCustomSteps = 1 << 22

var (
	errEnough = errors.New("enough items")
	errBreak  = errors.New("break")
)

func (r *customRun) run() error {
	o := r.list.o
	r.s = o.scope()
	r.s.vars, r.s.assigns = map[string]eval.Value{}, true
	for i := range r.list.it.Variables {
		v := &r.list.it.Variables[i]
		x, err := o.eval(&v.InitialValue, r.s)
		if err != nil {
			return err
		}
		x = eval.Fetch(x, r.s)
		if x.Avail == eval.Available && x.Bytes != nil && x.Type.Strip().Size <= 8 {
			x.HasAddr, x.Addr = false, 0 // a copy: it does not change with what it was read from
		}
		r.s.vars[v.Name] = x
	}
	return r.block(r.list.it.Body, 0)
}

// block runs statements. The error errBreak means that a Break was reached.
func (r *customRun) block(list []natvis.Statement, depth int) error {
	for _, st := range list {
		if r.steps++; r.steps > maxCustomSteps || r.steps%1024 == 0 && time.Now().After(r.late) {
			return errors.New("the view's program takes too long")
		}
		if err := r.statement(st, depth); err != nil {
			return err
		}
	}
	return nil
}

func (r *customRun) statement(st natvis.Statement, depth int) error {
	o := r.list.o
	switch st := st.(type) {
	case *natvis.Exec:
		ok, err := o.holds(st.Condition, r.s)
		if err == nil && ok {
			_, err = o.eval(&st.Value, r.s)
		}
		return err
	case *natvis.Loop:
		for {
			if r.steps++; r.steps > maxCustomSteps {
				return errors.New("the view's program takes too long")
			}
			ok, err := o.holds(st.Condition, r.s)
			if err != nil || !ok {
				return err
			}
			if err := r.block(st.Body, depth+1); err == errBreak {
				return nil
			} else if err != nil {
				return err
			}
		}
	case *natvis.If:
		for i := range st.Branches {
			ok, err := o.holds(st.Branches[i].Condition, r.s)
			if err != nil {
				return err
			}
			if ok {
				return r.block(st.Branches[i].Body, depth+1)
			}
		}
	case *natvis.Break:
		ok, err := o.holds(st.Condition, r.s)
		if err == nil && ok {
			err = errBreak
		}
		return err
	case *natvis.ListItem:
		ok, err := o.holds(st.Condition, r.s)
		if err != nil || !ok {
			return err
		}
		l := r.list
		r.s.index = int64(len(l.items))
		l.items = append(l.items, o.child(&st.Value, st.Name, r.s))
		if len(l.items) >= r.most || l.n >= 0 && int64(len(l.items)) >= l.n {
			return errEnough
		}
	}
	return nil
}
