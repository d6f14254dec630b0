package view

import "testing"

// Our own files have no problems.
func TestLibs(t *testing.T) {
	files, problems := ours()
	for _, p := range problems {
		t.Error(p)
	}
	if len(files) == 0 {
		t.Error("no files")
	}
}
