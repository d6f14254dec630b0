package session_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"dbg/eval"
	"dbg/internal/fixture"
	"dbg/session"
)

// objectBuilds are the compilers of the fixtures about types.
var objectBuilds = [][]string{{"cc=g++", "-g", "-O0", "-std=c++17"}, {"cc=clang++-19", "-g", "-O0", "-std=c++17"}}

// stoppedIn starts a fixture and stops it in its function stop. The selected frame is that of the caller.
func stoppedIn(t *testing.T, source string, flags ...string) *caller {
	t.Helper()
	exe := fixture.Build(t, source, flags...)
	s, events := newSession(t)
	c := &caller{s, t, events, 0}
	c.must(s.Load(session.Program{Path: exe, Stdin: null(t), Stdout: null(t), Stderr: null(t)}))
	c.breakAt(session.LocationSpec{Function: "stop"})
	c.must(s.Run())
	c.thread = until[session.Stopped](t, events).Thread
	_, err := s.SelectFrame(1)
	c.must(err)
	return c
}

var (
	hexNumber = regexp.MustCompile(`0x[0-9a-f]+`)
	vptrName  = regexp.MustCompile(`_vptr[.$]`)
)

// withoutAddresses makes a text independent of the compiler and of the run.
func withoutAddresses(s string) string {
	return vptrName.ReplaceAllString(hexNumber.ReplaceAllString(s, "0x"), "_vptr.")
}

const (
	squareText = `{<shapes::Shape> = {_vptr.Shape = 0x <vtable for shapes::Square+16>, id = 1, static count = 7}, side = 3}`
	labelText  = `{<shapes::Square> = {<shapes::Shape> = {_vptr.Shape = 0x <vtable for shapes::Label+16>, id = 1, ` +
		`static count = 7}, side = 3}, <shapes::Named> = {_vptr.Named = 0x <vtable for shapes::Label+72>, name = 2}, text = 4}`
	bottomText = `{<Left> = {<Top> = {_vptr.Top = 0x <vtable for Bottom+128>, t = 10}, _vptr.Left = 0x <vtable for Bottom+24>, ` +
		`l = 11}, <Right> = {_vptr.Right = 0x <vtable for Bottom+72>, r = 12}, b = 13}`
	shapeText = `{_vptr.Shape = 0x <vtable for shapes::Shape+16>, id = 1, static count = 7}`
)

// objectCases are expressions with gdb 13's texts, "set print object on". Where gdb has an error, dbg
// has a value.
var objectCases = []struct{ expr, want string }{
	{"square", "(shapes::Square *) 0x"},
	{"label", "(shapes::Label *) 0x"},
	{"second", "(shapes::Label *) 0x"},
	{"hidden", "((anonymous namespace)::Hidden *) 0x"},
	{"nothing", "(shapes::Shape *) 0x"},
	{"top", "(Bottom *) 0x"},
	{"right", "(Bottom *) 0x"},
	{"late", "(Late *) 0x"},
	{"constant", "(const shapes::Square *) 0x"},
	{"exact", "(shapes::Shape *) 0x"},
	{"unborn", "(shapes::Shape *) 0x <early>"},
	{"damaged", "(shapes::Shape *) 0x"},
	{"*damaged", "{_vptr.Shape = 0x <early+8>, id = 1, static count = 7}"},
	{"untyped", "(void *) 0x"},
	{"plain", "(Plain *) 0x"},
	{"*square", "(shapes::Square) " + squareText},
	{"*second", "(shapes::Label) " + labelText},
	{"*top", "(Bottom) " + bottomText},
	{"*right", "(Bottom) " + bottomText},
	{"*exact", "(shapes::Shape) " + shapeText},
	{"ref", "(shapes::Label &) @0x: " + labelText},
	{"cref", "(const shapes::Square &) @0x: " + squareText},
	{"value", "(shapes::Square) " + squareText},
	{"pair", "{0x, 0x}"},
	{"holder", "{inner = 0x}"},
	{"square->side", "3"},
	{"second->text", "4"},
	{"top->b", "13"},
	{"right->b + right->l", "24"},
	{"(*second).text", "4"}, // gdb: There is no member or method named text.
	{"ref.text", "4"},       // the same
}

// TestPrintObject shows objects by their dynamic types, live and in a core.
func TestPrintObject(t *testing.T) {
	for _, flags := range objectBuilds {
		t.Run(flags[0], func(t *testing.T) {
			c := stoppedIn(t, "types/objects.cc", flags...)
			showObjects(t, c, c.Session)
			path := filepath.Join(t.TempDir(), "core")
			_, err := c.GenerateCore(path, session.CoreOptions{})
			c.must(err)
			core, _ := newSession(t)
			c.must(core.OpenCore(path, ""))
			showObjects(t, c, core)
		})
	}
}

