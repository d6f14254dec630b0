package session_test

import (
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dbg/eval"
	"dbg/internal/fixture"
	"dbg/session"
)

// abiType is a type of a generated program. set assigns a value to an lvalue of it.
type abiType struct {
	name string
	set  func(lvalue string) string
}

// abiProgram generates functions with random signatures. Each stores its arguments and returns a
// global.
type abiProgram struct {
	rnd  *rand.Rand
	cpp  bool
	defs strings.Builder
	made int
}

func (p *abiProgram) scalars() []abiType {
	number := func(name string) abiType {
		return abiType{name, func(l string) string { return fmt.Sprintf("%s = (%s)%d;", l, name, 1+p.rnd.Intn(100)) }}
	}
	pair := func(name string) abiType {
		return abiType{name, func(l string) string {
			return fmt.Sprintf("__real__ %s = %d; __imag__ %s = %d;", l, p.rnd.Intn(100), l, 1+p.rnd.Intn(100))
		}}
	}
	vector := func(name string, n int) abiType {
		return abiType{name, func(l string) string {
			out := ""
			for i := range n {
				out += fmt.Sprintf("%s[%d] = %d;", l, i, 1+p.rnd.Intn(100))
			}
			return out
		}}
	}
	list := []abiType{vector("v4f", 4), vector("v2d", 2), vector("v4i", 4), vector("v8b", 8), vector("v2f", 2),
		pair("_Complex float"), pair("_Complex double"), pair("_Complex long double")}
	for _, n := range []string{"char", "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned", "long", "unsigned long",
		"long long", "__int128", "unsigned __int128", "float", "double", "long double", "float", "double", "text", "enum color"} {
		list = append(list, number(n))
	}
	return append(list, abiType{"bool", func(l string) string { return l + " = 1;" }})
}

// typ makes a type: a scalar or an aggregate.
func (p *abiProgram) typ(depth int) abiType {
	scalars := p.scalars()
	if depth > 2 || p.rnd.Intn(2) == 0 {
		return scalars[p.rnd.Intn(len(scalars))]
	}
	small := []string{"char", "short", "int", "float", "double", "long"}
	p.made++
	name := fmt.Sprintf("T%d", p.made)
	keyword, attribute, union := "struct", "", p.rnd.Intn(6) == 0
	if union {
		keyword = "union"
	} else if p.rnd.Intn(8) == 0 {
		attribute = " __attribute__((packed))"
	}
	var body, head string
	var sets []func(string) string
	if p.cpp && !union && p.rnd.Intn(6) == 0 {
		head, sets = " : Base", append(sets, func(l string) string { return l + ".base = 7;" })
	}
	for i := range 1 + p.rnd.Intn(4) {
		field := fmt.Sprintf("m%d", i)
		switch k := p.rnd.Intn(10); {
		case k == 0 && !union:
			width := 2 + p.rnd.Intn(20)
			body += fmt.Sprintf(" unsigned %s : %d;", field, width)
			sets = append(sets, func(l string) string { return fmt.Sprintf("%s.%s = %d;", l, field, 1+p.rnd.Intn(3)) })
		case k <= 2:
			elem, n := small[p.rnd.Intn(len(small))], 1+p.rnd.Intn(5)
			body += fmt.Sprintf(" %s %s[%d];", elem, field, n)
			sets = append(sets, func(l string) string {
				out := ""
				for j := range n {
					out += fmt.Sprintf("%s.%s[%d] = %d;", l, field, j, 1+p.rnd.Intn(100))
				}
				return out
			})
		case k <= 6:
			elem := small[p.rnd.Intn(len(small))]
			body += fmt.Sprintf(" %s %s;", elem, field)
			sets = append(sets, func(l string) string { return fmt.Sprintf("%s.%s = %d;", l, field, 1+p.rnd.Intn(100)) })
		case k == 7 && p.cpp && !union:
			body += fmt.Sprintf(" Empty %s;", field)
		default:
			inner := depth + 1
			if union && p.cpp {
				inner = 3 // its members must be trivial
			}
			t := p.typ(inner)
			body += fmt.Sprintf(" %s %s;", t.name, field)
			sets = append(sets, func(l string) string { return t.set(l + "." + field) })
		}
	}
	if p.cpp && !union && attribute == "" && p.rnd.Intn(8) == 0 {
		body += fmt.Sprintf(" %s() {} ~%s() {}", name, name) // not trivial for calls
	}
	fmt.Fprintf(&p.defs, "typedef %s%s %s%s {%s } %s;\n", keyword, attribute, name, head, body, name)
	return abiType{name, func(l string) string {
		out := ""
		for _, s := range sets {
			out += s(l)
			if union {
				break
			}
		}
		return out
	}}
}

