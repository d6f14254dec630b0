package repl

import (
	"fmt"
	"io"
	"strings"

	"dbg/session"
)

// setCommands stores the commands that are run when breakpoints are hit: those that args lists, or
// the newest ones.
func (sh *shell) setCommands(args string, body block) error {
	ids := sh.newest
	if args = strings.TrimSpace(args); args != "" {
		var err error
		if ids, err = numbers(sh.bpnum(args)); err != nil {
			return err
		}
	}
	if len(ids) == 0 {
		return userErrorf("No breakpoints specified.")
	}
	known := map[int]bool{}
	for _, b := range sh.sess.Breakpoints() {
		known[b.ID] = true
	}
	for _, id := range ids {
		if !known[id] {
			return userErrorf("No breakpoint number %d.", id)
		}
	}
	if sh.commands == nil {
		sh.commands = map[int]block{}
	}
	for _, id := range ids {
		if len(body) == 0 {
			delete(sh.commands, id)
		} else {
			sh.commands[id] = body
		}
	}
	return nil
}

// silent reports whether a stop is not to be printed: the commands of its breakpoint begin with
// "silent".
func (sh *shell) silent(st *session.Stop) bool {
	for _, id := range st.Breakpoints {
		if b := sh.commands[id]; len(b) > 0 && firstWord(b[0].text) == "silent" {
			return true
		}
	}
	return false
}

// noteStop remembers the commands of the breakpoints at a stop. They run when the command that
// moved the program is done.
func (sh *shell) noteStop(st *session.Stop) {
	sh.stops++
	sh.actions = nil
	for _, id := range st.Breakpoints {
		if b := sh.commands[id]; len(b) > 0 {
			sh.actions = append(sh.actions, b)
		}
	}
	for _, id := range st.Deleted {
		delete(sh.commands, id)
	}
}

// runActions runs the commands of breakpoints that were hit. Commands that move the program end the
// list; those of the next stop follow.
func (sh *shell) runActions() error {
	if sh.acting {
		return nil
	}
	sh.acting = true
	defer func() { sh.acting = false }()
	for len(sh.actions) > 0 {
		list := sh.actions
		sh.actions = nil
		stop := sh.stops
		for _, b := range list {
			for i := range b {
				if i == 0 && firstWord(b[i].text) == "silent" {
					continue
				}
				if err := sh.broken(); err != nil {
					return err
				}
				if err := sh.doLine(&b[i]); err != nil {
					sh.actions = nil
					return err
				}
				if sh.stops != stop || sh.sess.State() != session.IsStopped {
					break
				}
			}
			if sh.stops != stop {
				break
			}
		}
	}
	return nil
}

// noteNewest records the breakpoints that a command has set: commands without numbers is about
// them, and the last one is $bpnum.
func (sh *shell) noteNewest(ids ...int) {
	sh.newest = ids
	_, _ = sh.evaluate(fmt.Sprintf("$bpnum = %d", ids[len(ids)-1]))
}

// bpnum replaces $bpnum in a list of numbers.
func (sh *shell) bpnum(args string) string {
	if len(sh.newest) == 0 {
		return args
	}
	return strings.ReplaceAll(args, "$bpnum", fmt.Sprint(sh.newest[len(sh.newest)-1]))
}

// writeBlock writes a block as it was typed.
func writeBlock(w io.Writer, b block, indent string) {
	for i := range b {
		fmt.Fprintf(w, "%s%s\n", indent, b[i].text)
		if _, ok := takesBlock(b[i].text); !ok {
			continue
		}
		writeBlock(w, b[i].body, indent+"  ")
		if len(b[i].orElse) > 0 {
			fmt.Fprintf(w, "%selse\n", indent)
			writeBlock(w, b[i].orElse, indent+"  ")
		}
		fmt.Fprintf(w, "%send\n", indent)
	}
}
