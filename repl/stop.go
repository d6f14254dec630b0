package repl

import (
	"fmt"
	"strings"
	"syscall"

	"dbg/session"
	"dbg/target"
)

// stopped prints why and where the program stopped.
func (sh *shell) stopped(st session.Stop) error {
	silent := sh.silent(&st)
	sh.noteStop(&st)
	if silent {
		sh.lastThread = st.Thread
		sh.list.reset()
		return nil
	}
	threads, _ := sh.sess.Threads()
	many := false
	who := "Program"
	many = sh.several()
	for _, t := range threads {
		many = many || t.Number > 1
	}
	var thread session.ThreadInfo
	for _, t := range threads {
		if t.ID == st.Thread {
			thread = t
			if many {
				who = fmt.Sprintf("Thread %s %q", sh.threadID(t.Number), t.Name)
			}
		}
	}
	if t, ok := sh.sess.Target(); ok && sh.lastThread == 0 {
		sh.lastThread = target.ThreadID(t.PID)
	}
	if sh.lastThread != st.Thread && st.Reason != session.StopEntry {
		fmt.Fprintf(sh.out, "[Switching to %s]\n", threadName(sh.sess, thread))
	}
	sh.lastThread = st.Thread
	brief := false
	switch st.Reason {
	case session.StopBreakpoint:
		id, word := 0, "Breakpoint"
		if len(st.Breakpoints) > 0 {
			id = st.Breakpoints[0]
		}
		for _, d := range st.Deleted {
			if d == id {
				word = "Temporary breakpoint"
			}
		}
		if many {
			fmt.Fprintf(sh.out, "\n%s hit %s %d, ", who, word, id)
		} else {
			fmt.Fprintf(sh.out, "\n%s %d, ", word, id)
		}
	case session.StopCatch:
		sh.printCaught(&st, who, many)
	case session.StopWatch:
	case session.StopWatchScope:
	case session.StopSignal:
		if st.Signal != nil {
			fmt.Fprintf(sh.out, "\n%s received signal %s, %s.\n", who, target.SignalName(st.Signal.Number), target.SignalDescription(st.Signal.Number))
			if d := signalDetail(st.Signal); d != "" {
				fmt.Fprintln(sh.out, d)
			}
		}
	case session.StopPause:
		fmt.Fprintf(sh.out, "\n%s received signal SIGINT, Interrupt.\n", who)
	case session.StopStep:
		brief = !st.NewFunction
	case session.StopFinish:
		// "Run till exit" was printed before; the frame line follows.
	}
	sh.printWatches(&st, who, many)
	sh.list.reset()
	if err := sh.printHere(brief); err != nil {
		return err
	}
	if st.Reason == session.StopCatch {
		sh.printCaughtDetail(st.Caught)
	}
	if st.HasReturnValue {
		n := sh.sess.KeepValue(st.ReturnValue)
		text := sh.sess.Format(st.ReturnValue, sh.settings.print.Options)
		if n > 0 {
			fmt.Fprintf(sh.out, "Value returned is $%d = %s\n", n, text)
		} else {
			fmt.Fprintf(sh.out, "Value returned is %s\n", text)
		}
	}
	sh.showDisplays()
	return nil
}

// printHere prints the place of the selected frame: its line and the source line. With brief, it
// prints only the source line, if there is one.
func (sh *shell) printHere(brief bool) error {
	v, err := sh.selectedView(false)
	if err != nil {
		return err
	}
	n := sh.names()
	if !brief || !v.HasSource() {
		fmt.Fprintln(sh.out, n.location(&v, v.ShowPC || !v.HasSource()))
		sh.printSourceLine(v.Frame, "")
		return nil
	}
	address := ""
	if v.ShowPC && !n.frame.noAddress {
		address = fmt.Sprintf("0x%016x\t", uint64(v.PC))
	}
	sh.printSourceLine(v.Frame, address)
	return nil
}

// printFrame prints the selected frame as the frame command does.
func (sh *shell) printFrame() error {
	v, err := sh.selectedView(false)
	if err != nil {
		return err
	}
	fmt.Fprintln(sh.out, sh.names().level(&v))
	sh.printSourceLine(v.Frame, "")
	return nil
}

