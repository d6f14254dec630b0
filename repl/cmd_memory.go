package repl

import (
	"fmt"
	"strconv"
	"strings"

	"dbg/session"
	"dbg/target"
)

func memoryCommands() []*command {
	const g = "memory"
	return []*command{
		{name: "find", usage: "[/SIZE-CHAR] [/MAX-COUNT] START, +LEN|END, VALUE...", group: g, help: "search memory for a sequence of values; SIZE-CHAR is b, h, w or g", run: findMemory},
		{name: "dump", usage: "[binary|srec|ihex|verilog] memory FILE START STOP | value FILE EXPR", group: g, help: "write memory or a value to a file", run: func(sh *shell, args string) error { return dumpMemory(sh, args, false) }},
		{name: "append", usage: "[binary] memory FILE START STOP | value FILE EXPR", group: g, help: "append memory or a value to a file", run: func(sh *shell, args string) error { return dumpMemory(sh, args, true) }},
		{name: "restore", usage: "FILE [binary] [OFFSET [START [END]]]", group: g, once: true, help: "copy a file into memory", run: restoreMemory},
		{name: "compare-sections", usage: "[NAME | -r]", group: g, help: "compare the sections of the program with memory", run: compareSections},
	}
}

// findMemory is gdb's find.
func findMemory(sh *shell, args string) error {
	size, most := 0, uint64(0)
	for strings.HasPrefix(args, "/") {
		var word string
		word, args = cutWord(args[1:])
		for word != "" {
			switch c := word[0]; {
			case c == '/':
				word = word[1:]
			case c >= '0' && c <= '9':
				n := len(word) - len(strings.TrimLeft(word, "0123456789"))
				v, err := strconv.ParseUint(word[:n], 10, 32)
				if err != nil || v == 0 {
					return userErrorf("Count must be positive.")
				}
				most, word = v, word[n:]
			case strings.IndexByte("bhwg", c) >= 0:
				size, word = 1<<strings.IndexByte("bhwg", c), word[1:]
			default:
				return userErrorf("Invalid size granularity.")
			}
		}
	}
	q, err := sh.sess.ParseSearch(args, size)
	if err != nil {
		return err
	}
	q.Most = most
	// A search may find more than is to be kept: results are printed in groups, when the session is
	// free to name them.
	const group = 1000
	var r session.SearchResult
	total := 0
	for {
		part := q
		part.Most = group
		if most > 0 {
			part.Most = min(group, most-uint64(total))
		}
		var list []target.Addr
		if r, err = sh.sess.Find(part, total, func(a target.Addr) { list = append(list, a) }); err != nil {
			return err
		}
		for _, a := range list {
			fmt.Fprintln(sh.out, sh.addressText(a))
		}
		total += len(list)
		if uint64(len(list)) < part.Most || most > 0 && uint64(total) == most {
			break
		}
		if q.Start = r.Last + 1; q.Hi-q.Start < target.Addr(len(q.Pattern)) {
			break
		}
	}
	if r.Missing > 0 {
		sh.out.Flush()
		fmt.Fprintf(sh.err, "warning: Unable to access %d bytes of target memory at %s, halting search.\n", r.Missing, r.Unreadable)
	}
	switch total {
	case 0:
		fmt.Fprintln(sh.out, "Pattern not found.")
	case 1:
		fmt.Fprintln(sh.out, "1 pattern found.")
	default:
		fmt.Fprintf(sh.out, "%d patterns found.\n", total)
	}
	return nil
}

var memoryFormats = map[string]session.MemoryFormat{"binary": session.Binary, "srec": session.SRecord, "ihex": session.IntelHex, "verilog": session.Verilog}