func showObjects(t *testing.T, c *caller, s *session.Session) {
	t.Helper()
	opt := eval.DefaultOptions()
	opt.Objects = true
	s.SetPrintObject(true)
	for _, x := range objectCases {
		got := ""
		if v, err := s.Evaluate(c.thread, 1, x.expr); err != nil {
			got = err.Error()
		} else {
			got = withoutAddresses(s.FormatIn(c.thread, 1, v, opt))
		}
		if got != x.want {
			t.Errorf("print -object -- %s\n is    %s\n want  %s", x.expr, got, x.want)
		}
	}
	s.SetPrintObject(false)
	if v, err := s.Evaluate(c.thread, 1, "second->text"); err == nil {
		t.Errorf("second->text is %s without print object", s.Format(v, opt))
	}
}

// TestUnderConstruction stops in the constructor of a base: the object is of the base's class then.
func TestUnderConstruction(t *testing.T) {
	c := stoppedIn(t, "types/objects.cc", objectBuilds[0]...)
	c.must(c.Continue(0))
	c.thread = until[session.Stopped](t, c.events).Thread
	opt := eval.DefaultOptions()
	opt.Objects = true
	v, err := c.Evaluate(c.thread, 1, "self")
	c.must(err)
	if got := withoutAddresses(c.FormatIn(c.thread, 1, v, opt)); got != "(Half *) 0x" {
		t.Errorf("self is %s", got)
	}
}

// TestClassNames finds classes whose names are spelled in several ways, and classes in functions.
func TestClassNames(t *testing.T) {
	want := []string{"D<int>", "D<", "D<std::", "D<std::vector<", "N5<5", "Col<", "Mix<-3, true, 'x'>", "Pack<int, char", "in::O<short",
		"D<std::array<int, 3", "D<std::map<", "D<Color>", "D<int (*)(long", "D<std::unique_ptr<B", "D<", "D<Fwd>"}
	for _, flags := range objectBuilds {
		t.Run(flags[0], func(t *testing.T) {
			c := stoppedIn(t, "types/rtti_names.cc", flags...)
			opt := eval.DefaultOptions()
			opt.Objects = true
			exprs := []string{"local", "lam"}
			starts := []string{"Local *", "X *"}
			for i, w := range want {
				exprs, starts = append(exprs, fmt.Sprintf("list[%d]", i)), append(starts, w)
			}
			for i, e := range exprs {
				v, err := c.Evaluate(c.thread, 1, e)
				c.must(err)
				if got := c.FormatIn(c.thread, 1, v, opt); !strings.HasPrefix(got, "("+starts[i]) {
					t.Errorf("%s is %s, want (%s", e, got, starts[i])
				}
			}
		})
	}
}

// TestVtables lists the tables of an object: those of the static class, as gdb does, or of the complete
// object.
func TestVtables(t *testing.T) {
	c := stoppedIn(t, "types/objects.cc", objectBuilds[0]...)
	tables := func(expr string) string {
		list, err := c.Vtables(expr)
		if err != nil {
			return err.Error()
		}
		var out []string
		for _, v := range list {
			text := v.Class + ":"
			for _, f := range v.Functions {
				text += " " + f.Symbol
				if f.Err != nil {
					text += f.Err.Error()
				}
			}
			out = append(out, text)
		}
		return strings.Join(out, "\n")
	}
	for _, x := range []struct {
		object bool
		expr   string
		want   string
	}{
		{false, "square", "shapes::Shape: <shapes::Square::~Square()> <shapes::Square::~Square()> <shapes::Square::area() const> <shapes::Shape::grow(int)>"},
		{false, "*right", "Right: <Right::g()> <non-virtual thunk to Bottom::~Bottom()> <non-virtual thunk to Bottom::~Bottom()>\n" +
			"Top: <virtual thunk to Bottom::f()> <virtual thunk to Bottom::~Bottom()> <virtual thunk to Bottom::~Bottom()>"},
		{false, "late", "shapes::Named: <shapes::Named::length()> <Late::~Late()> <Late::~Late()>"},
		{false, "plain", "This object does not have a virtual function table"},
		{false, "5", "This object does not have a virtual function table"},
		{true, "hidden", "(anonymous namespace)::Hidden: <(anonymous namespace)::Hidden::~Hidden()> <(anonymous namespace)::Hidden::~Hidden()> " +
			"<(anonymous namespace)::Hidden::area() const> <shapes::Shape::grow(int)>"},
		{true, "second", "shapes::Label: <shapes::Label::~Label()> <shapes::Label::~Label()> <shapes::Square::area() const> <shapes::Shape::grow(int)> " +
			"<shapes::Label::length()>\nshapes::Named: <non-virtual thunk to shapes::Label::length()> " +
			"<non-virtual thunk to shapes::Label::~Label()> <non-virtual thunk to shapes::Label::~Label()>"},
	} {
		c.SetPrintObject(x.object)
		if got := tables(x.expr); got != x.want {
			t.Errorf("info vtbl %s\n is    %s\n want  %s", x.expr, got, x.want)
		}
	}
}
