package repl

import (
	"fmt"
	"path/filepath"
	"strings"

	"dbg/session"
)

// goDeadlocks names the deadlocks of goroutines.
func goDeadlocks(sh *shell, l *session.Locks) {
	for _, cycle := range l.GoDeadlocks {
		var parts []string
		for i := range cycle {
			parts = append(parts, fmt.Sprintf("goroutine %d %s", cycle[i].ID, goWait(&cycle[i])))
		}
		word := "Probable deadlock"
		if l.GoStuck {
			word = "Deadlock"
		}
		fmt.Fprintf(sh.out, "%s: %s.\n", word, strings.Join(parts, "; "))
	}
	if l.GoStuck {
		fmt.Fprintln(sh.out, "Deadlock: all goroutines wait for locks and channels, and nothing else can wake one.")
	}
}

// goWaits lists what goroutines wait for.
func goWaits(sh *shell, list []session.GoWait) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintln(sh.out, "Waiting goroutines:")
	for i := range list {
		w := &list[i]
		where := ""
		if w.Function != "" {
			where = " in " + w.Function
			if w.File != "" {
				where += fmt.Sprintf(" at %s:%d", filepath.Base(w.File), w.Line)
			}
		}
		fmt.Fprintf(sh.out, "  Goroutine %d%s %s\n", w.ID, where, goWait(w))
	}
}

// goWait says what a goroutine waits for, and who holds it.
func goWait(w *session.GoWait) string {
	var b strings.Builder
	fmt.Fprintf(&b, "waits: %s", w.Reason)
	if len(w.Channels) == 0 && w.Object != 0 {
		fmt.Fprintf(&b, " %s", object("of", w.Object, w.Symbol))
	}
	for i := range w.Channels {
		c := &w.Channels[i]
		word := " to receive from"
		if c.Send {
			word = " to send to"
		}
		if i > 0 {
			word = " or" + word
		}
		fmt.Fprintf(&b, "%s %s (", word, object("channel", c.Addr, c.Symbol))
		if c.Elem != "" {
			fmt.Fprintf(&b, "chan %s, ", c.Elem)
		}
		fmt.Fprintf(&b, "len: %d, cap: %d", c.Len, c.Cap)
		if c.Closed {
			b.WriteString(", closed")
		}
		goroutines(&b, "senders", c.Senders)
		goroutines(&b, "receivers", c.Receivers)
		b.WriteString(")")
	}
	switch w.Reason {
	case "sync.Mutex.Lock", "sync.RWMutex.Lock", "sync.RWMutex.RLock":
		switch w.Holder {
		case 0:
			b.WriteString(", whose holder is unknown")
		case w.ID:
			b.WriteString(", which it probably holds itself")
		default:
			fmt.Fprintf(&b, ", probably held by goroutine %d", w.Holder)
		}
	}
	return b.String()
}

func goroutines(b *strings.Builder, what string, list []uint64) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, ", %s:", what)
	for i, id := range list {
		if i == 10 {
			b.WriteString(" …")
			return
		}
		fmt.Fprintf(b, " %d", id)
	}
}

// jsonGoWait is a goroutine of info locks.
type jsonGoWait struct {
	ID       uint64       `json:"id"`
	Reason   string       `json:"reason"`
	Address  *string      `json:"address"`
	Symbol   *string      `json:"symbol"`
	Holder   uint64       `json:"probable_holder,omitempty"`
	Function string       `json:"function,omitempty"`
	File     string       `json:"file,omitempty"`
	Line     int          `json:"line,omitempty"`
	Channels []jsonGoChan `json:"channels,omitempty"`
}

type jsonGoChan struct {
	Address   string   `json:"address"`
	Elem      string   `json:"element,omitempty"`
	Send      bool     `json:"send"`
	Len       uint64   `json:"len"`
	Cap       uint64   `json:"cap"`
	Closed    bool     `json:"closed"`
	Senders   []uint64 `json:"senders,omitempty"`
	Receivers []uint64 `json:"receivers,omitempty"`
}

func goWaitJSON(w *session.GoWait) jsonGoWait {
	out := jsonGoWait{ID: w.ID, Reason: w.Reason, Holder: w.Holder, Function: w.Function, File: w.File, Line: w.Line}
	if w.Object != 0 {
		out.Address = ptr(w.Object.String())
	}
	if w.Symbol != "" {
		out.Symbol = &w.Symbol
	}
	for _, c := range w.Channels {
		out.Channels = append(out.Channels, jsonGoChan{c.Addr.String(), c.Elem, c.Send, c.Len, c.Cap, c.Closed, c.Senders, c.Receivers})
	}
	return out
}
