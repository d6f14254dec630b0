// Package archive reads static libraries: the files that ar makes.
//
// What it gives you: Members lists the files in an archive, with their names and contents. It reads the
// formats of System V and GNU (long names in the member "//"), of BSD and macOS ("#1/"), and of
// Windows's import libraries. Symbol tables and tables of names are not listed.
//
// What you must bring: the bytes of the file.
//
// Source: System V Release 4, ar(4); FreeBSD, ar(5); "Microsoft PE and COFF Specification", Archive (Library)
// File Format; GNU binutils for thin archives.
//
// What it does not do: the members of a thin archive are in other files. They are listed without
// contents.
//
// Input is not trusted: the size of each member must be in the file, and a name has at most 4096 bytes.
// Each member takes at least 60 bytes, so the work is linear.
package archive

import (
	"bytes"
	"fmt"
	"iter"
	"strconv"
	"strings"
)

const (
	magic      = "!<arch>\n"
	thinMagic  = "!<thin>\n"
	headerSize = 60
	maxName    = 4096
)

// Member is a file in an archive.
type Member struct {
	Name   string
	Offset uint64 // of the contents in the archive; of a thin archive, of the end of the header
	Data   []byte // part of the archive; nil in a thin archive
}

// Begins reports whether a file with these first bytes is an archive.
func Begins(data []byte) bool { return bytes.HasPrefix(data, []byte(magic)) || IsThin(data) }

// IsThin reports whether a file with these first bytes is a thin archive: it has only the names of its
// members.
func IsThin(data []byte) bool { return bytes.HasPrefix(data, []byte(thinMagic)) }

// Members lists the members in their order. An error is the last thing that it yields.
func Members(data []byte) iter.Seq2[Member, error] {
	return func(yield func(Member, error) bool) {
		if !Begins(data) {
			yield(Member{}, fmt.Errorf("it is not an archive"))
			return
		}
		r := reader{data: data, thin: IsThin(data)}
		for off := uint64(len(magic)); off < uint64(len(data)); {
			m, next, err := r.member(off)
			if err != nil {
				yield(Member{}, fmt.Errorf("the member at 0x%x of the archive: %w", off, err))
				return
			}
			if m.Name != "" && !yield(m, nil) {
				return
			}
			off = next
		}
	}
}

// reader is a walk through an archive.
type reader struct {
	data  []byte
	thin  bool
	names []byte // contents of the member "//"
}

// member reads a member. Its name is "" if it is a table. next is the offset of the next one.
func (r *reader) member(off uint64) (m Member, next uint64, err error) {
	rest := r.data[off:]
	if len(rest) < headerSize {
		return m, 0, fmt.Errorf("its header is truncated")
	}
	head, rest := rest[:headerSize], rest[headerSize:]
	if head[58] != '`' || head[59] != '\n' {
		return m, 0, fmt.Errorf("its header does not end with the bytes 60 0a")
	}
	size, err := strconv.ParseUint(strings.TrimRight(string(head[48:58]), " "), 10, 64)
	if err != nil {
		return m, 0, fmt.Errorf("its size is %q, not a number", head[48:58])
	}
	name := strings.TrimRight(string(head[:16]), " ")
	m.Offset = off + headerSize
	if r.thin && name != "/" && name != "//" && name != "/SYM64/" {
		m.Name, err = r.name(name)
		return m, m.Offset, err
	}
	if size > uint64(len(rest)) {
		return m, 0, fmt.Errorf("its size %d is larger than the rest of the file, %d", size, len(rest))
	}
	m.Data = rest[:size:size]
	next = m.Offset + size + size%2
	switch {
	case name == "//":
		r.names = m.Data
		return m, next, nil
	case name == "/" || name == "/SYM64/":
		return m, next, nil
	case strings.HasPrefix(name, "#1/"):
		err = m.longBSD(name)
	default:
		m.Name, err = r.name(name)
	}
	if strings.HasPrefix(m.Name, "__.SYMDEF") {
		m.Name = ""
	}
	return m, next, err
}

// longBSD reads a name that is at the start of the contents.
func (m *Member) longBSD(name string) error {
	n, err := strconv.ParseUint(name[len("#1/"):], 10, 64)
	if err != nil || n == 0 || n > maxName || n > uint64(len(m.Data)) {
		return fmt.Errorf("its name has the invalid length %q", name)
	}
	m.Name = string(bytes.TrimRight(m.Data[:n], "\x00"))
	m.Data, m.Offset = m.Data[n:], m.Offset+n
	if m.Name == "" {
		return fmt.Errorf("its name is empty")
	}
	return nil
}

// name returns the name that a header stands for: "name/", "name", or "/" and an offset in the table of names.
func (r *reader) name(name string) (string, error) {
	if len(name) < 2 || name[0] != '/' {
		if name = strings.TrimSuffix(name, "/"); name == "" {
			return "", fmt.Errorf("its name is empty")
		}
		return name, nil
	}
	// In thin archives binutils ends the field with a slash.
	at, err := strconv.ParseUint(strings.TrimRight(strings.TrimSuffix(name[1:], "/"), " "), 10, 64)
	if err != nil || at >= uint64(len(r.names)) {
		return "", fmt.Errorf("its name %q is not in the table of names", name)
	}
	b := r.names[at:]
	b = b[:min(len(b), maxName)]
	if i := bytes.IndexAny(b, "\n\x00"); i >= 0 { // binutils ends a name with "/\n", Windows with 0
		b = b[:i]
	} else if len(b) == maxName {
		return "", fmt.Errorf("its name is longer than %d bytes", maxName)
	}
	if b = bytes.TrimSuffix(b, []byte("/")); len(b) == 0 {
		return "", fmt.Errorf("its name is empty")
	}
	return string(b), nil
}
