package eval

import (
	"strings"
	"testing"
	"time"

	"dbg/symbols/lang"
)

// TestNesting evaluates texts that nest deeply in each construct: they end soon, with a value or an error.
func TestNesting(t *testing.T) {
	w, _ := programWorld()
	e := &speakingEnv{w, lang.CPlusPlus}
	for _, x := range [][2]string{
		{"(", ")"}, {"int(", ")"}, {"decltype(", ")"}, {"(decltype(", "))1"}, {"sizeof(", ")"}, {"(int)(", ")"}, {"-", ""}, {"!", ""}, {"*&", ""},
		{"i ? i : ", ""}, {"i ? ", " : c"}, {"i, ", ""}, {"a[", "]"}, {"static_cast<int>(", ")"}, {"$_strlen(", ")"}, {"i + ", ""}, {"i = ", ""},
		{"(int (*)(", "))1"}, {"int(int(", ")"}, {"p->x + (", ")"}, {"{int} ", ""}, {"decltype(i)(", ")"}, {"(typeof(", ")*)p"},
	} {
		for _, n := range []int{5, 30, 150, 3000} {
			text := strings.Repeat(x[0], n) + "i" + strings.Repeat(x[1], n)
			start := time.Now()
			_, err := Evaluate(text, e)
			_, _ = TypeOf(text, e)
			_ = Check(text)
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("%d times %s: %v (%v)", n, x, took, err)
			}
		}
	}
}
