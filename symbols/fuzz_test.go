package symbols

import (
	"bytes"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"dbg/expr"
	"dbg/image"
	"dbg/symbols/types"
)

// exercise asks a module everything, about a few places.
func exercise(m *Module) {
	defer m.Close()
	var addrs []image.Addr
	if s, ok := m.File().Section(".text"); ok && s.Size > 0 {
		for i := range uint64(40) {
			addrs = append(addrs, s.Addr+image.Addr(s.Size/40*i))
		}
	}
	exerciseMany(m, addrs)
	for _, a := range append(addrs, 0, 1, 0x1149, ^image.Addr(0)) {
		m.SymbolAt(a)
		m.ObjectAt(a)
		m.LineAt(a)
		if f := m.FunctionAt(a); f != nil {
			m.AfterPrologue(f)
			_ = m.FunctionType(f).String()
		}
		for _, c := range m.CallsAt(a) {
			for _, v := range m.LocalsOf(&c, a) {
				exerciseVariable(v, a)
			}
		}
	}
	for _, name := range []string{"main", "add", "sq", "geo::Square::area", "overload(int)", "counter", "head", "point"} {
		m.FunctionsByName(name)
		for _, v := range m.Global(name) {
			exerciseVariable(v, 0x1149)
		}
		exerciseType(m.Type(name), 0)
	}
	exerciseType(m.Type("struct node"), 0)
	m.FunctionNames("", 10)
	m.LinesByFile("basic.c", 12)
	m.SourceFiles()
	m.HasDebugInfo()
	m.Origin()
}

// exerciseMany asks for many places at once: of the first functions in the symbol table, and wherever they may be.
func exerciseMany(m *Module, addrs []image.Addr) {
	var symbols []*image.Symbol
	for _, a := range addrs {
		symbols = append(symbols, &image.Symbol{Addr: a})
	}
	t := m.symbols().Symbols()
	for i := range min(t.Len(), 200) {
		if s, ok := t.Symbol(i); ok && s.Kind == image.Func {
			symbols = append(symbols, &s)
		}
	}
	m.manyPlaces(symbols)
}

func exerciseVariable(v *Variable, a image.Addr) {
	loc := v.Locate(a)
	if loc.Fill != nil {
		var c expr.Context
		loc.Fill(&c)
		c.AddrIndex(1)
		c.Call(0x40, false)
		c.Call(0x40, true)
		c.BaseType(0x40)
	}
	exerciseType(v.Type, 0)
}

func exerciseType(t *types.Type, depth int) {
	if t == nil || depth > 4 {
		return
	}
	_ = t.String()
	t.Strip()
	t.IsDynamic()
	exerciseType(t.ElemAsDeclared(), depth+1)
	exerciseType(t.Elem(), depth+1)
	for i, f := range t.Fields() {
		if i < 10 {
			exerciseType(f.Type, depth+1)
		}
	}
	t.Enumerators()
	t.Params()
	t.Container()
}

func exerciseBytes(data []byte) {
	f, err := image.FromMemory("fuzz", data)
	if err != nil {
		return
	}
	exercise(Load(f, Options{DebugDirs: []string{}}))
}

var fuzzSeeds = []build{
	{"gcc-O2", "gcc", "basic.c", flags("-g -O2")},
	{"gcc-dwarf4", "gcc", "basic.c", flags("-gdwarf-4 -O2 -fdebug-types-section")},
	{"gcc-dwarf2", "gcc", "basic.c", flags("-gdwarf-2 -gstrict-dwarf -O1 -gz")},
	{"clang-O2", "clang-19", "basic.c", flags("-g -O2")},
	{"types", "g++", "types.cc", flags("-g -O1")},
}

// TestCorrupt cuts programs at every place and flips bytes of their debug
// sections: nothing may panic or take long.
func TestCorrupt(t *testing.T) {
	rounds := 150
	if testing.Short() {
		rounds = 50
	}
	for _, b := range fuzzSeeds {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			path := compile(t, b.tool, b.source, b.flags...)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for n := 0; n < len(data); n += 1 + len(data)/300 {
				exerciseBytes(data[:n:n])
			}
			f, err := image.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			r := rand.New(rand.NewPCG(1, 2))
			copied := make([]byte, len(data))
			for _, s := range f.Sections() {
				if s.Offset == 0 || s.Size == 0 || s.Offset+s.Size > uint64(len(data)) {
					continue
				}
				for range rounds / 10 {
					copy(copied, data)
					for range 1 + r.IntN(8) {
						copied[s.Offset+r.Uint64N(s.Size)] = byte(r.Uint32())
					}
					start := time.Now()
					exerciseBytes(copied)
					if d := time.Since(start); d > 20*time.Second {
						t.Errorf("a corrupt %s took %v", s.Name, d)
					}
				}
			}
		})
	}
}

// FuzzSymbols overwrites a part of a section of a program and asks everything.
// Whole files as input would be mostly code, which nothing here looks at.
func FuzzSymbols(f *testing.F) {
	var programs [][]byte
	var sections [][]image.Section
	for _, b := range fuzzSeeds {
		path := compile(f, b.tool, b.source, b.flags...)
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		file, err := image.Open(path)
		if err != nil {
			f.Fatal(err)
		}
		programs = append(programs, data)
		var some []image.Section
		for _, s := range file.Sections() {
			if s.Offset != 0 && s.Size != 0 && s.Offset+s.Size <= uint64(len(data)) && (strings.HasPrefix(s.Name, ".debug") || strings.Contains(s.Name, "tab")) {
				some = append(some, s)
			}
		}
		sections = append(sections, some)
		file.Close()
		for i := range some {
			f.Add(uint8(len(programs)-1), uint8(i), uint32(i*100), []byte{0xff, 0x80, 0, 1})
		}
	}
	f.Fuzz(func(t *testing.T, program, section uint8, offset uint32, patch []byte) {
		data := bytes.Clone(programs[int(program)%len(programs)])
		some := sections[int(program)%len(programs)]
		s := some[int(section)%len(some)]
		copy(data[s.Offset+uint64(offset)%s.Size:s.Offset+s.Size], patch)
		exerciseBytes(data)
	})
}
