package eval

import (
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"dbg/image"
	"dbg/internal/fixture"
	"dbg/internal/gdbpeer"
	"dbg/symbols"
	"dbg/target"
)

// fileEnv is a program that does not run: its memory is the file's, its names come from
// debug/dwarf, so that this test depends on no other package's reading of DWARF.
type fileEnv struct {
	*fakeEnv
	file  *image.File
	enums map[string]Value
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
	for _, s := range e.file.Symbols() {
		if d := uint64(a) - uint64(s.Addr); s.Size > 0 && d < uint64(s.Size) {
			return s.Name, d, true
		}
	}
	return "", 0, false
}

func (e *fileEnv) Variable(name string) (Value, error) {
	if v, ok := e.enums[name]; ok {
		return v, nil
	}
	return e.fakeEnv.Variable(name)
}

func newFileEnv(t *testing.T, exe string) *fileEnv {
	f, err := image.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	ef, err := elf.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer ef.Close()
	d, err := ef.DWARF()
	if err != nil {
		t.Fatal(err)
	}
	e := &fileEnv{newFakeEnv(), f, map[string]Value{}}
	conv := &converter{made: map[dwarf.Type]*symbols.Type{}}
	addr := map[string]target.Addr{}
	for _, s := range f.Symbols() {
		addr[s.Name] = target.Addr(s.Addr)
	}
	for r := d.Reader(); ; {
		en, err := r.Next()
		if en == nil || err != nil {
			break
		}
		name, _ := en.Val(dwarf.AttrName).(string)
		switch en.Tag {
		case dwarf.TagCompileUnit:
			continue
		case dwarf.TagSubprogram:
			var result *symbols.Type
			var params []*symbols.Type
			if off, ok := en.Val(dwarf.AttrType).(dwarf.Offset); ok {
				dt, _ := d.Type(off)
				result = conv.convert(dt)
			}
			for en.Children {
				p, _ := r.Next()
				if p == nil || p.Tag == 0 {
					break
				}
				if p.Tag == dwarf.TagFormalParameter {
					dt, _ := d.Type(p.Val(dwarf.AttrType).(dwarf.Offset))
					params = append(params, conv.convert(dt))
				}
			}
			e.vars[name] = FunctionValue(name, addr[name], symbols.NewFunc(result, params))
			continue
		case dwarf.TagVariable:
			dt, err := d.Type(en.Val(dwarf.AttrType).(dwarf.Offset))
			if err != nil {
				t.Fatal(err)
			}
			e.put(name, addr[name], conv.convert(dt), nil)
		case dwarf.TagBaseType, dwarf.TagTypedef, dwarf.TagStructType, dwarf.TagEnumerationType:
			if dt, err := d.Type(en.Offset); err == nil && name != "" {
				st := conv.convert(dt)
				e.types[name] = st
				e.types[strings.TrimSpace(map[dwarf.Tag]string{dwarf.TagStructType: "struct ", dwarf.TagEnumerationType: "enum "}[en.Tag]+name)] = st
				if names := st.Strip().Enumerators(); en.Tag == dwarf.TagEnumerationType {
					for _, n := range names {
						e.enums[n.Name], _ = newValue(st, number{i: uint64(n.Value), signed: true})
					}
				}
			}
		}
		r.SkipChildren()
	}
	return e
}

// converter makes symbols' types of debug/dwarf's.
type converter struct{ made map[dwarf.Type]*symbols.Type }

func (c *converter) convert(t dwarf.Type) *symbols.Type {
	if s, ok := c.made[t]; ok {
		return s
	}
	name := t.Common().Name
	simple := func(k symbols.Kind, signed bool) *symbols.Type {
		return symbols.NewType(k, name, t.Size(), signed, nil)
	}
	switch t := t.(type) {
	case *dwarf.BoolType:
		return simple(symbols.Bool, false)
	case *dwarf.CharType:
		return simple(symbols.Char, true)
	case *dwarf.UcharType:
		return simple(symbols.Char, false)
	case *dwarf.IntType:
		return simple(symbols.Int, true)
	case *dwarf.UintType:
		if strings.HasPrefix(name, "char") {
			return simple(symbols.Char, false)
		}
		return simple(symbols.Uint, false)
	case *dwarf.FloatType:
		return simple(symbols.Float, true)
	case *dwarf.ComplexType:
		return simple(symbols.Complex, true)
	case *dwarf.VoidType:
		return nil
	case *dwarf.PtrType:
		return pointerTo(c.convert(t.Type), 8)
	case *dwarf.QualType:
		k := symbols.Const
		if t.Qual == "volatile" {
			k = symbols.Volatile
		}
		return symbols.NewType(k, "", t.Size(), false, c.convert(t.Type))
	case *dwarf.TypedefType:
		return symbols.NewType(symbols.Typedef, name, t.Size(), false, c.convert(t.Type))
	case *dwarf.ArrayType:
		return symbols.NewArray(c.convert(t.Type), t.Count)
	case *dwarf.FuncType:
		var params []*symbols.Type
		for _, p := range t.ParamType {
			params = append(params, c.convert(p))
		}
		return symbols.NewFunc(c.convert(t.ReturnType), params)
	case *dwarf.EnumType:
		var names []symbols.Enumerator
		signed := false
		for _, v := range t.Val {
			names = append(names, symbols.Enumerator{Name: v.Name, Value: v.Val})
			signed = signed || v.Val < 0
		}
		return symbols.NewEnum(t.EnumName, t.Size(), signed, names)
	case *dwarf.StructType:
		k := symbols.Struct
		if t.Kind == "union" {
			k = symbols.Union
		}
		var fields []symbols.Field
		s := symbols.NewStruct(k, t.StructName, t.Size(), nil)
		c.made[t] = s
		for _, f := range t.Field {
			sf := symbols.Field{Name: f.Name, Type: c.convert(f.Type), Offset: f.ByteOffset, BitSize: f.BitSize}
			if f.BitSize > 0 {
				sf.BitOffset = f.DataBitOffset
			}
			fields = append(fields, sf)
		}
		*s = *symbols.NewStruct(k, t.StructName, t.Size(), fields)
		return s
	}
	return symbols.NewType(symbols.Unsupported, fmt.Sprintf("%T", t), t.Size(), false, nil)
}

// differ has the cases where we are not gdb 13, and what we say.
var differ = map[string]string{
	"whatis sizeof(int)": "type = unsigned long", // C says so
	"p main(1)":          "calling functions is not supported",
	"p incomplete":       `"h", <incomplete sequence \303>`, // gdb loses the h
	"p 'ab'":             `No symbol "ab" in current context.`,
	"p ld+1":             "1.10000000000000008882", // computed as a double
	"p (int[2])five":     "{1, 2}",                 // gdb takes the address for the bytes
	"p (char)s":          "Invalid cast.",
	"p 1 << 40":          "0", // without gdb's warning
	"p !pairs[0]":        "Structure has no component named operator!.",
	"p 1e":               `Invalid number "1e".`,
}

// TestPrintLikeGDB holds print, print/f, whatis and x against gdb's own answers, on a
// program that is not running.
func TestPrintLikeGDB(t *testing.T) {
	exe := fixture.Build(t, "../eval/testdata/values.c", "-g", "-no-pie", "-w")
	cases, err := os.ReadFile("testdata/values.gdb")
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
		if got := e.command(c); got != want {
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