func (sh *shell) selectedView(locals bool) (session.FrameView, error) {
	t, level := sh.sess.Selected()
	return sh.sess.ViewFrame(t, level, session.ViewOptions{Locals: locals, Format: sh.argumentFormat()})
}

// printSourceLine prints the source line of a frame.
func (sh *shell) printSourceLine(f *session.Frame, address string) {
	if !f.HasSource() || f.Machine.Signal {
		return
	}
	sh.list.around(f.Position.File, f.Position.Line)
	lines, err := sh.sess.Source(f.Position.File)
	switch {
	case err != nil:
		fmt.Fprintf(sh.out, "%s%d\t%s: No such file or directory.\n", address, f.Position.Line, sh.names().source(f.Position.File))
	case f.Position.Line > len(lines):
		fmt.Fprintf(sh.out, "%s%d\tin %s\n", address, f.Position.Line, sh.names().source(f.Position.File))
	default:
		fmt.Fprintf(sh.out, "%s%d\t%s\n", address, f.Position.Line, lines[f.Position.Line-1])
	}
}

// signalDetail returns what the kernel reports about a signal in addition to its number.
func signalDetail(s *target.SignalInfo) string {
	if s.Number == int(syscall.SIGINT) && !s.HasSender {
		return "" // from the terminal: there is nothing to add
	}
	parts := []string{"si_code " + target.SignalCodeName(s.Number, s.Code)}
	if s.HasAddr {
		parts = append(parts, "address "+s.Addr.String())
	}
	if s.HasSender {
		parts = append(parts, fmt.Sprintf("sent by process %d, user %d", s.SenderPID, s.SenderUID))
	}
	return strings.Join(parts, ", ")
}

// ended prints how the process ended.
func (sh *shell) ended(e session.Ended) {
	sh.lastThread = 0
	sh.endedAs(sh.sess.Number(), e)
}

// endedAs prints how the process of an inferior ended.
func (sh *shell) endedAs(number int, e session.Ended) {
	switch {
	case e.Detached:
		fmt.Fprintf(sh.out, "[Inferior %d (process %d) detached]\n", number, e.PID)
	case e.Exited && e.ExitCode == 0:
		fmt.Fprintf(sh.out, "[Inferior %d (process %d) exited normally]\n", number, e.PID)
	case e.Exited:
		fmt.Fprintf(sh.out, "[Inferior %d (process %d) exited with code %02o]\n", number, e.PID, e.ExitCode)
	case e.Signal != nil:
		fmt.Fprintf(sh.out, "\nProgram terminated with signal %s, %s.\nThe program no longer exists.\n", target.SignalName(e.Signal.Number), target.SignalDescription(e.Signal.Number))
	}
}

// greet prints what will be debugged, before the first command. In a batch it prints only warnings.
func (sh *shell) greet() {
	t, ok := sh.sess.Target()
	for _, w := range sh.sess.Warnings() {
		fmt.Fprintf(sh.err, "warning: %s\n", w)
	}
	if id, _ := sh.sess.Selected(); id != 0 {
		sh.lastThread = id
	}
	if !ok || sh.opts.Batch {
		return
	}
	switch t.Kind {
	case target.Core:
		if t.Exe != "" {
			fmt.Fprintf(sh.out, "Core was generated by `%s'.\n", t.Exe)
		}
		if t.Signal != nil && t.Signal.Exception != "" {
			fmt.Fprintf(sh.out, "Program terminated with an exception: %s.\n", t.Signal.Exception)
		} else if t.Signal != nil {
			fmt.Fprintf(sh.out, "Program terminated with signal %s, %s.\n%s\n", target.SignalName(t.Signal.Number), target.SignalDescription(t.Signal.Number), signalDetail(t.Signal))
		}
	case target.Attached:
		fmt.Fprintf(sh.out, "Attached to process %d (%s).\n", t.PID, t.Exe)
	}
	if err := sh.printFrame(); err != nil {
		fmt.Fprintln(sh.err, message(err))
	}
}
