package eval

import (
	"testing"

	"dbg/internal/fixture"
)

// TestGo and TestRust read the data of real programs.
func TestGo(t *testing.T) {
	e := newFileEnv(t, fixture.Build(t, "../eval/testdata/values.go", "-buildvcs=false"))
	check(t, e, []printCase{
		{"main.text", `"hello, world"`}, {"main.empty", `""`}, {"main.ints", "[]int len: 3, cap: 3, [1,2,3]"},
		{"main.words", `[]string len: 2, cap: 2, ["a","b"]`}, {"main.words[1]", `"b"`}, {"main.array", "[4, 5, 6]"},
		{"main.ints[2] + 1", "4"}, {"main.flag", "true"}, {"main.ratio", "2.5"}, {"main.origin.Y", "2"}, {"main.where.X", "1"},
		{"main.origin", `{X = 1, Y = 2, name = "o"}`}, {"main.origin.X == 1", "true"}, {"main.small", "97"},
	})
}

func TestRust(t *testing.T) {
	e := newFileEnv(t, fixture.Build(t, "../eval/testdata/values.rs", "-g", "-C", "relocation-model=static"))
	check(t, e, []printCase{
		{"TEXT", `"hello"`}, {"ARRAY", "[4, 5, 6]"}, {"SLICE", "&[i32](size=2) {7, 8}"}, {"SLICE[1]", "8"},
		{"ORIGIN", "values::Point {x: 1, y: 2}"}, {"ORIGIN.y", "2"}, {"TUPLE", "(3, 4)"}, {"TUPLE.__1", "4"}, {"TUPLE.0 + TUPLE.1", "7"},
		{"WRAP", "values::Wrap (5, 6)"}, {"COLOR", "values::Color::Green"}, {"FLAG", "true"}, {"BYTE", "97"}, {"LETTER", "120 'x'"},
		{"ORIGIN.x == 1", "true"},
	})
}

func check(t *testing.T, e *fileEnv, cases []printCase) {
	for _, c := range cases {
		v, err := Evaluate(c.expr, e)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = Format(v, e, DefaultOptions())
		}
		if got != c.want {
			t.Errorf("print %s\n got %s\nwant %s", c.expr, got, c.want)
		}
	}
}
