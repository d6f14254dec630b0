// Package plain keeps what comes from files and programs (names, paths, strings, lines of source) from acting on a terminal: control
// characters are written escaped, as in a literal of C. Only dbg's own colours pass.
package plain

import (
	"crypto/rand"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// own begins each of dbg's own colour sequences in text that is yet to be written. Nobody can guess it, so no file can have it.
var own = "\x1b" + rand.Text()

// Paint gives text a colour: the parameters of the control function SGR ("33"; ECMA-48, section 8.3.117). The text must be written
// through a Writer of this package.
func Paint(color, text string) string { return own + "[" + color + "m" + text + own + "[m" }

// String returns text in which every control character is escaped but new lines and tabs.
func String(text string) string {
	if harmless(text) {
		return text
	}
	return string(appendEscaped(nil, text))
}

// Line is String for what stands in one line: new lines are escaped, too.
func Line(text string) string { return strings.ReplaceAll(String(text), "\n", `\n`) }

// Writer returns a writer to w that escapes control characters but new lines and tabs. What is written in one call must not
// end within a character or a colour.
func Writer(w io.Writer) io.Writer {
	if _, ok := w.(*writer); ok {
		return w
	}
	return &writer{to: w}
}

type writer struct {
	to  io.Writer
	buf []byte
}

// Write implements io.Writer: it returns how many of text's bytes were taken, not how many that made.
func (w *writer) Write(text []byte) (int, error) {
	if s := string(text); !harmless(s) {
		w.buf = w.buf[:0]
		for {
			before, after, found := strings.Cut(s, own)
			w.buf = appendEscaped(w.buf, before)
			if !found {
				break
			}
			w.buf = append(w.buf, '\x1b')
			s = after
		}
		if _, err := w.to.Write(w.buf); err != nil {
			return 0, err
		}
		return len(text), nil
	}
	return w.to.Write(text)
}

// harmless reports whether no byte can be part of a control character but new lines and tabs.
func harmless(text string) bool {
	for i := range len(text) {
		if b := text[i]; b < ' ' && b != '\n' && b != '\t' || b >= 0x7f && b < 0xa0 || b == 0xc2 {
			return false
		}
	}
	return true
}

func appendEscaped(out []byte, text string) []byte {
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		switch {
		case r == '\n' || r == '\t':
			out = append(out, byte(r))
		case r == utf8.RuneError && n == 1 && text[0] < 0xa0: // C1 of an 8-bit terminal
			out = fmt.Appendf(out, `\%03o`, text[0])
		case r < ' ' || r >= 0x7f && r < 0xa0:
			out = fmt.Appendf(out, `\%03o`, r)
		default:
			out = append(out, text[:n]...)
		}
		text = text[n:]
	}
	return out
}
