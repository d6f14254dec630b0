package repl

import (
	"sort"
	"strings"

	"dbg/target"
)

// completer gives the words that can follow a command, beginning with prefix.
type completer func(sh *shell, prefix string) []string

// complete is the line editor's: it parts the line into what stands before the
// word at pos, the words that may be meant, and what follows.
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

// candidates are the words for a place in a line.
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

// maxCompletions is how many names are offered at most.
const maxCompletions = 200

func functionWords(sh *shell, prefix string) []string {
	return sh.sess.CompleteFunction(prefix, maxCompletions)
}

func infoWords(*shell, string) []string { return infoNames() }

func setWords(*shell, string) []string {
	return []string{"var", "args", "confirm", "listsize", "breakpoint"}
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
