package session_test

import (
	"os"
	"path/filepath"
	"testing"

	"dbg/eval/natvis"
	"dbg/internal/fixture"
)

// publicFiles are .natvis files that libraries publish, in the sources of Debian's packages. rustc's four are in
// eval/natvis (TestRust).
var publicFiles = []struct{ source, file string }{
	{"nlohmann-json3", "nlohmann_json.natvis"},
	{"imgui", "misc/debuggers/imgui.natvis"},
	{"glm", "util/glm.natvis"},
	{"pugixml", "scripts/natvis/pugixml.natvis"},
	{"pugixml", "scripts/natvis/pugixml_compact.natvis"},
}

// publicProblems are mistakes in these files.
var publicProblems = map[string]string{
	"misc/debuggers/imgui.natvis:55:170: warning: } must be written }} in a display string": "so it is in line 55",
}

// TestPublicNatvisFiles reads the files. The only problem is in the file itself.
func TestPublicNatvisFiles(t *testing.T) {
	fixture.Sweep(t)
	for _, p := range publicFiles {
		t.Run(filepath.Base(p.file), func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join(fixture.DebianSource(t, "bookworm", p.source), p.file))
			if err != nil {
				t.Fatal(err)
			}
			f, problems := natvis.Parse(p.file, data)
			for _, problem := range problems {
				if publicProblems[problem.Error()] == "" {
					t.Error(problem.Error())
				}
			}
			if len(f.Types) == 0 {
				t.Error("no types")
			}
		})
	}
}

// TestPublicNatvis shows values with these files.
func TestPublicNatvis(t *testing.T) {
	fixture.Sweep(t)
	var flags, files []string
	for i, include := range []string{"single_include", ".", ".", "src"} {
		root := fixture.DebianSource(t, "bookworm", publicFiles[i].source)
		flags = append(flags, "-isystem", filepath.Join(root, include))
		files = append(files, filepath.Join(root, publicFiles[i].file))
	}
	for _, b := range libraryBuilds {
		t.Run(b.name, func(t *testing.T) {
			v := newViewer(t, "public.cc", append(b.flags[:len(b.flags):len(b.flags)], flags...)...)
			_, err := v.AddViews(files...)
			v.must(err)
			v.natvis = files
			v.stopAndCompare(1, b.name)
		})
	}
}
