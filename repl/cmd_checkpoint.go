package repl

import (
	"fmt"
	"strconv"
	"strings"

	"dbg/session"
)

func checkpointCommands() []*command {
	const g = "running"
	return []*command{
		{name: "checkpoint", group: g, once: true, help: "copy the process, to return to this place with restart", run: makeCheckpoint},
		{name: "restart", usage: "N", group: g, once: true, help: "continue from checkpoint N", run: restart},
		{name: "record", group: g, once: true, help: "dbg records no executions; checkpoint and restart return to a place", run: noRecord},
		{name: "reverse-continue", aliases: []string{"rc"}, group: g, once: true, help: "see record", run: noRecord},
		{name: "reverse-step", aliases: []string{"rs"}, group: g, once: true, help: "see record", run: noRecord},
		{name: "reverse-next", aliases: []string{"rn"}, group: g, once: true, help: "see record", run: noRecord},
		{name: "reverse-stepi", aliases: []string{"rsi"}, group: g, once: true, help: "see record", run: noRecord},
		{name: "reverse-nexti", aliases: []string{"rni"}, group: g, once: true, help: "see record", run: noRecord},
		{name: "reverse-finish", group: g, once: true, help: "see record", run: noRecord},
	}
}

// noRecord answers the commands that need a recorded execution.
func noRecord(*shell, string) error {
	return userErrorf("dbg records no executions. To return to a place, make a checkpoint there, and restart it.")
}

func makeCheckpoint(sh *shell, args string) error {
	if err := sh.live(); err != nil {
		return err
	}
	c, err := sh.sess.Checkpoint()
	if err != nil {
		return err
	}
	fmt.Fprintf(sh.out, "Checkpoint %d: fork returned pid %d.\n", c.Number, c.PID)
	return nil
}

func restart(sh *shell, args string) error {
	n, err := strconv.Atoi(strings.TrimSpace(args))
	if err != nil {
		return userErrorf("Requires an argument (checkpoint id to restart)")
	}
	if err := sh.sess.Restart(n); err != nil {
		return err
	}
	sh.lastThread, _ = sh.sess.Selected()
	sh.list.reset()
	t, _ := sh.sess.Target()
	fmt.Fprintf(sh.out, "Switching to process %d\n", t.PID)
	return sh.printFrame()
}

// infoCheckpoints prints the checkpoints, and the current process.
func infoCheckpoints(sh *shell, args string) error {
	list := sh.sess.Checkpoints()
	if len(list) == 0 {
		fmt.Fprintln(sh.out, "No checkpoints.")
		return nil
	}
	for _, c := range list {
		mark, first := " ", ""
		if c.Current {
			mark = "*"
		}
		if c.Number == 0 {
			first = " (main process)"
		}
		fmt.Fprintf(sh.out, "%s %d process %d%s%s\n", mark, c.Number, c.PID, first, sh.framePlace(c.Frame))
	}
	return nil
}

func (sh *shell) framePlace(f *session.Frame) string {
	if f == nil {
		return ""
	}
	text := fmt.Sprintf(" at %s", f.PC)
	if f.HasSource() {
		text += fmt.Sprintf(", file %s, line %d", sh.names().source(f.Position.File), f.Position.Line)
	}
	return text
}

// onCheckpoints handles "checkpoint N..." after delete and detach.
func (sh *shell) onCheckpoints(args string, detach bool) (handled bool, err error) {
	word, rest := cutWord(args)
	if word != "checkpoint" && word != "checkpoints" {
		return false, nil
	}
	ids, err := numbers(rest)
	if err != nil || len(ids) == 0 {
		return true, userErrorf("Requires argument (checkpoint id to delete)")
	}
	for _, id := range ids {
		if err := sh.sess.DeleteCheckpoint(id, detach); err != nil {
			return true, err
		}
		if !detach {
			sh.announce("Killed checkpoint %d\n", id)
		}
	}
	return true, nil
}
