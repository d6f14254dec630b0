package repl

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-delve/liner"
	"golang.org/x/sys/unix"
)

// lineReader returns the user's lines.
type lineReader interface {
	// read shows the prompt and returns a line. The error is io.EOF at the end, and errInterrupted
	// for Ctrl-C.
	read(prompt string) (string, error)
	close()
}

var errInterrupted = errors.New("interrupted")

// openInput opens the terminal, or the stream of commands.
func (sh *shell) openInput() (lineReader, error) {
	if !sh.opts.Terminal {
		return newPipeInput(sh.ctx, sh.opts.In), nil
	}
	return newTerminalInput(sh), nil
}

// pipeInput reads commands that are not typed by a user: it shows no prompt. A goroutine reads the
// stream, so dbg can end while the stream stays open.
type pipeInput struct {
	ctx   context.Context
	lines chan pipeLine
}

type pipeLine struct {
	text string
	err  error
}

func newPipeInput(ctx context.Context, r io.Reader) *pipeInput {
	p := &pipeInput{ctx, make(chan pipeLine)}
	go func() {
		defer close(p.lines)
		for lines, err := bufio.NewReader(r), error(nil); err == nil; {
			var text string
			text, err = lines.ReadString('\n')
			l := pipeLine{strings.TrimRight(text, "\r\n"), err}
			if err == io.EOF && text != "" {
				l.err = nil
			}
			select {
			case p.lines <- l:
			case <-ctx.Done():
				return
			}
		}
	}()
	return p
}

func (p *pipeInput) read(string) (string, error) {
	select {
	case l, ok := <-p.lines:
		if !ok {
			return "", io.EOF
		}
		return l.text, l.err
	case <-p.ctx.Done():
		return "", p.ctx.Err()
	}
}

func (p *pipeInput) close() {}

// terminalInput edits lines. The line editor expects the terminal to be always in its own mode.
// Here the terminal is in that mode only while the editor reads.
type terminalInput struct {
	ctx     context.Context
	sh      *shell
	state   *liner.State
	cooked  liner.ModeApplier // the terminal as we found it
	editing liner.ModeApplier
	history string
}

func newTerminalInput(sh *shell) *terminalInput {
	in := &terminalInput{ctx: sh.ctx, sh: sh, history: sh.opts.History}
	in.cooked, _ = liner.TerminalMode()
	in.state = liner.NewLiner()
	in.editing, _ = liner.TerminalMode()
	in.state.SetCtrlCAborts(true)
	in.state.SetTabCompletionStyle(liner.TabPrints)
	in.state.SetWordCompleter(sh.complete)
	if f, err := os.Open(in.history); err == nil {
		in.state.ReadHistory(f)
		f.Close()
	}
	in.cook()
	sh.tty.shell = in.cooked
	return in
}

func (in *terminalInput) cook() {
	if in.cooked != nil {
		in.cooked.ApplyMode()
	}
}

// ignoreControlC makes the terminal pass Ctrl-C as a character, not as a signal.
func ignoreControlC(f *os.File) {
	fd := int(f.Fd())
	if t, err := unix.IoctlGetTermios(fd, unix.TCGETS); err == nil {
		t.Lflag &^= unix.ISIG
		_ = unix.IoctlSetTermios(fd, unix.TCSETS, t)
	}
}

// read returns at once when the session is to end. The goroutine that reads the terminal then stays
// behind, since nothing can wake it.
func (in *terminalInput) read(prompt string) (string, error) {
	in.sh.out.Flush()
	if in.editing != nil {
		in.editing.ApplyMode()
		// The editor does this too, but only after it has printed the prompt: a fast Ctrl-C would
		// be lost.
		ignoreControlC(in.sh.opts.In)
	}
	defer in.cook()
	type result struct {
		line string
		err  error
	}
	done := make(chan result, 1)
	go func() {
		line, err := in.state.Prompt(prompt)
		done <- result{line, err}
	}()
	select {
	case <-in.ctx.Done():
		return "", in.ctx.Err()
	case r := <-done:
		if errors.Is(r.err, liner.ErrPromptAborted) {
			return "", errInterrupted
		}
		if r.err == nil && strings.TrimSpace(r.line) != "" && !strings.HasSuffix(prompt, "n) ") {
			in.state.AppendHistory(r.line)
		}
		return r.line, r.err
	}
}

func (in *terminalInput) close() {
	if in.history != "" && in.ctx.Err() == nil {
		in.save()
	}
	in.state.Close()
	in.cook()
}

// save writes the history to a temporary file and renames it, so that two instances of dbg never
// leave half a file.
func (in *terminalInput) save() {
	if err := os.MkdirAll(filepath.Dir(in.history), 0o700); err != nil {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(in.history), "history-*")
	if err != nil {
		return
	}
	_, err = in.state.WriteHistory(f)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), in.history)
	}
	if err != nil {
		os.Remove(f.Name())
	}
}

// asking reports whether a user can be asked.
func (sh *shell) asking() bool {
	return sh.opts.Terminal && sh.input != nil && sh.settings.confirm && !sh.scripted
}

// ask asks a question. If nobody can be asked, the answer is yes.
func (sh *shell) ask(question string) bool {
	if !sh.asking() {
		return true
	}
	lines := strings.Split(question, "\n")
	for _, l := range lines[:len(lines)-1] {
		fmt.Fprintln(sh.out, l)
	}
	for {
		answer, err := sh.input.read(lines[len(lines)-1])
		switch {
		case errors.Is(err, errInterrupted):
			return false
		case err != nil:
			fmt.Fprintln(sh.out, "EOF [assumed Y]")
			return true
		}
		switch strings.ToLower(strings.TrimSpace(answer)) {
		case "y", "yes":
			return true
		case "n", "no":
			return false
		case "":
			if strings.Contains(question, "[n]") {
				return false
			}
		}
		fmt.Fprintln(sh.out, "Please answer y or n.")
	}
}

// ttyModes keeps the program's terminal mode separate from ours: if the program switched echo off,
// echo is off again when the program continues.
type ttyModes struct {
	shell   liner.ModeApplier // nil if there is no terminal
	program liner.ModeApplier
	given   bool
}

func (t *ttyModes) toProgram() {
	if t.shell == nil || t.given {
		return
	}
	t.given = true
	if t.program != nil {
		t.program.ApplyMode()
	}
}

func (t *ttyModes) toShell() {
	if t.shell == nil || !t.given {
		return
	}
	t.given = false
	t.program, _ = liner.TerminalMode()
	t.shell.ApplyMode()
}
