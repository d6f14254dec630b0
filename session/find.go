package session

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"dbg/eval"
	"dbg/target"
)

// Search describes a search through memory.
type Search struct {
	Start, Hi target.Addr // Hi is the first address after the range
	Pattern   []byte
	Most      uint64 // results; 0: no limit
}

// SearchResult is the result of a search.
type SearchResult struct {
	Found int
	Last  target.Addr // the last place; valid if Found is not 0
	// Unreadable and Missing are set if the search ended at memory that can't be read: gdb ends
	// there, too.
	Unreadable target.Addr
	Missing    uint64
}

// Errors of ParseSearch, in gdb's words.
var (
	errNoSearchRange   = errors.New("Missing search parameters.")                //lint:ignore ST1005 gdb's words
	errNoSearchPattern = errors.New("Missing search pattern.")                   //lint:ignore ST1005 gdb's words
	errEmptySearch     = errors.New("Empty search range.")                       //lint:ignore ST1005 gdb's words
	errSearchOrder     = errors.New("Invalid search space, end precedes start.") //lint:ignore ST1005 gdb's words
)

// ParseSearch reads "START, +LENGTH|END, VALUE..." in the selected frame. size is the size of the
// values in bytes; 0: each has that of its type. A string ends with a NUL; {char[5]}"hello" is
// one without.
func (s *Session) ParseSearch(text string, size int) (Search, error) {
	return ask(s, func() (Search, error) {
		var out Search
		parts := SplitExpressions(text)
		if len(parts) < 2 {
			return out, errNoSearchRange
		}
		if len(parts) < 3 {
			return out, errNoSearchPattern
		}
		e := s.env(s.selected, s.level)
		number := func(text string) (uint64, error) {
			v, err := eval.Evaluate(text, e)
			if err != nil {
				return 0, err
			}
			a, err := eval.AddressOf(v, e)
			return uint64(a), err
		}
		start, err := number(parts[0])
		if err != nil {
			return out, err
		}
		length, relative := strings.CutPrefix(parts[1], "+")
		n, err := number(length)
		if err != nil {
			return out, err
		}
		switch {
		case !relative && n < start:
			return out, errSearchOrder
		case !relative:
			n = n - start + 1
		case n == 0:
			return out, errEmptySearch
		}
		out.Start, out.Hi = target.Addr(start), target.Addr(start+n)
		if out.Hi < out.Start {
			return out, errors.New("the search range is too large")
		}
		for _, text := range parts[2:] {
			b, err := s.patternOf(text, size, e)
			if err != nil {
				return out, err
			}
			if out.Pattern = append(out.Pattern, b...); len(out.Pattern) > maxPattern {
				return out, fmt.Errorf("the pattern is longer than %d bytes", maxPattern)
			}
		}
		if uint64(len(out.Pattern)) > n {
			return out, errors.New("Search space too small to contain pattern.") //lint:ignore ST1005 gdb's words
		}
		return out, nil
	})
}

// maxPattern limits the bytes of a pattern.
const maxPattern = 1 << 20

var charArray = regexp.MustCompile(`^\{\s*char\s*\[(\d+)\]\s*\}\s*(".*")$`)

// patternOf returns the bytes of one value of a pattern.
func (s *Session) patternOf(text string, size int, e *env) ([]byte, error) {
	// {char[5]}"hello" is a text without its NUL. In gdb the literal gets an address for it.
	cut := -1
	if m := charArray.FindStringSubmatch(text); m != nil {
		n, err := strconv.Atoi(m[1])
		if err != nil || n == 0 || n > maxPattern {
			return nil, fmt.Errorf("bad array size in %s", text)
		}
		cut, text = n, m[2]
	}
	v, err := eval.Evaluate(text, e)
	if err != nil {
		return nil, err
	}
	if v = eval.Fetch(v, e); v.Err != nil {
		return nil, v.Err
	}
	if v.Type == nil || len(v.Bytes) == 0 {
		return nil, fmt.Errorf("%s has no bytes", text)
	}
	if cut > len(v.Bytes) {
		return nil, fmt.Errorf("%s has only %d bytes", text, len(v.Bytes))
	}
	if cut > 0 {
		return bytes.Clone(v.Bytes[:cut]), nil
	}
	if size == 0 {
		return bytes.Clone(v.Bytes), nil
	}
	n, err := eval.Int(v, e)
	if err != nil {
		return nil, err
	}
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(n))
	return b[:size], nil
}

// SplitExpressions splits a text at the commas that are in no quotes, parentheses, brackets or
// braces. It removes the spaces around the parts.
func SplitExpressions(text string) (out []string) {
	depth, quote, from := 0, byte(0), 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote != 0:
			if c == '\\' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case strings.IndexByte("([{", c) >= 0:
			depth++
		case strings.IndexByte(")]}", c) >= 0:
			depth--
		case c == ',' && depth == 0:
			out = append(out, strings.TrimSpace(text[from:i]))
			from = i + 1
		}
	}
	if last := strings.TrimSpace(text[from:]); last != "" {
		out = append(out, last)
	}
	return out
}

// Find searches memory and calls found for each place. Places may overlap. Afterwards $_ is the
// last place, if there is one, and $numfound the number of places, with those of earlier parts of
// the search, of which there were before.
func (s *Session) Find(q Search, before int, found func(a target.Addr)) (SearchResult, error) {
	return ask(s, func() (SearchResult, error) {
		var r SearchResult
		if len(q.Pattern) == 0 || q.Hi <= q.Start {
			return r, errEmptySearch
		}
		err := s.find(&q, &r, found)
		s.setNumbers(&r, before)
		return r, err
	})
}

// find searches piece by piece. A piece begins with the last bytes of the one before it.
func (s *Session) find(q *Search, r *SearchResult, found func(a target.Addr)) error {
	const piece = 1 << 20
	size := len(q.Pattern)
	buf := make([]byte, piece+size)
	have, at := 0, q.Start // buf[:have] is the memory at at
	for {
		if s.cutShort() {
			return s.ctx.Err()
		}
		next := at + target.Addr(have)
		want := int(min(target.Addr(len(buf)-have), q.Hi-next))
		n, err := s.readMemory(next, buf[have:have+want])
		have += n
		if err != nil && n < want {
			r.Unreadable, r.Missing = next, uint64(want)
		}
		for from := 0; ; {
			i := bytes.Index(buf[from:have], q.Pattern)
			if i < 0 {
				break
			}
			r.Found++
			r.Last = at + target.Addr(from+i)
			found(r.Last)
			if q.Most > 0 && uint64(r.Found) == q.Most {
				r.Missing = 0
				return nil
			}
			from += i + 1
			if r.Found%4096 == 0 && s.cutShort() {
				return s.ctx.Err()
			}
		}
		if r.Missing != 0 || at+target.Addr(have) >= q.Hi {
			return nil
		}
		keep := min(size-1, have)
		copy(buf, buf[have-keep:have])
		at, have = at+target.Addr(have-keep), keep
	}
}

// setNumbers sets $numfound and $_.
func (s *Session) setNumbers(r *SearchResult, before int) {
	e := s.env(s.selected, s.level)
	set := func(name, text string) {
		if v, err := eval.Evaluate(text, e); err == nil {
			e.SetConvenience(name, v)
		}
	}
	set("numfound", fmt.Sprintf("(int) %d", before+r.Found))
	if r.Found > 0 {
		set("_", fmt.Sprintf("(void *) 0x%x", uint64(r.Last)))
	}
}
