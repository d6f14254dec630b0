package repl

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"dbg/session"
	"dbg/target"
)

// infoLockCommands are the subjects of info about waiting threads.
func infoLockCommands() []*command {
	return []*command{
		{name: "locks", run: infoLocks},
		{name: "wait", run: infoWait},
	}
}

// infoLocks names deadlocks, and lists what all threads wait for.
func infoLocks(sh *shell, args string) error {
	l, err := sh.sess.Locks()
	if err != nil {
		return err
	}
	if sh.opts.JSON {
		return sh.locksJSON(&l)
	}
	n := newThreadNames(sh)
	for _, cycle := range l.Deadlocks {
		var parts []string
		for _, w := range cycle {
			parts = append(parts, n.once(w.Thread.ID)+" "+n.wait(&w, true))
		}
		word := "Deadlock"
		if slices.ContainsFunc(cycle, func(w session.Wait) bool { return w.Probable }) {
			word = "Probable deadlock"
		}
		if l.Stuck {
			word = "Deadlock"
		}
		fmt.Fprintf(sh.out, "%s: %s.\n", word, strings.Join(parts, "; "))
	}
	if l.Stuck {
		fmt.Fprintln(sh.out, "Deadlock: all threads wait for locks or for the ends of threads, so none of them can go on.")
	}
	goDeadlocks(sh, &l)
	if len(l.Waits) == 0 && len(l.Goroutines) == 0 {
		fmt.Fprintln(sh.out, "No thread waits.")
		return nil
	}
	if len(l.Deadlocks) == 0 && !l.Stuck && len(l.GoDeadlocks) == 0 && !l.GoStuck {
		fmt.Fprintln(sh.out, "No deadlock found.")
	}
	goWaits(sh, l.Goroutines)
	if len(l.Waits) == 0 {
		return nil
	}
	fmt.Fprintln(sh.out, "Waiting threads:")
	n.seen = nil
	for _, w := range l.Waits {
		fmt.Fprintf(sh.out, "  %s %s\n", capital(n.full(w.Thread.ID)), n.wait(&w, false))
	}
	return nil
}

// infoWait shows where the selected thread waits.
func infoWait(sh *shell, args string) error {
	if err := sh.stack(); err != nil {
		return userErrorf("No thread selected")
	}
	t, _ := sh.sess.Selected()
	w, err := sh.sess.ThreadWait(t)
	if err != nil {
		return err
	}
	if sh.opts.JSON {
		return sh.writeJSONValue(waitJSON(newThreadNames(sh), &w))
	}
	n := newThreadNames(sh)
	switch {
	case w.Call == nil:
		fmt.Fprintf(sh.out, "%s is in no system call.\n", capital(n.full(t)))
		return nil
	case w.Call.Returned:
		fmt.Fprintf(sh.out, "%s was interrupted in the system call %s.\n", capital(n.full(t)), w.Call)
		return nil
	}
	fmt.Fprintf(sh.out, "%s is in the system call %s.\n", capital(n.full(t)), w.Call)
	if w.Kind != session.WaitCall {
		fmt.Fprintf(sh.out, "It %s.\n", n.wait(&w, false))
	}
	return nil
}

// threadNames writes threads as `thread 2 "worker"`.
type threadNames struct {
	byID map[target.ThreadID]session.ThreadInfo
	seen map[target.ThreadID]bool // nil: each is written with its name
}

func newThreadNames(sh *shell) *threadNames {
	n := &threadNames{byID: map[target.ThreadID]session.ThreadInfo{}, seen: map[target.ThreadID]bool{}}
	list, _ := sh.sess.Threads()
	for _, t := range list {
		n.byID[t.ID] = t
	}
	return n
}

// full is a thread with its name.
func (n *threadNames) full(id target.ThreadID) string {
	t := n.byID[id]
	if t.Name == "" {
		return fmt.Sprintf("thread %d", t.Number)
	}
	return fmt.Sprintf("thread %d %q", t.Number, t.Name)
}

// once is a thread with its name the first time, and without it later.
func (n *threadNames) once(id target.ThreadID) string {
	if n.seen[id] {
		return fmt.Sprintf("thread %d", n.byID[id].Number)
	}
	if n.seen != nil {
		n.seen[id] = true
	}
	return n.full(id)
}

func object(kind string, a target.Addr, symbol string) string {
	if symbol != "" {
		return fmt.Sprintf("%s %s <%s>", kind, a, symbol)
	}
	return fmt.Sprintf("%s %s", kind, a)
}