// source generates a program with n functions; args has the number of parameters of each.
func (p *abiProgram) source(n int) (text string, args []int) {
	var globals, functions, init, calls strings.Builder
	for i := range n {
		count := p.rnd.Intn(9)
		args = append(args, count)
		var params, stores, pass []string
		for j := range count {
			t := p.typ(0)
			fmt.Fprintf(&globals, "%s arg_%d_%d, got_%d_%d;\n", t.name, i, j, i, j)
			fmt.Fprintf(&init, "  %s\n", t.set(fmt.Sprintf("arg_%d_%d", i, j)))
			params = append(params, fmt.Sprintf("%s p%d", t.name, j))
			stores = append(stores, fmt.Sprintf("got_%d_%d = p%d;", i, j, j))
			pass = append(pass, fmt.Sprintf("arg_%d_%d", i, j))
		}
		r := p.typ(0)
		fmt.Fprintf(&globals, "%s ret_%d;\n", r.name, i)
		fmt.Fprintf(&init, "  %s\n", r.set(fmt.Sprintf("ret_%d", i)))
		if len(params) == 0 {
			params = []string{"void"}
		}
		fmt.Fprintf(&functions, "%s fn_%d(%s) { %s return ret_%d; }\n", r.name, i, strings.Join(params, ", "), strings.Join(stores, " "), i)
		fmt.Fprintf(&calls, "  fn_%d(%s);\n", i, strings.Join(pass, ", "))
	}
	head := `#include <stdbool.h>
typedef float v4f __attribute__((vector_size(16)));
typedef double v2d __attribute__((vector_size(16)));
typedef int v4i __attribute__((vector_size(16)));
typedef char v8b __attribute__((vector_size(8)));
typedef float v2f __attribute__((vector_size(8)));
enum color { red, green = 200 };
typedef char *text;
`
	if p.cpp {
		head += "struct Empty {}; struct Base { short base; };\n"
	}
	text = head + p.defs.String() + globals.String() + functions.String() + "void ready(void) {}\nint main(void) {\n" + init.String() +
		"  ready();\n" + calls.String() + "  return 0;\n}\n"
	return text, args
}

// TestABI calls functions with random signatures, and finishes them. What they got and what they
// return must be what the program has in its variables.
func TestABI(t *testing.T) {
	n := 60
	if fixture.All() {
		n = 500
	}
	for _, c := range []struct {
		tool, ending string
		seed         int64
	}{{"gcc", ".c", 1}, {"g++", ".cc", 2}, {"clang-19", ".c", 3}, {"clang++-19", ".cc", 4}} {
		t.Run(c.tool, func(t *testing.T) {
			if strings.HasPrefix(c.tool, "clang") && !fixture.Has(t, c.tool) {
				t.Skip("no " + c.tool)
			}
			t.Parallel()
			p := &abiProgram{rnd: rand.New(rand.NewSource(c.seed)), cpp: c.ending == ".cc"}
			text, args := p.source(n)
			file := filepath.Join(t.TempDir(), "abi"+c.ending)
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			rel, err := filepath.Rel(fixture.Root(), file)
			if err != nil {
				t.Fatal(err)
			}
			exe := fixture.Compile(t, c.tool, rel, "-g", "-O0", "-w")
			checkABI(t, exe, text, args)
		})
	}
}

func checkABI(t *testing.T, exe, text string, args []int) {
	s, events := newSession(t)
	dev := null(t)
	if err := s.Load(session.Program{Path: exe, Stdin: dev, Stdout: dev, Stderr: dev}); err != nil {
		t.Fatal(err)
	}
	breakAt := func(name string) {
		t.Helper()
		spec := session.BreakpointSpec{LocationSpec: session.LocationSpec{Function: name, Text: name}, Temporary: true}
		if _, err := s.SetBreakpoint(spec, false); err != nil {
			t.Fatal(err)
		}
	}
	breakAt("ready")
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	stop := until[session.Stopped](t, events)
	value := func(expr string) string {
		v, err := s.Evaluate(stop.Thread, 0, expr)
		if err != nil {
			return err.Error()
		}
		return s.Format(v, eval.DefaultOptions())
	}
	signature := func(i int) string {
		at := strings.Index(text, fmt.Sprintf(" fn_%d(", i))
		line := text[strings.LastIndex(text[:at], "\n")+1:]
		line, _, _ = strings.Cut(line, "{")
		for _, w := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" ,()", r) }) {
			if at := strings.Index(text, "} "+w+";\n"); at >= 0 {
				begin := strings.LastIndex(text[:at], "\n") + 1
				line += "\n\t" + text[begin:at] + "} " + w + ";"
			}
		}
		return line
	}
	refused := 0
	for i, count := range args {
		var pass []string
		for j := range count {
			pass = append(pass, fmt.Sprintf("arg_%d_%d", i, j))
		}
		got, want := value(fmt.Sprintf("fn_%d(%s)", i, strings.Join(pass, ", "))), value(fmt.Sprintf("ret_%d", i))
		if strings.HasPrefix(got, "the ABI does not tell") { // gcc and clang differ, or a structure may be packed
			refused++
			continue
		}
		if got != want {
			t.Errorf("calling %s\n gave %s\n want %s", signature(i), got, want)
		}
		for j := range count {
			if got, want := value(fmt.Sprintf("got_%d_%d", i, j)), value(fmt.Sprintf("arg_%d_%d", i, j)); got != want {
				t.Errorf("argument %d of %s\n  got %s\n want %s", j, signature(i), got, want)
			}
		}
	}
	if refused > len(args)/10 {
		t.Errorf("%d of %d calls were refused", refused, len(args))
	}
	t.Logf("%d of %d calls were refused, because their signature does not tell where the arguments are", refused, len(args))
	without := 0
	for i := range args {
		breakAt(fmt.Sprintf("fn_%d", i))
		if err := s.Continue(0); err != nil {
			t.Fatal(err)
		}
		until[session.Stopped](t, events)
		if err := s.Step(session.StepOut, 1); err != nil {
			t.Fatal(err)
		}
		st := until[session.Stopped](t, events)
		if st.Reason != session.StopFinish || !st.HasReturnValue {
			if without++; without > len(args)/25+2 || st.Reason != session.StopFinish {
				t.Errorf("finish of %s: no value (reason %d)", signature(i), st.Reason)
			}
			continue
		}
		if got, want := s.Format(st.ReturnValue, eval.DefaultOptions()), value(fmt.Sprintf("ret_%d", i)); got != want {
			t.Errorf("finish of %s\n gave %s\n want %s", signature(i), got, want)
		}
	}
}
