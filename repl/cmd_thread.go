package repl

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"dbg/session"
	"dbg/target"
)

func threadCommands() []*command {
	const g = "threads"
	return []*command{
		{name: "thread", aliases: []string{"t", "thr"}, usage: "[N | name NAME | find REGEX | apply all|N... COMMAND]", group: g, help: "select a thread, or run a command in several threads", words: fixedWords("apply", "name", "find"), run: thread},
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
	case sh.stack() != nil:
		return userErrorf("No thread selected")
	case word == "":
		t, err := sh.selectedThreadInfo()
		if err != nil {
			return err
		}
		fmt.Fprintf(sh.out, "[Current thread is %d (%s)]\n", t.Number, threadName(sh.sess, t))
		return nil
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
			fmt.Fprintf(sh.out, "[Switching to thread %d (%s)]\n", n, threadName(sh.sess, t))
			return sh.printFrame()
		}
	}
	return userErrorf("Unknown thread %d.", n)
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

// infoThreads prints the table of threads.
func infoThreads(sh *shell, args string) error {
	list, err := sh.sess.Threads()
	if err != nil {
		return err
	}
	if len(list) == 0 {
		fmt.Fprintln(sh.out, "No threads.")
		return nil
	}
	ids := make([]string, len(list))
	width := len("Target Id")
	for i, t := range list {
		ids[i] = threadName(sh.sess, t)
		if t.Name != "" {
			ids[i] += fmt.Sprintf(" %q", t.Name)
		}
		width = max(width, len(ids[i]))
	}
	fmt.Fprintf(sh.out, "  %-4s %-*s %s\n", "Id", width, "Target Id", "Frame")
	n := sh.names()
	for i, t := range list {
		mark := " "
		if t.Selected {
			mark = "*"
		}
		where := "(running)"
		if v, err := sh.sess.ViewFrame(t.ID, 0, session.ViewOptions{Format: argumentFormat()}); err == nil {
			where = n.location(&v, v.ShowPC)
		} else if sh.sess.State() != session.IsRunning {
			where = "(" + message(err) + ")"
		}
		fmt.Fprintf(sh.out, "%s %-4d %-*s %s\n", mark, t.Number, width, ids[i], where)
	}
	return nil
}