// wait says what a thread waits for, and who holds it.
func (n *threadNames) wait(w *session.Wait, inCycle bool) string {
	var b strings.Builder
	switch w.Kind {
	case session.WaitCall:
		return fmt.Sprintf("is in the system call %s", w.Call)
	case session.WaitThread:
		if w.Holder == 0 {
			b.WriteString("waits for the end of an unknown thread")
		} else {
			fmt.Fprintf(&b, "waits for the end of %s", n.once(w.Holder))
		}
	case session.WaitChild:
		if w.Child == 0 {
			b.WriteString("waits for any child process")
		} else {
			fmt.Fprintf(&b, "waits for child process %d", w.Child)
		}
		if w.ChildHolder != 0 {
			fmt.Fprintf(&b, ", which waits for %s, held by %s", object("mutex", w.ChildObject, ""), n.once(w.ChildHolder))
		}
	case session.WaitGoRuntime:
		b.WriteString("waits for work (Go runtime)")
	default:
		fmt.Fprintf(&b, "waits for %s", object(w.Kind.String(), w.Object, w.Symbol))
	}
	if w.Timed && w.Kind != session.WaitGoRuntime {
		b.WriteString(" for a limited time")
	}
	switch {
	case !w.Kind.HasHolder():
	case w.Holder == w.Thread.ID:
		b.WriteString(", which it holds itself")
	case w.Holder != 0 && w.Probable:
		fmt.Fprintf(&b, ", probably held by %s", n.once(w.Holder))
	case w.Holder != 0:
		fmt.Fprintf(&b, ", held by %s", n.once(w.Holder))
	default:
		b.WriteString(", whose holder is unknown")
	}
	return b.String()
}

// The types below are the object of info locks in JSON. What is unknown is null.

type jsonLocks struct {
	Target    jsonTarget   `json:"target"`
	Deadlocks [][]jsonWait `json:"deadlocks"`
	Waits     []jsonWait   `json:"waits"`
	Stuck     bool         `json:"stuck"` // all threads wait for each other

	Goroutines  []jsonGoWait `json:"goroutines,omitempty"`
	GoDeadlocks [][]uint64   `json:"goroutine_deadlocks,omitempty"` // numbers of goroutines
	GoStuck     bool         `json:"goroutines_stuck,omitempty"`
}

type jsonWait struct {
	Thread   jsonLockThread  `json:"thread"`
	Kind     string          `json:"kind"`
	Address  *string         `json:"address"`
	Symbol   *string         `json:"symbol"`
	Holder   *jsonLockThread `json:"holder"`
	Child    *jsonChild      `json:"child,omitempty"`
	Probable bool            `json:"probable,omitempty"` // the holder is not certain
	Timed    bool            `json:"timed"`
	Call     *jsonCall       `json:"system_call"`
}

type jsonLockThread struct {
	ID     int    `json:"id"`
	Number int    `json:"number"`
	Name   string `json:"name"`
}

type jsonChild struct {
	PID     int             `json:"pid"`
	Address *string         `json:"address"`
	Holder  *jsonLockThread `json:"holder"`
}

type jsonCall struct {
	Number    uint64   `json:"number"`
	Name      string   `json:"name"`
	Arguments []string `json:"arguments"`
}

func (n *threadNames) json(id target.ThreadID) *jsonLockThread {
	if id == 0 {
		return nil
	}
	t := n.byID[id]
	return &jsonLockThread{int(id), t.Number, t.Name}
}

func waitJSON(n *threadNames, w *session.Wait) jsonWait {
	out := jsonWait{Thread: *n.json(w.Thread.ID), Kind: w.Kind.Name(), Holder: n.json(w.Holder), Probable: w.Probable, Timed: w.Timed}
	if w.Object != 0 {
		out.Address = ptr(w.Object.String())
	}
	if w.Symbol != "" {
		out.Symbol = &w.Symbol
	}
	if w.Kind == session.WaitChild {
		out.Child = &jsonChild{PID: w.Child, Holder: n.json(w.ChildHolder)}
		if w.ChildObject != 0 {
			out.Child.Address = ptr(w.ChildObject.String())
		}
	}
	if c := w.Call; c != nil {
		out.Call = &jsonCall{c.Number, c.Name, append([]string{}, c.Arguments...)}
	}
	return out
}

func (sh *shell) locksJSON(l *session.Locks) error {
	n := newThreadNames(sh)
	info, _ := sh.sess.Target()
	out := jsonLocks{Target: jsonTarget{Kind: info.Kind.String(), Exe: info.Exe, PID: info.PID, Signal: signalJSON(info.Signal)}, Deadlocks: [][]jsonWait{}, Waits: []jsonWait{}, Stuck: l.Stuck}
	if info.Arch != nil {
		out.Target.Arch = info.Arch.Name
	}
	for _, cycle := range l.Deadlocks {
		var list []jsonWait
		for _, w := range cycle {
			list = append(list, waitJSON(n, &w))
		}
		out.Deadlocks = append(out.Deadlocks, list)
	}
	for _, w := range l.Waits {
		out.Waits = append(out.Waits, waitJSON(n, &w))
	}
	for i := range l.Goroutines {
		out.Goroutines = append(out.Goroutines, goWaitJSON(&l.Goroutines[i]))
	}
	for _, c := range l.GoDeadlocks {
		var list []uint64
		for _, w := range c {
			list = append(list, w.ID)
		}
		out.GoDeadlocks = append(out.GoDeadlocks, list)
	}
	out.GoStuck = l.GoStuck
	return sh.writeJSONValue(out)
}

// writeJSONValue prints a value as one line.
func (sh *shell) writeJSONValue(v any) error {
	b, err := json.Marshal(v)
	if err == nil {
		fmt.Fprintf(sh.out, "%s\n", b)
	}
	return err
}
