package natvis

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"sort"
)

// Pos is a place in a file. Both numbers start at 1. Column counts bytes. The zero Pos is unknown.
type Pos struct {
	Line, Column int32
}

// String returns "line:column".
func (p Pos) String() string { return fmt.Sprintf("%d:%d", p.Line, p.Column) }

// Severity tells what a problem means for the views of a file.
type Severity uint8

const (
	Warning Severity = iota // something is ignored
	Error                   // an element is dropped
)

func (s Severity) String() string {
	if s == Error {
		return "error"
	}
	return "warning"
}

// A Problem is something in a file that was not understood.
type Problem struct {
	File     string
	Pos      Pos
	Severity Severity
	Message  string
}

// Error returns the problem on one line: file:line:column: severity: message.
func (p Problem) Error() string {
	return fmt.Sprintf("%s:%s: %s: %s", p.File, p.Pos, p.Severity, p.Message)
}

// A log collects the problems of one file.
type log struct {
	file     string
	lines    []int // the offset after each line feed
	problems []Problem
}

func newLog(file string, data []byte) *log {
	l := &log{file: file}
	for at := 0; ; {
		i := bytes.IndexByte(data[at:], '\n')
		if i < 0 {
			return l
		}
		at += i + 1
		l.lines = append(l.lines, at)
	}
}

// pos converts an offset in the file.
func (l *log) pos(offset int) Pos {
	n := sort.SearchInts(l.lines, offset+1)
	if n > 0 {
		offset -= l.lines[n-1]
	}
	return Pos{Line: int32(n + 1), Column: int32(offset + 1)}
}

func (l *log) add(s Severity, offset int, format string, args ...any) {
	switch {
	case len(l.problems) > maxProblems:
		return
	case len(l.problems) == maxProblems:
		s, format, args = Warning, "too many problems: the rest are not shown", nil
	}
	l.problems = append(l.problems, Problem{l.file, l.pos(offset), s, fmt.Sprintf(format, args...)})
}

// sorted returns the problems in the order of the file. XML's errors in an element were found before
// the others in it.
func (l *log) sorted() []Problem {
	slices.SortStableFunc(l.problems[:min(len(l.problems), maxProblems)], func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Column, b.Pos.Column))
	})
	return l.problems
}

func (l *log) error(offset int, format string, args ...any) { l.add(Error, offset, format, args...) }
func (l *log) warn(offset int, format string, args ...any)  { l.add(Warning, offset, format, args...) }
