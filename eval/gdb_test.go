package eval

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"dbg/image"
	"dbg/internal/fixture"
	"dbg/internal/gdbpeer"
	"dbg/symbols"
	"dbg/symbols/lang"
	"dbg/symbols/types"
	"dbg/target"
)

// fileEnv is a program that does not run: its memory is the file's.
type fileEnv struct {
	*fakeEnv
	file   *image.File
	module *symbols.Module
	lang   lang.Lang
}

func (e *fileEnv) ReadMemory(a target.Addr, buf []byte) (int, error) {
	n, err := e.file.ReadAt(image.Addr(a), buf)
	if err != nil || n < len(buf) {
		return n, &target.MemoryError{Addr: a + target.Addr(n)}
	}
	return n, nil
}

func (e *fileEnv) WriteMemory(a target.Addr, data []byte) (int, error) {
	return 0, &target.MemoryError{Addr: a, Write: true}
}

func (e *fileEnv) Symbolize(a target.Addr) (string, uint64, bool) {
	if name, off, ok := e.module.SymbolAt(image.Addr(a)); ok {
		return name, off, true
	}
	return e.module.ObjectAt(image.Addr(a))
}

func (e *fileEnv) Language() lang.Lang { return e.lang }

func (e *fileEnv) Variable(name string) (Value, error) {
	if vs := e.module.Global(name); len(vs) > 0 {
		return ReadVariable(vs[0], &FrameContext{Mem: e, Arch: e.Arch()}), nil
	}
	for _, f := range e.module.FunctionsByName(name) {
		return FunctionValue(f.Name, target.Addr(f.Lo), e.module.FunctionType(f)), nil
	}
	return Value{}, &NotFoundError{name}
}

func (e *fileEnv) Type(name string) *types.Type { return e.module.Type(name) }

func newFileEnv(t testing.TB, exe string) *fileEnv {
	f, err := image.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	m := symbols.Load(f, symbols.Options{})
	t.Cleanup(func() { m.Close(); f.Close() })
	e := &fileEnv{fakeEnv: newFakeEnv(), file: f, module: m}
	if fs := m.FunctionsByName("main"); len(fs) > 0 {
		e.lang = fs[0].Lang
	}
	return e
}

// differ has the cases where we are not gdb 13, and what we say.
var differ = map[string]string{
	"whatis sizeof(int)": "type = unsigned long", // C says so
	"p main(1)":          "calling functions is not supported",
	"p incomplete":       `"h", <incomplete sequence \303>`, // gdb loses the h
	"p 'ab'":             `No symbol "ab" in current context.`,
	"p 5[five]":          "0",                               // C's other way to write five[5]
	"p i128+1":           "1267650600228229401496703205377", // gdb 13 refuses
	"p (int[2])five":     "{1, 2}",                          // gdb takes the address for the bytes
	"p (char)s":          "Invalid cast.",
	"p 1 << 40":          "0", // without gdb's warning
	"p !pairs[0]":        "Structure has no component named operator!.",
	"p 1e":               `Invalid number "1e".`,

	// C++
	"p counter":                   "3", // without its namespace, as breakpoints find functions
	"p np":                        "(std::nullptr_t) 0x0",
	"p ns::nosuch":                `No symbol "ns::nosuch" in current context.`,
	"p reinterpret_cast<long>(0)": "0",
	"p der+1":                     "Structure has no component named operator+.",
	"p yes+yes":                   "2",
	"whatis yes+yes":              "type = int",
	"p sizeof(quiet)":             "12", // of an anonymous namespace
	"p *(quiet*)&qu":              "{q = {0, 0, 0}}",
	"whatis quiet":                "type = (anonymous namespace)::quiet",
	"p twin == 0":                 "false", // C++ says that a function hides a class of its name
	"whatis twin":                 "type = long (int)",
	"p node::limit == 0":          "false",
	// Enumerators have no index yet: they are found by their type or by what they are compared with.
	"p GREEN":   `No symbol "GREEN" in current context.`,
	"p FC":      `No symbol "FC" in current context.`,
	"whatis FA": `No symbol "FA" in current context.`,
	"p ns::P1":  `No symbol "ns::P1" in current context.`,
}

// TestPrintLikeGDB holds print, print/f, whatis and x against gdb's own answers, on
// programs that are not running.
func TestPrintLikeGDB(t *testing.T) {
	for _, source := range []string{"values.c", "classes.cc", "names.cc"} {
		t.Run(source, func(t *testing.T) { printLikeGDB(t, source) })
	}
}

func printLikeGDB(t *testing.T, source string) {
	exe := fixture.Build(t, "../eval/testdata/"+source, "-g", "-no-pie", "-w")
	cases, err := os.ReadFile("testdata/" + strings.Split(source, ".")[0] + ".gdb")
	if err != nil {
		t.Fatal(err)
	}
	var commands []string
	for _, line := range strings.Split(string(cases), "\n") {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			commands = append(commands, line)
		}
	}
	t.Setenv("LC_ALL", "C.UTF-8")
	var args []string
	for i, c := range commands {
		args = append(args, "-ex", fmt.Sprintf("echo \\n@@%d\\n", i), "-ex", c)
	}
	out := gdbpeer.Run(t, append(args, exe)...)
	answers := regexp.MustCompile(`(?m)^@@\d+\n`).Split(out, -1)
	if len(answers) != len(commands)+1 {
		t.Fatalf("gdb gave %d answers to %d commands:\n%s", len(answers)-1, len(commands), out)
	}
	e := newFileEnv(t, exe)
	history := regexp.MustCompile(`^\$\d+ = `)
	for i, c := range commands {
		want := history.ReplaceAllString(strings.TrimSpace(answers[i+1]), "")
		if d, ok := differ[c]; ok {
			want = d
		}
		// symbols' Type.String has a space after "(*)", gdb 13 has none.
		got := strings.NewReplacer("*) (", "*)(", "*) [", "*)[").Replace(e.command(c))
		if got != want {
			t.Errorf("%s\n got %s\n gdb %s", c, got, want)
		}
	}
}

// command runs one of gdb's commands.
func (e *fileEnv) command(c string) string {
	verb, rest, _ := strings.Cut(c, " ")
	verb, letters, _ := strings.Cut(verb, "/")
	opt := DefaultOptions()
	if strings.HasPrefix(rest, "/") {
		letters, rest, _ = strings.Cut(rest[1:], " ")
	}
	if verb == "whatis" {
		typ, err := TypeOf(rest, e)
		if err != nil {
			return err.Error()
		}
		return "type = " + TypeName(Value{Type: typ})
	}
	v, err := Evaluate(rest, e)
	if err != nil {
		return err.Error()
	}
	switch verb {
	case "x":
		a, err := AddressOf(v, e)
		if err != nil {
			return err.Error()
		}
		count := 0
		fmt.Sscanf(letters, "%d", &count)
		letters = strings.TrimLeft(letters, "0123456789")
		var unit byte
		if len(letters) > 1 {
			unit = letters[1]
		}
		lines, _, err := Examine(a, letters[0], unit, max(count, 1), e)
		if err != nil {
			lines = append(lines, a.String()+":\t"+err.Error())
		}
		return strings.Join(lines, "\n")
	}
	if letters != "" {
		opt.Format = letters[0]
	}
	return Format(v, e, opt)
}
