package archive_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"dbg/image/archive"
)

// header is the header of a member.
func header(name string, size int) string {
	return fmt.Sprintf("%-16s%-12d%-6d%-6d%-8o%-10d`\n", name, 0, 0, 0, 0o644, size)
}

// read lists the members as NAME=CONTENTS, and the error.
func read(data string) string {
	var list []string
	for m, err := range archive.Members([]byte(data)) {
		if err != nil {
			list = append(list, "error: "+err.Error())
			break
		}
		if m.Data != nil && data[m.Offset:m.Offset+uint64(len(m.Data))] != string(m.Data) {
			list = append(list, "wrong offset")
		}
		list = append(list, m.Name+"="+string(m.Data))
	}
	return strings.Join(list, " ")
}

func TestMembers(t *testing.T) {
	const arch = "!<arch>\n"
	for _, c := range []struct{ name, data, want string }{
		{"empty", arch, ""},
		{"System V", arch + header("/", 4) + "syms" + header("a.o/", 3) + "abc\n" + header("b.o/", 2) + "de",
			"a.o=abc b.o=de"},
		{"long names", arch + header("//", 24) + "a_long_name.o/\nsecond.o/" + header("/15", 1) +
			"x\n" + header("/0", 1) + "y",
			"second.o=x a_long_name.o=y"},
		{"BSD", arch + header("__.SYMDEF", 2) + "zz" + header("#1/8", 9) +
			"name.o\x00\x00x\n" + header("plain.o", 1) + "y",
			"name.o=x plain.o=y"},
		{"Windows", arch + header("/", 2) + "zz" + header("/", 2) + "yy" + header("//", 6) + "x.obj\x00" +
			header("/0", 1) + "x",
			"x.obj=x"},
		{"64-bit symbol table", arch + header("/SYM64/", 2) + "zz" + header("a.o/", 0), "a.o="},
		{"thin", "!<thin>\n" + header("//", 6) + "a.o/\n\n" + header("/0", 1000) + header("b.o/", 9), "a.o= b.o="},
		{"no archive", "!<arch>", "error: it is not an archive"},
		{"truncated header", arch + header("a.o/", 0)[:59],
			"error: the member at 0x8 of the archive: its header is truncated"},
		{"truncated contents", arch + header("a.o/", 3) + "ab",
			"error: the member at 0x8 of the archive: its size 3 is larger than the rest of the file, 2"},
		{"size", arch + strings.Replace(header("a.o/", 3), "3 ", "-3", 1) + "abc",
			"error: the member at 0x8 of the archive: its size is \"-3        \", not a number"},
		{"end of the header", arch + strings.Replace(header("a.o/", 3), "`", " ", 1) + "abc",
			"error: the member at 0x8 of the archive: its header does not end with the bytes 60 0a"},
		{"name outside the table", arch + header("/7", 0),
			"error: the member at 0x8 of the archive: its name \"/7\" is not in the table of names"},
		{"BSD name longer than the member", arch + header("#1/9", 3) + "abc",
			"error: the member at 0x8 of the archive: its name has the invalid length \"#1/9\""},
		{"long name without an end", arch + header("//", 5000) + strings.Repeat("x", 5000) + header("/0", 0),
			"error: the member at 0x13cc of the archive: its name is longer than 4096 bytes"},
		{"empty name", arch + header("", 0), "error: the member at 0x8 of the archive: its name is empty"},
	} {
		if got := read(c.data); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestPeer holds the members of archives that ar makes against ar's own list.
func TestPeer(t *testing.T) {
	if _, err := exec.LookPath("ar"); err != nil {
		t.Skip("ar is not installed")
	}
	dir := t.TempDir()
	rnd := rand.New(rand.NewPCG(1, 2))
	args := []string{"qc", "lib.a"}
	for i := range 40 {
		name := fmt.Sprintf("%s%d.o", strings.Repeat("n", rnd.IntN(40)), i)
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, rnd.IntN(9)), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, name)
	}
	for _, thin := range []bool{false, true} {
		if args[1] = "lib.a"; thin {
			args = append(append([]string{"qc"}, "--thin", "thin.a"), args[2:]...)
		}
		run(t, dir, "ar", args...)
		file := map[bool]string{false: "lib.a", true: "thin.a"}[thin]
		data, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for m, err := range archive.Members(data) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, m.Name)
		}
		if want := strings.TrimSpace(run(t, dir, "ar", "t", file)); strings.Join(got, "\n") != want {
			t.Errorf("%s has %q, want %q", file, got, want)
		}
	}
}

func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	return string(out)
}

// FuzzMembers reads any bytes. Members do not overlap.
func FuzzMembers(f *testing.F) {
	f.Add([]byte("!<arch>\n" + header("//", 6) + "x.obj\x00" + header("/0", 1) + "x\n" + header("#1/2", 3) + "abc"))
	f.Add([]byte("!<thin>\n" + header("a.o/", 9)))
	f.Fuzz(func(t *testing.T, data []byte) {
		end := uint64(0)
		for m, err := range archive.Members(data) {
			if err != nil {
				return
			}
			if m.Offset < end || m.Offset+uint64(len(m.Data)) > uint64(len(data)) || m.Name == "" {
				t.Fatalf("the member %q at 0x%x has %d bytes", m.Name, m.Offset, len(m.Data))
			}
			end = m.Offset + uint64(len(m.Data))
		}
	})
}
