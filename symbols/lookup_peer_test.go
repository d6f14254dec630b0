package symbols

import (
	"bufio"
	"bytes"
	"math/rand/v2"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dbg/image"
	"dbg/internal/fixture"
)

// TestLookups holds the entry of the innermost function at random addresses, its offset in .debug_info, and the line and column
// against llvm-dwarfdump, which is started for each address and so asked for fewer than TestPlaces asks for.
func TestLookups(t *testing.T) {
	fixture.Need(t, "llvm-dwarfdump-19")
	for _, f := range placesFiles {
		if strings.Contains(f.not, "llvm") {
			continue // llvm-dwarfdump does not read such files
		}
		t.Run(f.name, func(t *testing.T) {
			count := 6
			if fixture.All() {
				count = 500
			} else if f.all {
				fixture.Sweep(t)
			}
			path := f.make(t)
			m := load(t, path)
			if d := m.DebugFile(); d != nil {
				path = d.Path()
			}
			addrs := randomCode(m, 10_000)
			rand.New(rand.NewPCG(5, 500)).Shuffle(len(addrs), func(i, j int) { addrs[i], addrs[j] = addrs[j], addrs[i] })
			same, kinds := 0, map[string]int{}
			for _, a := range addrs[:count] {
				if kind := compareLookup(t, m, a, askDwarfdump(t, path, a), !strings.Contains(f.not, "entries")); kind != "" {
					kinds[kind]++
				} else {
					same++
				}
			}
			t.Logf("%d addresses, %d the same, %v", count, same, kinds)
		})
	}
}

// lookup is what llvm-dwarfdump --lookup says of an address.
type lookup struct {
	function uint64 // offset of the innermost function's entry, inlined or not; 0 if there is none
	file     string
	line     int
	column   int
}

var (
	dwarfdumpEntry = regexp.MustCompile(`^0x([0-9a-f]+): +DW_TAG_(\w+)`)
	dwarfdumpLine  = regexp.MustCompile(`^Line info: file '([^']*)', line (\d+), column (\d+)`)
)

func askDwarfdump(t *testing.T, path string, a image.Addr) (l lookup) {
	t.Helper()
	out, err := exec.Command("llvm-dwarfdump-19", "--lookup="+a.String(), path).Output()
	if err != nil && len(out) == 0 {
		t.Fatalf("llvm-dwarfdump-19: %v", err)
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		if f := dwarfdumpEntry.FindStringSubmatch(lines.Text()); f != nil && (f[2] == "subprogram" || f[2] == "inlined_subroutine") {
			l.function, _ = strconv.ParseUint(f[1], 16, 64)
		}
		if f := dwarfdumpLine.FindStringSubmatch(lines.Text()); f != nil {
			l.file = f[1]
			l.line, _ = strconv.Atoi(f[2])
			l.column, _ = strconv.Atoi(f[3])
		}
	}
	return l
}

// compareLookup returns "" if both say the same, and else what explains the difference; what nothing
// explains fails. Without entries, which llvm-dwarfdump does not look for in split units, only lines are compared.
func compareLookup(t *testing.T, m *Module, a image.Addr, theirs lookup, entries bool) string {
	t.Helper()
	f, kind := m.FunctionAt(a), ""
	switch {
	case !entries:
	case f == nil || f.FromSymbolTable:
		if theirs.function != 0 {
			t.Errorf("%v: we know no function, llvm-dwarfdump has %#x", a, theirs.function)
		}
	default:
		switch off := innermost(f.impl, a); {
		case off == theirs.function:
		case inOtherCopy(m, f, a, theirs.function):
			kind = "another unit has this function, too"
		case inOtherEntry(m, f, theirs.function):
			kind = "another entry of the unit is for the same code"
		default:
			t.Errorf("%v: entry in %s is %#x, for llvm-dwarfdump %#x", a, f.Name, off, theirs.function)
		}
	}
	at, _ := m.LineAt(a)
	ours, want := lineOf(at.File, at.Line), lineOf(theirs.file, theirs.line)
	if ours != want && (theirs.file != "" || theirs.line != 0) || ours == want && ours != "?" && at.Column != theirs.column {
		switch {
		case atSameAddress(m, a, want, false) && ours != want, ours == want && columnAtSameAddress(m, a, theirs.column):
			kind = "another row of the same address"
		default:
			t.Errorf("%v: line %s column %d, for llvm-dwarfdump %s column %d", a, ours, at.Column, want, theirs.column)
		}
	} else if ours != want {
		t.Errorf("%v: line %s, llvm-dwarfdump has none", a, ours)
	}
	return kind
}

// innermost is the entry of the innermost function at an address, inlined or not.
func innermost(fn *function, a image.Addr) uint64 {
	b := fn.body().at(uint64(a))
	for !b.inlined && b.parent != nil {
		b = b.parent
	}
	return b.off
}

// inOtherCopy reports whether an entry is the innermost one in a function of another unit that begins and ends where f does and has its
// linkage name: the linker keeps one of them, and all units say that it is theirs.
func inOtherCopy(m *Module, f *Function, a image.Addr, off uint64) bool {
	units, _ := m.dwarf().Units()
	for _, du := range units {
		if off < du.Offset || off >= du.End {
			continue
		}
		fn := m.unit(du).functionAt(uint64(a))
		return fn != nil && innermost(fn, a) == off && slices.Equal(fn.public().Ranges, f.Ranges) && fn.public().Linkage == f.Linkage
	}
	return false
}

// inOtherEntry reports whether an entry is another one of a function's unit, for exactly the same code: an assembler makes one for each of
// several symbols at an address (klogctl, __GI_klogctl). We take the first.
func inOtherEntry(m *Module, f *Function, off uint64) bool {
	u := f.impl.u
	if off < u.dw.Offset || off >= u.dw.End || off == f.impl.off {
		return false
	}
	fn := u.function(off)
	return fn != nil && slices.Equal(fn.public().Ranges, f.Ranges)
}
