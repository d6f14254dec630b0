package repl

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"dbg/session"
	"dbg/target"
)

func threadCommands() []*command {
	const g = "threads"
	return []*command{
		{name: "thread", aliases: []string{"t", "thr"}, usage: "[N | name NAME | find REGEX | freeze|thaw [all|N...] | apply all|N... COMMAND]", group: g, help: "select a thread, or run a command in several threads", words: fixedWords("apply", "name", "find", "freeze", "thaw"), run: thread},
	}
}

func thread(sh *shell, args string) error {
	word, rest := cutWord(args)
	switch {
	case word == "apply":
		return threadApply(sh, rest)
	case word == "name":
		return nameThread(sh, rest)
	case word == "find":
		return findThread(sh, rest)
	case word == "freeze" || word == "thaw":
		return freezeThreads(sh, rest, word == "freeze")
	case sh.stack() != nil:
		return userErrorf("No thread selected")
	case word == "":
		t, err := sh.selectedThreadInfo()
		if err != nil {
			return err
		}
		fmt.Fprintf(sh.out, "[Current thread is %s (%s)]\n", sh.threadID(t.Number), threadName(sh.sess, t))
		return nil
	}
	if inf, number, ok := strings.Cut(word, "."); ok {
		s, err := sh.inferiorByID(inf)
		if err != nil {
			return userErrorf("Invalid thread ID: %s", args)
		}
		if _, live := s.Target(); !live {
			return userErrorf("Unknown thread %s.", word)
		}
		sh.turnTo(s)
		word = number
	}
	n, err := strconv.Atoi(word)
	if err != nil {
		return userErrorf("Invalid thread ID: %s", args)
	}
	list, err := sh.sess.Threads()
	if err != nil {
		return err
	}
	for _, t := range list {
		if t.Number == n {
			if err := sh.selectThread(t.ID, 0); err != nil {
				return err
			}
			fmt.Fprintf(sh.out, "[Switching to thread %s (%s)]\n", sh.threadID(n), threadName(sh.sess, t))
			return sh.printFrame()
		}
	}
	return userErrorf("Unknown thread %s.", sh.threadID(n))
}

// freezeThreads keeps threads stopped while the others run, or lets them run again: the selected one,
// or those that args lists. gdb has no such command.
func freezeThreads(sh *shell, args string, on bool) error {
	if err := sh.live(); err != nil {
		return err
	}
	list, err := sh.sess.Threads()
	if err != nil {
		return err
	}
	var ids []int
	if args != "" && args != "all" {
		if ids, err = numbers(args); err != nil {
			return userErrorf("Invalid thread ID: %s", args)
		}
	}
	done := 0
	for _, t := range list {
		if args == "all" || args == "" && t.Selected || slices.Contains(ids, t.Number) {
			if err := sh.sess.FreezeThread(t.ID, on); err != nil {
				return err
			}
			done++
		}
	}
	if done == 0 || done < len(ids) {
		return userErrorf("Unknown thread %s.", args)
	}
	return nil
}

func (sh *shell) selectThread(id target.ThreadID, level int) error {
	if err := sh.sess.SelectThread(id); err != nil {
		return err
	}
	sh.lastThread = id
	sh.list.reset()
	if level > 0 {
		_, err := sh.sess.SelectFrame(level)
		return err
	}
	return nil
}

// threadApply runs a command in each of several threads, and then selects the previous thread and
// frame again.
func threadApply(sh *shell, args string) error {
	if err := sh.stack(); err != nil {
		return userErrorf("No threads.")
	}
	list, err := sh.sess.Threads()
	if err != nil {
		return err
	}
	var chosen []session.ThreadInfo
	ascending := false
	word, rest := cutWord(args)
	if word == "all" {
		chosen = append(chosen, list...)
		if w, r := cutWord(rest); w == "-ascending" {
			ascending, rest = true, r
		}
		sort.Slice(chosen, func(i, j int) bool { return (chosen[i].Number < chosen[j].Number) == ascending })
	} else {
		for word != "" && word[0] >= '0' && word[0] <= '9' {
			ids, err := numbers(word)
			if err != nil {
				return userErrorf("Invalid thread ID: %s", word)
			}
			for _, id := range ids {
				found := false
				for _, t := range list {
					if t.Number == id {
						chosen, found = append(chosen, t), true
					}
				}
				if !found {
					return userErrorf("Unknown thread %d.", id)
				}
			}
			args = rest
			word, rest = cutWord(args)
		}
		rest = args
	}
	quiet, skip, carryOn, rest := applyFlags(rest)
	if len(chosen) == 0 {
		return userErrorf("Please specify a thread ID list")
	}
	if strings.TrimSpace(rest) == "" {
		return userErrorf("Please specify a command to apply on the selected threads")
	}
	was, level := sh.sess.Selected()
	for _, t := range chosen {
		if sh.interrupted() {
			return errUserQuit
		}
		if err := sh.selectThread(t.ID, 0); err != nil {
			return err
		}
		if !quiet {
			fmt.Fprintf(sh.out, "\n%s\n", threadHeader(sh.sess, t))
		}
		err := sh.do(rest)
		switch {
		case err == nil || skip:
		case carryOn:
			fmt.Fprintln(sh.out, message(err))
		default:
			return err
		}
	}
	if sh.stack() == nil && sh.threadNumber(was) > 0 {
		return sh.selectThread(was, level)
	}
	return nil
}

func (sh *shell) threadNumber(id target.ThreadID) int {
	list, _ := sh.sess.Threads()
	for _, t := range list {
		if t.ID == id {
			return t.Number
		}
	}
	return 0
}

// infoThreads prints the table of threads, of all inferiors.
func infoThreads(sh *shell, args string) error {
	type row struct {
		mark, number, id, where string
	}
	var rows []row
	width, numbers := len("Target Id"), 4
	current := sh.sess.Number()
	group := sh.sess.Group()
	whole := sh.sess
	defer func() { sh.sess = whole }()
	for _, s := range group {
		if s.Number() != current {
			if sh.sess = s; sh.command != nil {
				sh.sess = s.Under(sh.command)
			}
		} else {
			sh.sess = whole
		}
		list, err := sh.sess.Threads()
		if err != nil {
			return err
		}
		n := sh.names()
		for _, t := range list {
			r := row{mark: " ", number: sh.threadID(t.Number), id: threadName(sh.sess, t), where: "(running)"}
			if t.Name != "" {
				r.id += fmt.Sprintf(" %q", t.Name)
			}
			if t.Selected && s.Number() == current {
				r.mark = "*"
			}
			if t.Frozen {
				r.id += " (frozen)"
			}
			if v, err := sh.sess.ViewFrame(t.ID, 0, session.ViewOptions{Format: sh.argumentFormat()}); err == nil {
				r.where = n.location(&v, v.ShowPC)
			} else if sh.sess.State() != session.IsRunning {
				r.where = "(" + message(err) + ")"
			}
			rows = append(rows, r)
			width, numbers = max(width, len(r.id)), max(numbers, len(r.number))
		}
	}
	if len(rows) == 0 {
		fmt.Fprintln(sh.out, "No threads.")
		return nil
	}
	fmt.Fprintf(sh.out, "  %-*s %-*s %s\n", numbers, "Id", width, "Target Id", "Frame")
	for _, r := range rows {
		fmt.Fprintf(sh.out, "%s %-*s %-*s %s\n", r.mark, numbers, r.number, width, r.id, r.where)
	}
	return nil
}
