package repl

import (
	"sort"
	"strings"

	"dbg/target"
)

// completer returns the words that can follow a command and start with prefix.
type completer func(sh *shell, prefix string) []string

// complete serves the line editor. It splits the line into the part before the word at pos, the
// possible words, and the part after it.
func (sh *shell) complete(line string, pos int) (head string, words []string, tail string) {
	// pos counts runes.
	r := []rune(line)
	pos = min(pos, len(r))
	before, tail := string(r[:pos]), string(r[pos:])
	start := strings.LastIndexAny(before, " \t") + 1
	if f := strings.LastIndexAny(before, "*&("); f >= start && start > 0 {
		start = f + 1
	}
	head, word := before[:start], before[start:]
	for _, w := range sh.candidates(strings.TrimLeft(head, " \t"), word) {
		if strings.HasPrefix(w, word) {
			words = append(words, w)
		}
	}
	sort.Strings(words)
	if len(words) == 1 && tail == "" {
		words[0] += " "
	}
	return head, words, tail
}

// candidates returns the words that are possible at a place in a line.
func (sh *shell) candidates(head, word string) []string {
	if head == "" {
		return commandWords(sh, word)
	}
	name, rest := cutWord(head)
	if i := strings.IndexByte(name, '/'); i > 0 {
		name = name[:i]
	}
	c, err := lookup(table(), name, "")
	if err != nil {
		return nil
	}
	if c.words == nil {
		if c.group == "data" {
			return functionWords(sh, word)
		}
		return nil
	}
	if rest != "" && (c.name == "info" || c.name == "set" || c.name == "help") {
		return nil
	}
	return c.words(sh, word)
}

func commandWords(*shell, string) []string {
	var out []string
	for _, c := range table() {
		out = append(out, c.name)
	}
	return out
}

// maxCompletions limits the number of names that are offered.
const maxCompletions = 200

func functionWords(sh *shell, prefix string) []string {
	return sh.sess.CompleteFunction(prefix, maxCompletions)
}

func infoWords(*shell, string) []string { return infoNames() }

func setWords(*shell, string) []string {
	return []string{"var", "args", "confirm", "listsize", "breakpoint", "disassembly-flavor"}
}

func signalWords(*shell, string) []string {
	var out []string
	for n := 1; n < target.NumSignals; n++ {
		out = append(out, target.SignalName(n))
	}
	return out
}

func fixedWords(words ...string) completer {
	return func(*shell, string) []string { return words }
}
