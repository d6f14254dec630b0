package repl

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// splitWords splits a line as a shell does: blanks separate words, quotes and backslashes protect
// blanks. It expands nothing.
func splitWords(line string) ([]string, error) {
	var out []string
	var cur strings.Builder
	in := false
	quote := byte(0)
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quote == '\'':
			if c == quote {
				quote = 0
			} else {
				cur.WriteByte(c)
			}
		case c == '\\' && i+1 < len(line):
			i++
			if quote == '"' && !strings.ContainsRune("\"\\$`", rune(line[i])) {
				cur.WriteByte(c)
			}
			cur.WriteByte(line[i])
			in = true
		case quote == '"':
			if c == quote {
				quote = 0
			} else {
				cur.WriteByte(c)
			}
		case c == '\'' || c == '"':
			quote, in = c, true
		case c == ' ' || c == '\t':
			if in {
				out = append(out, cur.String())
				cur.Reset()
				in = false
			}
		default:
			cur.WriteByte(c)
			in = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("unmatched quote (%c)", quote)
	}
	if in {
		out = append(out, cur.String())
	}
	return out, nil
}

// joinWords is the inverse of splitWords.
func joinWords(words []string) string {
	var out []string
	for _, w := range words {
		if w == "" || strings.ContainsAny(w, " \t\n'\"\\$&|;<>()*?`") {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		out = append(out, w)
	}
	return strings.Join(out, " ")
}

// count reads an optional repeat count; without one it returns 1.
func count(args string) (int, error) {
	if args == "" {
		return 1, nil
	}
	n, err := strconv.ParseInt(args, 0, 32)
	if err != nil {
		return 0, fmt.Errorf("expected a number, not %q", args)
	}
	return int(n), nil
}

// numbers reads "1 3-5 7".
func numbers(args string) ([]int, error) {
	var out []int
	for _, w := range strings.FieldsFunc(args, func(r rune) bool { return r == ' ' || r == '\t' || r == ',' }) {
		lo, hi, ranged := strings.Cut(w, "-")
		a, err := strconv.Atoi(lo)
		if err != nil {
			return nil, userErrorf("Bad breakpoint number '%s'", w)
		}
		b := a
		if ranged {
			if b, err = strconv.Atoi(hi); err != nil || b < a || b-a > 10000 {
				return nil, errors.New("inverted range")
			}
		}
		for n := a; n <= b; n++ {
			out = append(out, n)
		}
	}
	return out, nil
}

// cutFormat splits "/FMT" off the arguments of a command.
func cutFormat(args string) (format, rest string) {
	if !strings.HasPrefix(args, "/") {
		return "", args
	}
	return cutWord(args[1:])
}
