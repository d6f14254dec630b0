package symbols

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"dbg/symbols/entry"
	"dbg/symbols/names"
	"dbg/symbols/types"
)

// TestGDBTypes holds the type, the size and the members of every global
// variable against gdb's whatis, sizeof and offsetof.
func TestGDBTypes(t *testing.T) {
	for _, b := range []build{
		{"gcc", "gcc", "types.c", flags("-g")},
		{"gcc-dwarf3", "gcc", "types.c", flags("-gdwarf-3 -gstrict-dwarf")},
		{"gcc-dwarf4-types", "gcc", "types.c", flags("-gdwarf-4 -fdebug-types-section")},
		{"clang", "clang-19", "types.c", flags("-g")},
		{"g++", "g++", "types.cc", flags("-g")},
		{"g++-dwarf4", "g++", "types.cc", flags("-gdwarf-4")},
		{"clang++", "clang++-19", "types.cc", flags("-g")},
	} {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			path := compile(t, b.tool, b.source, b.flags...)
			m := load(t, path)
			var commands, got []string
			for name, dies := range allVariables(m) {
				if len(dies) != 1 || strings.Contains(name, "<") {
					continue
				}
				e, err := dies[0].Unit.Entry(dies[0].Off)
				if err != nil {
					t.Fatal(err)
				}
				full := m.scopes.Qualified(e)
				vs := m.Global(full)
				if len(vs) != 1 {
					t.Errorf("%s: %d variables", full, len(vs))
					continue
				}
				ty := vs[0].Type
				commands, got = append(commands, "whatis "+full), append(got, "type = "+ty.String())
				commands, got = append(commands, "output sizeof("+full+")"), append(got, fmt.Sprint(size(ty)))
				for _, f := range ty.Strip().Fields() {
					if f.Static || f.Base || f.Name == "" || strings.Contains(f.Name, ".") || f.BitSize != 0 {
						continue
					}
					commands = append(commands, fmt.Sprintf("output (long)&((%s*)0)->%s", "typeof("+full+")", f.Name))
					got = append(got, fmt.Sprint(f.Offset))
					commands, got = append(commands, "whatis "+full+"."+f.Name), append(got, "type = "+f.Type.String())
				}
			}
			bad := 0
			for i, want := range gdb(t, path, commands) {
				if got[i] != want && !strings.Contains(want, "syntax error") && !knownDifference(commands[i], want) {
					bad++
					t.Errorf("%s: got %q, gdb has %q", commands[i], got[i], want)
				}
			}
			t.Logf("%d questions, %d different", len(commands), bad)
		})
	}
}

// knownDifference lists what gdb 13 says and dbg does not.
func knownDifference(command, want string) bool {
	switch {
	case strings.Contains(want, "unsigned int __int128"): // clang's "unsigned __int128"
	case strings.Contains(command, "v_null"): // "int"
	case strings.Contains(command, "_vptr$"): // clang's type of it, which gdb looks through
	case strings.Contains(want, "ns::A*,"): // clang's spelling, which gdb makes the same as gcc's or not
	case command == "whatis f_c": // "int (*)(void)" for int (*)(...)
	default:
		return false
	}
	return true
}

// size is C++'s sizeof, which sees through references.
func size(t *types.Type) int64 {
	if t.Kind == types.Reference || t.Kind == types.RvalueReference {
		return t.Elem().Size
	}
	return t.Size
}

// TestGDBBitFields holds the places of bit-fields against ptype/o.
func TestGDBBitFields(t *testing.T) {
	for _, b := range []build{
		{"gcc", "gcc", "types.c", flags("-g")},
		{"gcc-dwarf3", "gcc", "types.c", flags("-gdwarf-3 -gstrict-dwarf")},
		{"clang", "clang-19", "types.c", flags("-g")},
	} {
		t.Run(b.name, func(t *testing.T) {
			path := compile(t, b.tool, b.source, b.flags...)
			m := load(t, path)
			answer := gdb(t, path, []string{"ptype/o struct bits"})[0]
			// "/*      1: 3   |       4 */    unsigned int b : 13;"
			field := regexp.MustCompile(`/\* +(\d+)(?:: ?(\d+))? +\| +\d+ \*/ +.*?(\w+)(?: : (\d+))?;`)
			want := ""
			for _, match := range field.FindAllStringSubmatch(answer, -1) {
				var off, bit, size int
				fmt.Sscan(match[1], &off)
				fmt.Sscan(match[2], &bit)
				fmt.Sscan(match[4], &size)
				want += fmt.Sprintf(" %s@%d:%d", match[3], off*8+bit, size)
			}
			got := ""
			for _, f := range m.Type("struct bits").Fields() {
				pos := f.Offset * 8
				if f.BitSize != 0 {
					pos = f.BitOffset
				}
				got += fmt.Sprintf(" %s@%d:%d", f.Name, pos, f.BitSize)
			}
			if got != want {
				t.Errorf("got %s, gdb has %s\n%s", got, want, answer)
			}
		})
	}
}

// allVariables are the variables of the index by their names.
func allVariables(m *Module) map[string][]entry.Ref {
	out := map[string][]entry.Ref{}
	m.names.Index().Each(names.Variable, func(_ int, d entry.Ref) bool {
		if e, err := d.Read(); err == nil {
			out[entry.Name(e)] = append(out[entry.Name(e)], d)
		}
		return true
	})
	return out
}
