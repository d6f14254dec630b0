package symbols

import (
	"regexp"
	"strings"
	"testing"

	"dbg/dwarf"
	"dbg/symbols/entry"
	"dbg/symbols/lang"
	"dbg/symbols/names"
)

var accessLabel = regexp.MustCompile(`(?m)^(?: *(?:public|private|protected):)?\n`)
var namedByTypedef = regexp.MustCompile(`^type = struct \w+ \{`)

// TestDefinitions holds the definitions of all named types of programs against gdb's ptype.
func TestDefinitions(t *testing.T) {
	for _, b := range []struct{ tool, source, flags string }{
		{"gcc", "types.c", "-g"}, {"gcc", "basic.c", "-g"}, {"clang-19", "types.c", "-g"}, {"g++", "types.cc", "-g"}, {"g++", "classes.cc", "-g -O0"}, {"clang++-19", "types.cc", "-g"},
	} {
		t.Run(b.tool+" "+b.source, func(t *testing.T) {
			t.Parallel()
			path := compile(t, b.tool, b.source, flags(b.flags)...)
			m := load(t, path)
			var commands, got []string
			seen := map[string]bool{}
			m.names.Index().Each(names.Type, func(_ int, d entry.Ref) bool {
				e, err := d.Read()
				if err != nil {
					t.Fatal(err)
				}
				name := m.scopes.Qualified(e)
				of := name
				if m.unit(d.Unit).lang == lang.C && (e.Tag == dwarf.TagStructureType || e.Tag == dwarf.TagClassType) {
					of = "struct " + name
				} else if m.unit(d.Unit).lang == lang.C && e.Tag == dwarf.TagUnionType {
					of = "union " + name
				} else if m.unit(d.Unit).lang == lang.C && e.Tag == dwarf.TagEnumerationType {
					of = "enum " + name
				}
				if seen[of] || strings.Contains(of, "{lambda") || strings.Contains(of, "(anonymous") || strings.HasPrefix(name, "std::") || strings.Contains(name, "__gnu") || strings.HasPrefix(name, "__") {
					return true
				}
				ty := m.Type(of)
				if ty == nil {
					return true // a local one
				}
				seen[of] = true
				commands, got = append(commands, "ptype "+of), append(got, "type = "+ty.Definition())
				return true
			})
			bad := 0
			// What gdb writes otherwise in C++: labels of access where there is but one, typedefs for the types
			// that they are of, and an empty type for what is only declared.
			same := func(got, gdb string) bool {
				if strings.Contains(gdb, "[with ") || strings.Contains(gdb, "<incomplete type>") || strings.Contains(gdb, "\n    typedef ") {
					return strings.Count(got, "(") == strings.Count(gdb, "(")
				}
				plain := func(text string) string {
					return strings.ReplaceAll(accessLabel.ReplaceAllString(text, ""), "virtual ~", "~") // clang's are virtual
				}
				if strings.HasPrefix(got, "type = struct {") { // gdb gives it the name of a typedef
					gdb = namedByTypedef.ReplaceAllString(gdb, "type = struct {")
				}
				return plain(got) == plain(gdb)
			}
			for i, w := range gdb(t, path, commands) {
				if strings.HasPrefix(b.tool, "g++") || strings.HasPrefix(b.tool, "clang++") {
					if same(got[i], strings.TrimRight(w, "\n")) {
						continue
					}
				}
				if w = strings.TrimRight(w, "\n"); w != got[i] && !strings.HasPrefix(w, "No symbol") && !strings.HasPrefix(w, "A syntax error") && !strings.HasPrefix(w, "No type named unsigned __int128") {
					bad++
					t.Errorf("%s:\n%s\n gdb:\n%s", commands[i], got[i], w)
				}
			}
			t.Logf("%d types, %d different", len(commands), bad)
		})
	}
}
