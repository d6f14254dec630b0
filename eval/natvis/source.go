package natvis

import (
	"sort"
	"strings"
)

// A source is text of a file, without XML's escapes. It knows the place of each of its bytes.
type source struct {
	text  string
	base  int    // the index of text[0] in the coordinates of marks
	marks []mark // ascending
}

// A mark tells that the text from index text on is in the file from offset file on, up to the next
// mark. An escape ("&lt;"), a comment or a CDATA section starts a new one.
type mark struct{ text, file int }

// offset returns the place in the file of text[i]. 0 <= i <= len(text).
func (s source) offset(i int) int {
	i += s.base
	n := sort.Search(len(s.marks), func(n int) bool { return s.marks[n].text > i })
	if n == 0 {
		return 0
	}
	m := s.marks[n-1]
	return m.file + i - m.text
}

// slice returns text[from:to].
func (s source) slice(from, to int) source {
	return source{text: s.text[from:to], base: s.base + from, marks: s.marks}
}

// trim removes white space at both ends.
func (s source) trim() source {
	right := strings.TrimRight(s.text, " \t\r\n")
	left := strings.TrimLeft(right, " \t\r\n")
	return s.slice(len(right)-len(left), len(right))
}

// unindent removes white space at both ends if it has a line break. Blanks alone belong to a
// display string: people write them on purpose.
func (s source) unindent() source {
	t := s.trim()
	from, to := t.base-s.base, t.base-s.base+len(t.text)
	if !strings.Contains(s.text[:from], "\n") {
		from = 0
	}
	if !strings.Contains(s.text[to:], "\n") {
		to = len(s.text)
	}
	if from > to {
		return t
	}
	return s.slice(from, to)
}

// A sourceBuilder collects the pieces of a source.
type sourceBuilder struct {
	text  strings.Builder
	marks []mark
	end   int // the offset in the file after the last piece
}

// add appends text. It is in the file at offset, and size bytes long there.
func (b *sourceBuilder) add(text string, offset, size int) {
	escaped := size != len(text)
	if len(b.marks) == 0 || offset != b.end || escaped {
		b.marks = append(b.marks, mark{b.text.Len(), offset})
	}
	b.text.WriteString(text)
	b.end = offset + size
	if escaped {
		b.marks = append(b.marks, mark{b.text.Len(), b.end})
	}
}

func (b *sourceBuilder) source() source { return source{text: b.text.String(), marks: b.marks} }
