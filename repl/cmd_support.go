package repl

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"dbg/session"
)

func supportCommands() []*command {
	const g = "support"
	return []*command{
		{name: "help", aliases: []string{"h"}, usage: "[COMMAND]", group: g, help: "list the commands, or explain one", words: commandWords, run: help},
		{name: "quit", aliases: []string{"q", "exit"}, usage: "[STATUS]", group: g, once: true, help: "exit dbg: it kills a program that it started, and detaches from an attached one", run: quit},
		{name: "source", usage: "FILE", group: g, once: true, help: "run the commands in a file", run: func(sh *shell, args string) error { return sh.sourceFile(args) }},
		{name: "printf", usage: "\"FORMAT\", EXPR...", group: g, help: "print values with a format of the C library", run: printFormatted},
		{name: "echo", usage: "TEXT", group: g, help: "print text; \\n is a new line", run: echo},
	}
}

func help(sh *shell, args string) error {
	if args != "" {
		c, err := lookup(table(), firstWord(args), "")
		if err != nil {
			return err
		}
		names := append([]string{c.name}, c.aliases...)
		fmt.Fprintf(sh.out, "%s\n%s.\nUsage: %s\n", strings.Join(names, ", "), capital(c.help), strings.TrimSpace(c.name+" "+c.usage))
		return nil
	}
	group := ""
	for _, c := range table() {
		if c.group != group {
			if group != "" {
				fmt.Fprintln(sh.out)
			}
			group = c.group
			fmt.Fprintf(sh.out, "%s:\n", capital(group))
		}
		what := c.help
		if c.name == "info" {
			what = "show information about a subject; without a subject, list the subjects"
		}
		fmt.Fprintf(sh.out, "  %-12s %s\n", c.name, what)
	}
	fmt.Fprintln(sh.out, "\nA name may be shortened as long as it is unambiguous. An empty line repeats the last command.")
	return nil
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func quit(sh *shell, args string) error {
	if !sh.mayQuit() {
		return nil
	}
	if args == "" {
		return errQuit
	}
	n, err := count(args)
	if err != nil {
		return err
	}
	return &ExitError{n & 0xff}
}

func echo(sh *shell, args string) error {
	var b strings.Builder
	for i := 0; i < len(args); i++ {
		if args[i] != '\\' || i+1 == len(args) {
			if args[i] != '\\' { // in gdb, one at the end keeps trailing blanks
				b.WriteByte(args[i])
			}
			continue
		}
		i++
		switch args[i] {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		default:
			b.WriteByte(args[i])
		}
	}
	fmt.Fprint(sh.out.raw, b.String())
	return nil
}

func printFormatted(sh *shell, args string) error {
	f, err := session.ParseFormatted(args)
	if err != nil {
		return err
	}
	t, level := sh.sess.Selected()
	text, err := sh.sess.Printf(t, level, f)
	if err == nil {
		fmt.Fprint(sh.out, text)
	}
	return err
}

// maxSourceDepth limits the nesting of command files.
const maxSourceDepth = 50

// sourceFile runs the commands in a file. It stops at the first error, as gdb does.
func (sh *shell) sourceFile(path string) error {
	if path == "" {
		return userErrorf("source command requires file name of file to source.")
	}
	if strings.HasSuffix(path, ".star") {
		return fmt.Errorf("%s: Starlark files are not supported yet", path)
	}
	if sh.depth >= maxSourceDepth {
		return fmt.Errorf("%s: command files are nested too deeply", path)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe without a writer is an empty file
	if err != nil {
		return fmt.Errorf("%s: %w", path, errors.Unwrap(err))
	}
	defer f.Close()
	was, repeated := sh.scripted, sh.repeated
	sh.depth++
	sh.scripted, sh.repeated = true, false
	defer func() { sh.depth--; sh.scripted, sh.repeated = was, repeated }()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	n := 1
	before := sh.more
	defer func() { sh.more = before }()
	sh.more = func(string) (string, error) {
		if !lines.Scan() {
			return "", cmp.Or(lines.Err(), io.EOF)
		}
		n++
		return lines.Text(), nil
	}
	for ; lines.Scan(); n++ {
		sh.idle()
		at := n
		err := sh.do(lines.Text())
		var exit *ExitError
		if errors.Is(err, errQuit) || errors.As(err, &exit) || err != nil && sh.ctx.Err() != nil {
			return err
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %s", path, at, message(err))
		}
	}
	return lines.Err()
}
