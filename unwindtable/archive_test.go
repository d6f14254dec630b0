package unwindtable

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// makeArchive makes lib.a of two objects and a text, and thin.a of the same.
func makeArchive(t *testing.T) (dir string) {
	t.Helper()
	for _, tool := range []string{"gcc", "ar", "readelf"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(tool + " is not installed")
		}
	}
	dir = t.TempDir()
	for name, source := range map[string]string{
		"one.c": "int g(int); int one(int x) { return g(x) + x; }",
		"a_longer_name_than_fits.c": "int g(int); int two(int x) { int a[9]; a[0] = g(x); return g(a[0]) + a[0]; }" +
			" int three(void) { return two(3) + 1; }",
		"note.txt": "no object",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"gcc", "-O1", "-c", "one.c", "a_longer_name_than_fits.c"},
		{"ar", "qc", "lib.a", "one.o", "note.txt", "a_longer_name_than_fits.o"},
		{"ar", "qc", "--thin", "thin.a", "one.o"}} {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	return dir
}

func printed(t *testing.T, path string, opt Options) (string, error) {
	t.Helper()
	var b bytes.Buffer
	err := Print(context.Background(), &b, path, opt)
	return b.String(), err
}

// TestArchive prints archives, and the same objects alone.
func TestArchive(t *testing.T) {
	dir := makeArchive(t)
	lib := filepath.Join(dir, "lib.a")
	for _, opt := range []Options{{}, {Raw: true}, {Summary: true}, {Source: "eh_frame"}} {
		var want strings.Builder
		for _, name := range []string{"one.o", "note.txt", "a_longer_name_than_fits.o"} {
			want.WriteString("File: " + lib + "(" + name + ")\n")
			alone, err := printed(t, filepath.Join(dir, name), opt)
			if name == "note.txt" {
				if err == nil {
					t.Fatal("a text has unwind tables")
				}
				alone = strings.Replace(err.Error(), filepath.Join(dir, name), lib+"("+name+")", 1) + "\n"
			}
			want.WriteString(alone)
		}
		if got, err := printed(t, lib, opt); got != want.String() || err != nil {
			t.Errorf("%+v: %v\n%s\nwant\n%s", opt, err, got, want.String())
		}
	}
	got, err := printed(t, lib+"(one.o)", Options{})
	alone, _ := printed(t, filepath.Join(dir, "one.o"), Options{})
	if err != nil ||
		got != "File: "+lib+"(one.o)\n"+alone {
		t.Errorf("one member: %v\n%s", err, got)
	}
	if got, err := printed(t, lib, Options{Func: "three"}); err != nil || strings.Count(got, "File: ") != 1 ||
		!strings.Contains(got, "three") {
		t.Errorf("one function: %v\n%s", err, got)
	}
	for path, want := range map[string]string{
		lib + "(two.o)":                 "it has no member two.o",
		filepath.Join(dir, "thin.a"):    "it is a thin archive, so its members are in other files: one.o",
		filepath.Join(dir, "one.o(x)"):  "it is not an archive, so it has no member x",
		filepath.Join(dir, "none.a(x)"): "no such file",
		lib + "(note.txt)":              "no member has unwind tables",
	} {
		if _, err := printed(t, path, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", path, err, want)
		}
	}
}

// TestArchiveJSON expects the member's name in each object.
func TestArchiveJSON(t *testing.T) {
	lib := filepath.Join(makeArchive(t), "lib.a")
	for _, opt := range []Options{{JSON: true}, {JSON: true, Summary: true}} {
		got, err := printed(t, lib, opt)
		if err != nil {
			t.Fatal(err)
		}
		count := map[string]int{}
		for line := range strings.Lines(got) {
			var x struct{ Member, Function, Error string }
			if err := json.Unmarshal([]byte(line), &x); err != nil || x.Member == "" {
				t.Errorf("%v: %s", err, line)
			}
			count[x.Member]++
		}
		want := map[string]int{"one.o": 1, "note.txt": 1, "a_longer_name_than_fits.o": 2}
		if opt.Summary {
			want["a_longer_name_than_fits.o"] = 1
		}
		for name, n := range want {
			if count[name] != n {
				t.Errorf("%s has %d lines, want %d\n%s", name, count[name], n, got)
			}
		}
	}
}

// TestArchivePeer holds every FDE of the C library's archive against readelf.
func TestArchivePeer(t *testing.T) {
	path := "/usr/lib/x86_64-linux-gnu/libc_nonshared.a"
	if os.Getenv("DBG_ALL") != "" {
		path = "/usr/lib/x86_64-linux-gnu/libc.a"
	}
	if _, err := os.Stat(path); err != nil {
		t.Skip("libc6-dev is not installed")
	}
	got, err := printed(t, path, Options{Raw: true, Source: "eh_frame"})
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("readelf", "--debug-dump=frames", "--wide", path).Output()
	if err != nil {
		t.Skip("readelf: ", err)
	}
	line := regexp.MustCompile(`(?m)^(File: .*|[0-9a-f]{8} .*(CIE|FDE|terminator).*|  DW_CFA.*)$`)
	ours, theirs := line.FindAllString(got, -1), line.FindAllString(string(out), -1)
	files := func(list []string) (n int, rest []string) {
		for _, s := range list {
			if strings.HasPrefix(s, "File: ") {
				n++
			} else {
				rest = append(rest, strings.TrimSpace(s))
			}
		}
		return n, rest
	}
	n, a := files(ours)
	m, b := files(theirs)
	if n != m || len(a) != len(b) || n == 0 {
		t.Fatalf("%d members with %d lines; readelf has %d with %d", n, len(a), m, len(b))
	}
	for i := range a {
		if a[i] != b[i] {
			t.Fatalf("line %d: %q; readelf has %q", i, a[i], b[i])
		}
	}
	t.Logf("%d members, %d lines", n, len(a))
}
