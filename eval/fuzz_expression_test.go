package eval

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dbg/internal/fixture"
	"dbg/symbols/lang"
)

// FuzzExpression evaluates texts from the tables of expressions, and what a fuzzer makes of them, on the
// variables and types of the fixture, in each language. Nothing may panic, take long, or read much; and the
// type of an expression is that of its value.
func FuzzExpression(f *testing.F) {
	for _, table := range []string{"c.txt", "cc.txt", "rs.txt", "go.txt", "errors.txt"} {
		text, err := os.ReadFile(filepath.Join(fixture.Root(), "session/testdata/expr", table))
		if err != nil {
			f.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			if expr, _, ok := strings.Cut(line, " => "); ok && i%3 == 0 {
				f.Add(expr)
			}
		}
	}
	exe := fixture.Build(f, "expr/expr.cc", "-g", "-O0", "-w", "-std=gnu++20", "-no-pie")
	e := newFileEnv(f, exe)
	f.Fuzz(func(t *testing.T, text string) {
		for _, l := range []lang.Lang{lang.C, lang.CPlusPlus, lang.Rust, lang.Go} {
			e.lang, e.reads = l, 0
			start := time.Now()
			v, err := Evaluate(text, e)
			if err == nil {
				Format(v, e, DefaultOptions())
				if typ, err := TypeOf(text, e); err == nil && sizeOf(typ) != sizeOf(v.Type) && !strings.Contains(text, "$") {
					t.Errorf("%q in %v: the value has the size %d, its type %d", text, l, sizeOf(v.Type), sizeOf(typ))
				}
			}
			_ = Check(text)
			if took := time.Since(start); took > 2*time.Second {
				t.Errorf("%q in %v takes %v", text, l, took)
			}
		}
	})
}
