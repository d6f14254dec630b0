package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestDocsNameFiles checks that every file of the project that a page of docs/ names exists.
func TestDocsNameFiles(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	name := regexp.MustCompile("`((?:[a-z0-9_]+/)+[a-z0-9_.-]+\\.(?:go|sh|c|cc|rs|s))`")
	files := 0
	for _, page := range append(pages, "../../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range name.FindAllStringSubmatch(string(text), -1) {
			files++
			if _, err := os.Stat(filepath.Join("../..", m[1])); err != nil {
				t.Errorf("%s names %s: %v", filepath.Base(page), m[1], err)
			}
		}
	}
	if files < 50 {
		t.Errorf("only %d files are named", files)
	}
}

// TestDocsNameTests checks that every test that docs/reference-coverage.md names exists in its package.
func TestDocsNameTests(t *testing.T) {
	text, err := os.ReadFile("../../docs/reference-coverage.md")
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile("`([a-z0-9/]+)\\.((?:Test|Fuzz)[A-Za-z0-9]+)`")
	tests := 0
	for _, m := range name.FindAllStringSubmatch(string(text), -1) {
		tests++
		if !hasTest(t, m[1], m[2]) {
			t.Errorf("the package %s has no test %s", m[1], m[2])
		}
	}
	if tests < 100 {
		t.Errorf("only %d tests are named", tests)
	}
}

// hasTest reports whether a test file of a package declares a function.
func hasTest(t *testing.T, pkg, function string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../..", pkg, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	declared := regexp.MustCompile(`(?m)^func ` + function + `\(`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if declared.Match(text) {
			return true
		}
	}
	return false
}
