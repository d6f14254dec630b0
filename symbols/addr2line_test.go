package symbols

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dbg/image"
	"dbg/internal/fixture"
	"dbg/symbols/lang"
	"dbg/symbols/spelling"
	"dbg/symbols/symtab"
)

// TestAddr2line holds the chain of calls at every seventh address of the text
// against two peers: binutils' addr2line -i and LLVM's. Each has faults of its
// own (binutils loses inlined calls in DWARF 5 of clang and all lines of Go, and
// names an inlined call without a linkage name like the function around it), so
// an answer is right if one of the two gives it.
func TestAddr2line(t *testing.T) {
	fixture.Need(t, "addr2line", "llvm-addr2line-19")
	for _, b := range builds {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			path := compile(t, b.tool, b.source, b.flags...)
			m := load(t, path)
			text, ok := m.File().Section(".text")
			if !ok {
				t.Fatal("no .text")
			}
			var addrs []image.Addr
			step := max(7, image.Addr(text.Size/20000)|1)
			for a := text.Addr; a < text.Addr+image.Addr(text.Size); a += step {
				addrs = append(addrs, a)
			}
			compareAddr2line(t, m, path, addrs)
		})
	}
}

// compareAddr2line compares chains of calls, but only where there is debug
// information.
func compareAddr2line(t *testing.T, m *Module, path string, addrs []image.Addr) {
	t.Helper()
	gnu := addr2line(t, m, "addr2line", path, addrs)
	llvm := addr2line(t, m, "llvm-addr2line-19", path, addrs)
	bad, known := 0, 0
	for i, a := range addrs {
		calls := m.CallsAt(a)
		if len(calls) == 0 || calls[0].Function.FromSymbolTable {
			// Padding between functions has lines, but no function.
			if strings.Contains(gnu[i], "/") && strings.Contains(llvm[i], "/") && !strings.HasPrefix(llvm[i], " ?? ") {
				bad++
				t.Errorf("%v:\n got nothing\n gnu%s\nllvm%s", a, gnu[i], llvm[i])
			}
			continue
		}
		known++
		if got := chain(m, calls); got != gnu[i] && got != llvm[i] && !otherRow(m, a, calls, gnu[i], llvm[i]) {
			if bad++; bad <= 4 {
				t.Errorf("%v:\n got%s\n gnu%s\nllvm%s", a, got, gnu[i], llvm[i])
			}
		}
	}
	t.Logf("%d addresses, %d in known functions, %d different", len(addrs), known, bad)
}

// addr2line returns a peer's chain for each address. The name of the function
// proper, if it is a symbol's, is replaced by its address: several symbols may
// have it.
func addr2line(t *testing.T, m *Module, tool, path string, addrs []image.Addr) []string {
	t.Helper()
	var in strings.Builder
	for _, a := range addrs {
		fmt.Fprintf(&in, "%v\n", a)
	}
	cmd := exec.Command(tool, "-a", "-i", "-f", "-e", path)
	cmd.Stdin = strings.NewReader(in.String())
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split("\n"+strings.TrimSpace(string(out)), "\n0x")[1:]
	if len(blocks) != len(addrs) {
		t.Fatalf("%s answered %d of %d", tool, len(blocks), len(addrs))
	}
	symbols := map[string][]image.Addr{} // several local ones may have one name
	for _, s := range m.files.SymbolFile().Symbols() {
		symbols[s.Name] = append(symbols[s.Name], s.Addr)
	}
	for i, block := range blocks {
		lines := strings.Split(block, "\n")[1:]
		blocks[i] = ""
		for j := 0; j+1 < len(lines); j += 2 {
			name := lines[j]
			if all := symbols[strings.TrimSuffix(name, ".cold")]; j+2 >= len(lines) && len(all) > 0 {
				name = all[0].String()
				if f := m.FunctionAt(addrs[i]); f != nil && slices.Contains(all, f.Lo) {
					name = f.Lo.String()
				}
			}
			blocks[i] += fmt.Sprintf(" %s %s", name, cleanLine(lines[j+1]))
		}
	}
	return blocks
}

// chain writes calls as addr2line does: with linkage names if there are any.
func chain(m *Module, calls []Call) (s string) {
	for _, c := range calls {
		name := c.Function.Linkage
		// The peers prefer an ELF symbol for the function proper, and of
		// several any: see addr2line.
		if !c.Inlined {
			if s, ok := m.symbols().At(symtab.Code, c.Function.Lo); ok && s.Addr == c.Function.Lo {
				name = s.Addr.String()
			}
		}
		if name == "" || c.Inlined && c.Function.Lang == lang.C {
			p := spelling.Components(c.Function.Name)
			name = p[len(p)-1]
		}
		file := c.Position.File
		if file == "" {
			file = "??"
		}
		s += fmt.Sprintf(" %s %s:%d", name, file, c.Position.Line)
	}
	return s
}

// otherRow reports whether the chain is a peer's with another row of the
// line table: of several with one address binutils takes the last one, dbg the
// last statement, as gdb does.
func otherRow(m *Module, a image.Addr, calls []Call, gnu, llvm string) bool {
	line, _ := m.LineAt(a)
	table := m.unitAt(a).dw.Files()
	seq, _ := table.At(uint64(a))
	for _, r := range seq.Rows {
		if r.Addr == uint64(line.Lo) {
			calls[0].Position = Position{File: table.File(uint64(r.File)), Line: int(r.Line)}
			if got := chain(m, calls); got == gnu || got == llvm {
				return true
			}
		}
	}
	return false
}

func cleanLine(s string) string {
	s, _, _ = strings.Cut(s, " (discriminator")
	s = strings.Replace(s, ":?", ":0", 1)
	if strings.Contains(s, "/") {
		s = filepath.Clean(s)
	}
	return s
}
