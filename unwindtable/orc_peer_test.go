package unwindtable

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"dbg/image"
	"dbg/internal/fixture"
)

// TestORCPeer compares every entry of Debian's kernels and of all their modules with what objtool --dump=orc of the same
// kernel prints, line by line.
func TestORCPeer(t *testing.T) {
	fixture.Sweep(t)
	fixture.Need(t, "objcopy")
	for _, k := range []struct {
		suite, flavour string
		libraries      []string // of the suite, if its tools do not run with those of Debian 12
		args           []string
	}{
		{"bullseye", "cloud-amd64", nil, []string{"orc", "dump"}},
		{"bookworm", "amd64", nil, []string{"--dump=orc"}},
		{"trixie", "cloud-amd64", []string{"libc6", "libelf1t64", "zlib1g", "libzstd1"}, []string{"--dump=orc"}},
		{"sid", "cloud-amd64", []string{"libc6", "libelf1t64", "zlib1g", "libzstd1"}, []string{"--dump=orc"}},
	} {
		t.Run(k.suite, func(t *testing.T) {
			root := fixture.DebianKernel(t, k.suite, k.flavour)
			peer := append(objtool(t, root, k.suite, k.libraries), k.args...)
			files, entries := 0, 0
			for _, path := range kernelFiles(t, root) {
				files++
				entries += compareORC(t, path, peer)
			}
			if files < 100 || entries < 100_000 {
				t.Errorf("only %d files, %d entries", files, entries)
			}
			t.Logf("%d files, %d entries, no difference", files, entries)
		})
	}
}

// objtool is the command of a kernel's tool.
func objtool(t *testing.T, root, suite string, libraries []string) []string {
	for _, name := range []string{"objtool.real-x86", "objtool"} {
		found, _ := filepath.Glob(filepath.Join(root, "usr/lib/linux-kbuild-*/tools/objtool", name))
		if len(found) == 0 {
			continue
		}
		if libraries == nil {
			return found[:1]
		}
		lib := filepath.Join(fixture.Debian(t, suite, libraries...), "usr/lib/x86_64-linux-gnu")
		return []string{filepath.Join(lib, "ld-linux-x86-64.so.2"), "--library-path", lib, found[0]}
	}
	t.Fatalf("no objtool in %s", root)
	return nil
}

// kernelFiles lists a kernel and its modules.
func kernelFiles(t *testing.T, root string) (list []string) {
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name := filepath.Base(path)
		if err == nil && d.Type().IsRegular() && (strings.HasPrefix(name, "vmlinuz") || strings.HasSuffix(name, ".ko") || strings.HasSuffix(name, ".ko.xz")) {
			list = append(list, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// compareORC compares one file, and returns the number of its entries.
func compareORC(t *testing.T, path string, peer []string) int {
	img, err := image.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer img.Close()
	if !img.HasSection(".orc_unwind") {
		return 0
	}
	plain := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(plain, img.Whole(), 0o644); err != nil {
		t.Fatal(err)
	}
	if img.Kind() != image.Relocatable { // objtool wants a symbol table, whatever is in it
		if msg, err := exec.Command("objcopy", "--add-symbol", "any=0x10", plain).CombinedOutput(); err != nil {
			t.Fatalf("objcopy: %v %s", err, msg)
		}
	}
	want, err := exec.Command(peer[0], append(peer[1:len(peer):len(peer)], plain)...).Output()
	if err != nil {
		t.Fatalf("%v %s: %v", peer, path, err)
	}
	_ = os.Remove(plain)
	var got bytes.Buffer
	if err := printImage(t.Context(), &got, img, Options{Source: "orc", Raw: true}); err != nil {
		if len(want) == 0 && strings.Contains(err.Error(), "no sections .orc_unwind") {
			return 0
		}
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		a, b := strings.Split(got.String(), "\n"), strings.Split(string(want), "\n")
		for i := range min(len(a), len(b)) {
			if a[i] != b[i] {
				t.Fatalf("%s: line %d is %q, objtool has %q", path, i+1, a[i], b[i])
			}
		}
		t.Fatalf("%s: %d lines, objtool has %d", path, len(a), len(b))
	}
	return bytes.Count(want, []byte("\n"))
}