// dumpMemory is dump and append.
func dumpMemory(sh *shell, args string, appended bool) error {
	name := "dump"
	if appended {
		name = "append"
	}
	word, rest := cutWord(args)
	format := session.Binary
	if f, ok := memoryFormats[word]; ok && (!appended || f == session.Binary) {
		format = f
		word, rest = cutWord(rest)
	}
	switch {
	case word == "tekhex":
		return userErrorf("dbg does not write tekhex files: binary, srec, ihex and verilog are supported.")
	case word == "":
		return userErrorf("\"%s\" must be followed by a subcommand.", name)
	case !strings.HasPrefix("memory", word) && !strings.HasPrefix("value", word):
		return userErrorf("Undefined %s command: \"%s\".  Try \"help %s\".", name, word, name)
	}
	file, rest := cutFile(rest)
	if file == "" {
		return userErrorf("Missing filename.")
	}
	if strings.HasPrefix("value", word) {
		if rest == "" {
			return userErrorf("No value to %s.", name)
		}
		lvalue, err := sh.sess.DumpValue(file, format, appended, rest)
		if err == nil && !lvalue && format != session.Binary {
			fmt.Fprintln(sh.err, "warning: value is not an lvalue: address assumed to be zero")
		}
		return err
	}
	start, rest := cutExpression(rest)
	if start == "" {
		return userErrorf("Missing start address.")
	}
	if rest == "" {
		return userErrorf("Missing stop address.")
	}
	lo, err := sh.sess.ParseAddress(start)
	if err != nil {
		return err
	}
	hi, err := sh.sess.ParseAddress(rest)
	if err != nil {
		return err
	}
	if err := sh.sess.DumpMemory(file, format, appended, lo, hi); err != nil {
		return err
	}
	if format == session.SRecord && hi > 1<<32 {
		fmt.Fprintln(sh.err, "warning: S-records have addresses of 32 bits: the upper bits are lost")
	}
	return nil
}

// cutFile cuts a file name, which may be quoted, from what follows it.
func cutFile(s string) (file, rest string) {
	s = strings.TrimSpace(s)
	if s != "" && (s[0] == '"' || s[0] == '\'') {
		if i := strings.IndexByte(s[1:], s[0]); i >= 0 {
			return s[1 : 1+i], strings.TrimSpace(s[i+2:])
		}
	}
	return cutWord(s)
}

// cutExpression cuts an expression that ends at the first blank outside of parentheses, brackets
// and quotes.
func cutExpression(s string) (expr, rest string) {
	s = strings.TrimSpace(s)
	depth, quote := 0, byte(0)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case strings.IndexByte("([{", c) >= 0:
			depth++
		case strings.IndexByte(")]}", c) >= 0:
			depth--
		case (c == ' ' || c == '\t') && depth == 0:
			return s[:i], strings.TrimSpace(s[i:])
		}
	}
	return s, ""
}

// restoreMemory copies a file into memory.
func restoreMemory(sh *shell, args string) error {
	file, rest := cutFile(args)
	if file == "" {
		return userErrorf("You can't do that without a file name.")
	}
	r := session.Restore{Path: file}
	if word, after := cutWord(rest); word == "binary" {
		r.Binary, rest = true, after
	}
	var numbers [3]uint64
	for i := range numbers {
		var text string
		if text, rest = cutExpression(rest); text == "" {
			break
		}
		a, err := sh.sess.ParseAddress(text)
		if err != nil {
			return err
		}
		numbers[i] = uint64(a)
		if i == 2 && a <= target.Addr(numbers[1]) {
			return userErrorf("Start must be less than end.")
		}
	}
	if rest != "" {
		return userErrorf("Junk after the end address: %s", rest)
	}
	r.Offset, r.Lo, r.Hi = numbers[0], numbers[1], numbers[2]
	return sh.sess.RestoreMemory(r, func(text string) { fmt.Fprintln(sh.out, text) })
}

// compareSections compares the program's file with memory.
func compareSections(sh *shell, args string) error {
	name, readOnly, differ := args, args == "-r", false
	if readOnly {
		name = ""
	}
	err := sh.sess.CompareSections(name, readOnly, func(m session.SectionMatch) {
		word := "matched."
		if !m.Matched {
			word, differ = "MIS-MATCHED!", true
		}
		fmt.Fprintf(sh.out, "Section %s, range %s -- %s: %s\n", m.Name, m.Lo, m.Hi, word)
	})
	if err == nil && differ {
		sh.out.Flush()
		fmt.Fprintln(sh.err, "warning: One or more sections of the target image does not match\nthe loaded file")
	}
	return err
}
