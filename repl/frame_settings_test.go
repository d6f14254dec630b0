package repl

import (
	"testing"

	"dbg/eval"
	"dbg/session"
)

// TestEntryValues has the table of gdb's manual ("set print entry-values"): what is shown of a parameter
// that is equal to what was passed, different, lost, only known now, and not known at all.
func TestEntryValues(t *testing.T) {
	args := []session.Argument{
		{Name: "val", Value: "5", AtEntry: "5", Unchanged: true},
		{Name: "val", Value: "6", AtEntry: "5"},
		{Name: "val", Value: lost, AtEntry: "5"},
		{Name: "val", Value: "10"},
		{Name: "val", Value: lost},
	}
	for _, c := range []struct {
		mode string
		want [5]string
	}{
		{"no", [5]string{"val=5", "val=6", "val=<optimized out>", "val=10", "val=<optimized out>"}},
		{"only", [5]string{"val@entry=5", "val@entry=5", "val@entry=5", "val@entry=<optimized out>", "val@entry=<optimized out>"}},
		{"preferred", [5]string{"val@entry=5", "val@entry=5", "val@entry=5", "val=10", "val=<optimized out>"}},
		{"if-needed", [5]string{"val=5", "val=6", "val@entry=5", "val=10", "val=<optimized out>"}},
		{"both", [5]string{"val=5, val@entry=5", "val=6, val@entry=5", "val=<optimized out>, val@entry=5",
			"val=10, val@entry=<optimized out>", "val=<optimized out>, val@entry=<optimized out>"}},
		{"compact", [5]string{"val=val@entry=5", "val=6", "val@entry=5", "val=10", "val=<optimized out>"}},
		{"default", [5]string{"val=val@entry=5", "val=6, val@entry=5", "val=<optimized out>, val@entry=5", "val=10", "val=<optimized out>"}},
	} {
		var opt printOptions
		w := wordSettings["entry-values"]
		if err := w.set(&opt, c.mode); err != nil {
			t.Fatal(err)
		}
		for i := range args {
			if got := opt.frame.argument(&names{}, &args[i]); got != c.want[i] {
				t.Errorf("%s: %s, want %s", c.mode, got, c.want[i])
			}
		}
	}
}

// TestFrameArguments has gdb's forms of a frame's parameters.
func TestFrameArguments(t *testing.T) {
	args := []session.Argument{{Name: "n", Value: "1"}, {Name: "p", Value: "{x = 1}"}, {Name: "r", Value: "@0x10: {x = 1}"}}
	for mode, want := range map[string]string{
		"":         "n=1, p=..., r=...",
		"scalars":  "n=1, p=..., r=...",
		"all":      "n=1, p={x = 1}, r=@0x10: {x = 1}",
		"none":     "n=..., p=..., r=...",
		"presence": "...",
	} {
		if got := (frameSettings{arguments: mode}).list(&names{}, args); got != want {
			t.Errorf("%q: %s, want %s", mode, got, want)
		}
	}
}

// TestSettingsTakeEffect sets each setting of "set print", and checks that show tells it.
func TestSettingsTakeEffect(t *testing.T) {
	o := printOptions{Options: eval.DefaultOptions()}
	for i := range printSettings {
		s := &printSettings[i]
		values := []string{"on", "off"}
		switch {
		case s.word != nil:
			values = s.word.words
		case s.size != nil:
			values = []string{"7", "unlimited"}
		}
		for _, v := range values {
			if err := s.set(&o, v); err != nil {
				t.Errorf("set print %s %s: %v", s.name, v, err)
			}
			if got := s.value(&o); got != v {
				t.Errorf("set print %s %s shows %s", s.name, v, got)
			}
		}
		if err := s.set(&o, "nonsense"); err == nil {
			t.Errorf("set print %s nonsense is accepted", s.name)
		}
	}
}
