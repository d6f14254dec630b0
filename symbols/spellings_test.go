package symbols

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ianlancetaylor/demangle"

	"dbg/image"
	"dbg/internal/fixture"
	"dbg/symbols/spelling"
)

// filtered are names as another program makes them readable.
func filtered(t *testing.T, tool string, names []string) []string {
	t.Helper()
	fixture.Need(t, tool)
	cmd := exec.Command(tool)
	cmd.Stdin = strings.NewReader(strings.Join(names, "\n") + "\n")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	list := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(list) != len(names) {
		t.Fatalf("%s: %d names of %d", tool, len(list), len(names))
	}
	return list
}

var (
	hashOfRust = regexp.MustCompile(`::h[0-9a-f]{16}$`)
	clonePart  = regexp.MustCompile(` \[clone [^]]*\]`)
)

// spellings are the ways to write a function's name, given as its language's users know it: with its parameters and without,
// with template arguments and without, and each from every component on.
func spellings(full string, params bool) []string {
	base, args := full, ""
	if params {
		base, args = spelling.SplitParams(full)
	}
	parts := spelling.Components(base)
	var out []string
	for i := range parts {
		rest := parts[i:]
		out = append(out, strings.Join(rest, "::"))
		if params {
			out = append(out, strings.Join(rest, "::")+args, strings.ReplaceAll(strings.Join(rest, "::")+args, ", ", ","))
		}
		plain := slices.Clone(rest)
		for k := range plain {
			plain[k] = spelling.WithoutTemplate(plain[k])
		}
		if !slices.Contains(plain, "") {
			out = append(out, strings.Join(plain, "::"))
		}
		out = append(out, "::"+strings.Join(parts, "::"))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// withoutResult takes the type of its result from a demangled name, which templates have in front.
func withoutResult(full string) string {
	depth, cut := 0, 0
	for i := 0; i < len(full); i++ {
		switch c := full[i]; {
		case strings.HasPrefix(full[i:], "(anonymous namespace)"):
			i += len("(anonymous namespace)") - 1
		case strings.HasPrefix(full[i:], "operator") && depth == 0:
			return full[cut:]
		case c == '<' || c == '(':
			if c == '(' && depth == 0 {
				return full[cut:]
			}
			depth++
		case c == '>' || c == ')':
			depth--
		case c == ' ' && depth == 0:
			cut = i + 1
		}
	}
	return full[cut:]
}

// TestSpellings asks for a breakpoint on every function of a program by each way to write its name. Others may have the same name too, but
// not the same one with all of its components and parameters.
func TestSpellings(t *testing.T) {
	for _, b := range []struct{ tool, source, flags, filter string }{
		{"g++", "classes.cc", "-g -O0", "c++filt"}, {"g++", "classes.cc", "-g -O2", "c++filt"}, {"clang++-19", "classes.cc", "-g -O0", "llvm-cxxfilt-19"},
		{"g++", "types.cc", "-g -O0", "c++filt"}, {"rustc", "prog.rs", "-g", "llvm-cxxfilt-19"}, {"rustc", "prog.rs", "-g -C symbol-mangling-version=v0", "llvm-cxxfilt-19"},
	} {
		t.Run(b.tool+" "+b.source+" "+b.flags, func(t *testing.T) {
			t.Parallel()
			m := load(t, compile(t, b.tool, b.source, flags(b.flags)...))
			var names []string
			var at []image.Addr
			seen := map[image.Addr]bool{}
			for _, s := range m.files.SymbolFile().Symbols() {
				if !strings.HasPrefix(s.Name, "_Z") && !strings.HasPrefix(s.Name, "_R") || s.Kind != image.Func || strings.Contains(s.Name, ".cold") || seen[s.Addr] {
					continue
				}
				f := m.FunctionAt(s.Addr)
				if f == nil || f.FromSymbolTable || f.Lo != s.Addr {
					continue
				}
				seen[s.Addr] = true
				names, at = append(names, s.Name), append(at, m.AfterPrologue(f).Addr)
			}
			rust := b.tool == "rustc"
			if rust && len(names) > 400 { // the standard library's: enough is enough
				var some []string
				var places []image.Addr
				for i := range names {
					if strings.Contains(names[i], "4prog") || i%40 == 0 {
						some, places = append(some, names[i]), append(places, at[i])
					}
				}
				names, at = some, places
			}
			if len(names) > 100 && !fixture.All() { // a share of them
				var some []string
				var places []image.Addr
				for i := 0; i < len(names); i += 4 {
					some, places = append(some, names[i]), append(places, at[i])
				}
				names, at = some, places
			}
			asked := 0
			missing := map[string]int{}
			otherwise := map[string]bool{} // names that our demangler reads in another way: argument packs of references
			ask := func(query, linkage string, want image.Addr, what string) {
				asked++
				if !slices.ContainsFunc(m.BreakLocations(query), func(l Location) bool { return l.Addr == want }) {
					if ours, _ := demangle.ToString(linkage); what != "linkage" && !strings.HasSuffix(spelling.Squeeze(ours), spelling.Squeeze(what)) {
						otherwise[linkage] = true
						return
					}
					if missing[what]++; missing[what] <= 12 {
						t.Errorf("break %s: not at %v: %v", query, want, addresses(m.BreakLocations(query)))
					}
				}
			}
			readable := filtered(t, b.filter, names)
			if rust { // which of the two mangles as it did before is another program's to say
				for i, old := range filtered(t, "c++filt", names) {
					if strings.HasPrefix(names[i], "_ZN") {
						readable[i] = old
					}
				}
			}
			for i, full := range readable {
				ask(names[i], names[i], at[i], "linkage")
				full = clonePart.ReplaceAllString(full, "")
				if rust {
					full = hashOfRust.ReplaceAllString(full, "")
				}
				if full == names[i] || strings.Contains(full, "lambda") || strings.Contains(full, "{closure") || strings.Contains(full, "unnamed") {
					continue
				}
				if !rust {
					full = withoutResult(full)
				}
				for _, s := range spellings(full, !rust) {
					ask(s, names[i], at[i], full)
				}
			}
			t.Logf("%d functions, %d spellings; read otherwise: %d names", len(names), asked, len(otherwise))
			if len(otherwise) > 1+len(names)/100 {
				t.Errorf("%d names are read in another way: %v", len(otherwise), otherwise)
			}
			if asked < 50 {
				t.Errorf("only %d", asked)
			}
		})
	}
}

func addresses(list []Location) (out []image.Addr) {
	for _, l := range list {
		out = append(out, l.Addr)
	}
	return out
}
