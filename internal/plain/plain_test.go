package plain

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestString(t *testing.T) {
	for text, want := range map[string]string{
		"plain ÄÖ→\tx\n":         "plain ÄÖ→\tx\n",
		"a\x1b[31mb\x07\r\x00":   `a\033[31mb\007\015\000`,
		"del \x7f":               `del \177`,
		"C1 \u009b31m":           `C1 \23331m`,
		"bytes \x9b31m \xff\xc2": "bytes \\23331m \xff\xc2",
		"own" + own + "[2J":      "own" + `\033` + own[1:] + "[2J",
	} {
		if got := String(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
	if got := Line("a\nb"); got != `a\nb` {
		t.Errorf("%q", got)
	}
}

func TestWriter(t *testing.T) {
	var b bytes.Buffer
	w := Writer(Writer(&b))
	text := "in " + Paint("33", "na\x1b[2Jme") + "\x1b]0;title\x07 at x\n"
	if n, err := fmt.Fprint(w, text); n != len(text) || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if want := "in \x1b[33mna\\033[2Jme\x1b[m\\033]0;title\\007 at x\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
	broken := errors.New("broken")
	if _, err := Writer(failing{broken}).Write([]byte("\x1b")); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	if !strings.HasPrefix(own, "\x1b") || len(own) < 20 {
		t.Errorf("%q can be guessed", own)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
