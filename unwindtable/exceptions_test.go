package unwindtable_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dbg/internal/fixture"
	"dbg/unwindtable"
)

// callSite is a call site in the output.
type callSite struct {
	Start, End string
	Pad        string `json:"landing_pad"`
	Actions    []struct {
		Kind  string
		Types []string
	}
}

// callSites are those of all functions of a file.
func callSites(t *testing.T, path, source string) (list []callSite) {
	t.Helper()
	var b bytes.Buffer
	if err := unwindtable.Print(context.Background(), &b, path, unwindtable.Options{Source: source, JSON: true}); err != nil {
		t.Fatal(err)
	}
	s := bufio.NewScanner(&b)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		var f struct {
			Sites []callSite `json:"call_sites"`
			Error string     `json:"call_sites_error"`
		}
		if err := json.Unmarshal(s.Bytes(), &f); err != nil || f.Error != "" {
			t.Fatalf("%v %s: %s", err, f.Error, s.Text())
		}
		list = append(list, f.Sites...)
	}
	return list
}

// TestCallSites: the call sites of functions are those between the labels that the compiler wrote.
func TestCallSites(t *testing.T) {
	for _, c := range []struct{ tool, source, nm string }{
		{"g++", "eh_frame", "nm"}, {"clang++-19", "eh_frame", "nm"}, {"arm-linux-gnueabihf-g++", "exidx", "arm-linux-gnueabihf-nm"},
	} {
		for _, level := range []string{"-O0", "-O2"} {
			t.Run(c.tool+level, func(t *testing.T) {
				fixture.Need(t, c.tool)
				dir := t.TempDir()
				run := func(name string, args ...string) string {
					cmd := exec.Command(name, args...)
					cmd.Dir = dir
					out, err := cmd.CombinedOutput()
					if err != nil {
						t.Fatalf("%s: %v\n%s", name, err, out)
					}
					return string(out)
				}
				run(c.tool, level, "-S", "-o", "t.s", filepath.Join(fixture.Root(), "testdata/check/throws.cc"))
				run(c.tool, "-Wa,-L", "-Wl,--discard-none", "-o", "t", "t.s")
				addresses := map[string]uint64{}
				for _, l := range strings.Split(run(c.nm, "t"), "\n") {
					if w := strings.Fields(l); len(w) == 3 {
						addresses[w[2]], _ = strconv.ParseUint(w[0], 16, 64)
					}
				}
				want := labelledSites(t, filepath.Join(dir, "t.s"), addresses)
				var got []string
				for _, s := range callSites(t, filepath.Join(dir, "t"), c.source) {
					got = append(got, s.Start+" "+s.End+" "+s.Pad)
				}
				for _, w := range want { // the C library's start files have some, too
					if !slices.Contains(got, w) {
						t.Errorf("missing: %s", w)
					}
				}
				if len(want) < 8 || len(got) > len(want)+40 {
					t.Errorf("%d call sites, %d in the assembler's file", len(got), len(want))
				}
			})
		}
	}
}

// labelledSites are the call sites in an assembler file: differences of labels, in threes.
func labelledSites(t *testing.T, path string, addresses map[string]uint64) (list []string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	site := regexp.MustCompile(`(?m)^\s*\.uleb128 (\.\w+)-(\.\w+).*\n\s*\.uleb128 (\.\w+)-\.\w+.*\n\s*\.uleb128 (?:(\.\w+)-\.\w+|(0x0|0)\b)`)
	for _, m := range site.FindAllStringSubmatch(strings.ReplaceAll(string(text), "@", "//"), -1) {
		pad := ""
		if m[4] != "" {
			pad = fmt.Sprintf("0x%x", addresses[m[4]])
		}
		lo, known := addresses[m[1]]
		if !known || addresses[m[3]] == 0 {
			continue // the bases of tables
		}
		list = append(list, fmt.Sprintf("0x%x 0x%x %s", lo, addresses[m[3]], pad))
	}
	return list
}

// TestActions: what a landing pad does, by the types' names, at every kind of action.
func TestActions(t *testing.T) {
	const source = `
#include <stdexcept>
#include <string>
struct D { ~D(); int v; };
D::~D() { if (v) __builtin_printf("d"); }
void out(int);
int several(int v) {
	D d{v};
	try { out(v); } catch (const std::runtime_error &e) { return 1; } catch (int) { return 2; } catch (...) { return 3; }
	return 0;
}
void passes(int v) { D d{v}; out(v); }
void only(int v) throw(int, std::string) { out(v); }
void none(int v) noexcept { try { out(v); } catch (char *) {} }
void out(int v) { if (v > 2) throw std::string("x"); if (v) throw v; }
int main(int n, char **) { return several(n) + (passes(0), only(0), none(0), 0); }
`
	dir := t.TempDir()
	file := filepath.Join(dir, "a.cc")
	if err := os.WriteFile(file, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ tool, source string }{{"g++", "eh_frame"}, {"clang++-19", "eh_frame"}, {"arm-linux-gnueabihf-g++", "exidx"}} {
		t.Run(c.tool, func(t *testing.T) {
			fixture.Need(t, c.tool)
			exe := filepath.Join(dir, c.tool)
			if out, err := exec.Command(c.tool, "-std=c++11", "-O1", "-w", "-fno-inline", "-o", exe, file).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			found := map[string]bool{}
			for _, s := range callSites(t, exe, c.source) {
				var list []string
				for _, a := range s.Actions {
					list = append(list, strings.TrimSpace(a.Kind+" "+strings.Join(slices.Sorted(slices.Values(a.Types)), ",")))
				}
				found[strings.Join(list, "; ")] = true
			}
			for _, want := range []string{"catch std::runtime_error; catch int; catch all", "cleanup", "only int,std::string", ""} {
				long := strings.ReplaceAll(want, "std::string", "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >")
				if !found[want] && !found[long] {
					t.Errorf("no call site with %q; there are %v", want, found)
				}
			}
		})
	}
}
