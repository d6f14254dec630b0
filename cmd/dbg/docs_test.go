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
