package repl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// A block is a list of commands that ends with "end": the body of commands, if, while, define and
// document. Blocks may be nested.
type block []blockLine

// blockLine is a command, with its blocks if it has any.
type blockLine struct {
	text   string
	body   block
	orElse block // of if
}

// maxBlock bounds the lines of a block, with those of the blocks in it.
const maxBlock = 10_000

// takesBlock reports whether a command line is followed by a block, and returns the full name of
// the command.
func takesBlock(line string) (name string, ok bool) {
	switch word := firstWord(strings.TrimSpace(line)); word {
	case "if", "while", "define", "document", "commands", "comm", "comma", "comman", "command", "actions":
		if strings.HasPrefix("commands", word) {
			word = "commands"
		}
		return word, true
	}
	return "", false
}

// readLine returns the next line of a block, from where its command came from.
type readLine func(prompt string) (string, error)

// readBlock reads a block up to its "end". raw is set for the text of document, in which no line is
// a command.
func readBlock(read readLine, depth int, raw bool, left *int) (b block, orElse bool, err error) {
	const maxDepth = 50
	if depth > maxDepth {
		return nil, false, errors.New("the commands are nested too deeply")
	}
	for {
		text, err := read(strings.Repeat(" ", depth-1) + ">")
		if err != nil {
			return nil, false, blockError(err)
		}
		if *left--; *left < 0 {
			return nil, false, fmt.Errorf("a block of commands has more than %d lines", maxBlock)
		}
		text = strings.TrimSpace(text)
		switch {
		case text == "end":
			return b, false, nil
		case raw:
			b = append(b, blockLine{text: text})
			continue
		case text == "else":
			return b, true, nil
		case text == "" || text[0] == '#':
			continue
		}
		line := blockLine{text: text}
		if name, ok := takesBlock(text); ok {
			if line, err = readBlockOf(read, text, name, depth+1, left); err != nil {
				return nil, false, err
			}
		}
		b = append(b, line)
	}
}

// readBlockOf reads the blocks of a command.
func readBlockOf(read readLine, text, name string, depth int, left *int) (line blockLine, err error) {
	line.text = text
	var more bool
	if line.body, more, err = readBlock(read, depth, name == "document", left); err != nil || !more {
		return line, err
	}
	if name != "if" {
		return line, userErrorf("\"else\" is valid only in a block of \"if\".")
	}
	if line.orElse, more, err = readBlock(read, depth, false, left); err == nil && more {
		err = userErrorf("\"if\" has two \"else\" blocks.")
	}
	return line, err
}

func blockError(err error) error {
	if errors.Is(err, io.EOF) {
		return errors.New("the input ended before the \"end\" of a block of commands")
	}
	return err
}

// errBreak and errContinue are loop_break and loop_continue on their way out.
var (
	errBreak    = errors.New("loop_break outside a loop")
	errContinue = errors.New("loop_continue outside a loop")
)

// doBlockCommand runs a command whose blocks were read.
func (sh *shell) doBlockCommand(line *blockLine) error {
	name, _ := takesBlock(line.text)
	_, args := cutWord(line.text)
	switch name {
	case "if":
		yes, err := sh.truth(args)
		switch {
		case err != nil:
			return err
		case yes:
			return sh.doBlock(line.body)
		}
		return sh.doBlock(line.orElse)
	case "while":
		for {
			if err := sh.broken(); err != nil {
				return err
			}
			yes, err := sh.truth(args)
			if err != nil || !yes {
				return err
			}
			switch err := sh.doBlock(line.body); {
			case errors.Is(err, errBreak):
				return nil
			case err != nil && !errors.Is(err, errContinue):
				return err
			}
		}
	case "commands":
		return sh.setCommands(args, line.body)
	case "actions":
		return sh.setActions(args, line.body)
	case "define":
		return sh.define(args, line.body)
	case "document":
		return sh.document(args, line.body)
	}
	return nil
}

// doBlock runs the lines of a block.
func (sh *shell) doBlock(b block) error {
	for i := range b {
		if err := sh.broken(); err != nil {
			return err
		}
		if err := sh.doLine(&b[i]); err != nil {
			return err
		}
	}
	return nil
}

// doLine runs one line of a block.
func (sh *shell) doLine(line *blockLine) error {
	text := sh.withArguments(line.text)
	if _, ok := takesBlock(line.text); ok {
		return sh.doBlockCommand(&blockLine{text, line.body, line.orElse})
	}
	switch firstWord(text) {
	case "loop_break":
		return errBreak
	case "loop_continue":
		return errContinue
	}
	return sh.do(text)
}

// broken returns an error after Ctrl-C.
func (sh *shell) broken() error {
	if sh.interrupted() {
		return context.Canceled
	}
	return nil
}

// truth evaluates the condition of if and while.
func (sh *shell) truth(expr string) (bool, error) {
	if expr == "" {
		return false, userErrorf("if/while commands require arguments.")
	}
	t, level := sh.sess.Selected()
	return sh.sess.Truth(t, level, expr)
}

// userCommand is a command that the user has defined.
type userCommand struct {
	body block
	help string
}

// maxUserDepth bounds the calls of user-defined commands by each other.
const maxUserDepth = 200

func (sh *shell) define(name string, body block) error {
	name = strings.TrimSpace(name)
	if name == "" || strings.ContainsAny(name, " \t") {
		return userErrorf("Argument required (name of command to define).")
	}
	if sh.defined == nil {
		sh.defined = map[string]*userCommand{}
	}
	help := "User-defined."
	if old := sh.defined[name]; old != nil {
		help = old.help
	}
	sh.defined[name] = &userCommand{body, help}
	return nil
}

func (sh *shell) document(name string, text block) error {
	c := sh.defined[strings.TrimSpace(name)]
	if c == nil {
		return userErrorf("Undefined command: %q.  Try \"help\".", name)
	}
	var lines []string
	for _, l := range text {
		lines = append(lines, l.text)
	}
	c.help = strings.Join(lines, "\n")
	return nil
}

// callUser runs a user-defined command. Its words are $arg0, $arg1, ..., and their number is $argc.
func (sh *shell) callUser(c *userCommand, args string) error {
	if len(sh.arguments) >= maxUserDepth {
		return errors.New("Max user call depth exceeded -- command aborted.") //lint:ignore ST1005 gdb's words
	}
	sh.arguments = append(sh.arguments, strings.Fields(args))
	defer func() { sh.arguments = sh.arguments[:len(sh.arguments)-1] }()
	return sh.doBlock(c.body)
}

// withArguments replaces $arg0, $argc and so on in a line of a user-defined command.
func (sh *shell) withArguments(line string) string {
	if len(sh.arguments) == 0 || !strings.Contains(line, "$arg") {
		return line
	}
	args := sh.arguments[len(sh.arguments)-1]
	line = strings.ReplaceAll(line, "$argc", fmt.Sprint(len(args)))
	for i := len(args) - 1; i >= 0; i-- { // $arg12 before $arg1
		line = strings.ReplaceAll(line, fmt.Sprintf("$arg%d", i), args[i])
	}
	return line
}
