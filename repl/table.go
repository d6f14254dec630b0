package repl

import (
	"sort"
	"strings"
)

// command is one entry of the table.
type command struct {
	name    string   // the full name; any unambiguous prefix of it works
	aliases []string // other names, and abbreviations that are preferred to other commands
	usage   string   // the arguments
	help    string   // one line
	group   string
	once    bool // an empty line does not repeat it
	words   completer
	run     func(sh *shell, args string) error
}

// table returns all commands. It is a function because help refers to it.
func table() []*command {
	var all []*command
	for _, g := range [][]*command{
		runCommands(), callCommands(), traceCommands(), checkpointCommands(), programCommands(), inferiorCommands(),
		breakpointCommands(), watchCommands(), catchCommands(), skipCommands(),
		stackCommands(), dataCommands(), sourceCommands(),
		threadCommands(), applyCommands(), blockCommands(),
		statusCommands(),
		processCommands(),
		memoryCommands(),
		settingCommands(), supportCommands(),
	} {
		all = append(all, g...)
	}
	return all
}

// find splits a command line into the command and its arguments. Arguments may follow the name
// without a blank if their first character can't be part of a name: p/x, x/4i.
func find(line string) (*command, string, error) {
	n := 0
	for n < len(line) && isNameByte(line[n]) {
		n++
	}
	name, args := line[:n], strings.TrimSpace(line[n:])
	if n == 0 {
		return nil, "", userErrorf("Undefined command: %q.  Try \"help\".", firstWord(line))
	}
	c, err := lookup(table(), name, "")
	return c, args, err
}

func isNameByte(c byte) bool {
	return c == '-' || c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// lookup finds a command by its exact name, by an alias, or by an unambiguous prefix. prefix is
// "info " for a subcommand of info.
func lookup(all []*command, name, prefix string) (*command, error) {
	var begin []*command
	for _, c := range all {
		if c.name == name || contains(c.aliases, name) {
			return c, nil
		}
		if strings.HasPrefix(c.name, name) {
			begin = append(begin, c)
		}
	}
	switch len(begin) {
	case 0:
		return nil, userErrorf("Undefined %scommand: %q.  Try \"help%s\".", prefix, name, strings.TrimRight(" "+prefix, " "))
	case 1:
		return begin[0], nil
	}
	var names []string
	for _, c := range begin {
		names = append(names, c.name)
	}
	sort.Strings(names)
	return nil, userErrorf("Ambiguous %scommand %q: %s.", prefix, name, strings.Join(names, ", "))
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

func firstWord(s string) string {
	w, _ := cutWord(s)
	return w
}

// cutWord splits off the first word.
func cutWord(s string) (word, rest string) {
	s = strings.TrimLeft(s, " \t")
	i := strings.IndexAny(s, " \t")
	if i < 0 {
		return s, ""
	}
	return s[:i], strings.TrimSpace(s[i:])
}
