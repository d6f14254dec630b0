package eval

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"dbg/symbols/types"
	"dbg/target"
)

// nextChar decodes one character of a string with width bytes per element. It returns its length in
// bytes, and whether it is valid.
func nextChar(b []byte, width int) (r rune, n int, ok bool) {
	switch width {
	case 1:
		r, n = utf8.DecodeRune(b)
		return r, n, r != utf8.RuneError || n > 1
	case 2:
		r = rune(b[0]) | rune(b[1])<<8
		if utf16.IsSurrogate(r) {
			if len(b) >= 4 {
				if r2 := utf16.DecodeRune(r, rune(b[2])|rune(b[3])<<8); r2 != utf8.RuneError {
					return r2, 4, true
				}
			}
			return r, 2, false
		}
		return r, 2, true
	}
	u := rawUint(b[:4])
	return rune(u), 4, u <= unicode.MaxRune && utf8.ValidRune(rune(u))
}

// escape returns the first character of b in the form of a literal.
func escape(b []byte, width int, quote rune) string {
	r, n, ok := nextChar(b, width)
	if ok {
		switch {
		case r == quote || r == '\\':
			return `\` + string(r)
		case r < 0x80:
			if i := strings.IndexRune("\a\b\f\n\r\t\v", r); i >= 0 {
				return `\` + string("abfnrtv"[i])
			}
			if r >= ' ' && r < 0x7f {
				return string(r)
			}
		case unicode.IsPrint(r):
			return string(r)
		}
	}
	var s strings.Builder
	for i := 0; i < n; i += width {
		u := rawUint(b[i:min(i+width, len(b))])
		if u <= 0o777 {
			fmt.Fprintf(&s, `\%03o`, u)
		} else {
			fmt.Fprintf(&s, `\x%x`, u)
		}
	}
	return s.String()
}

// quoted formats a string as gdb does: long runs of one character are separate, "abc", '\000'
// <repeats 12 times>. It formats at most limit characters. more means that there are others after
// b.
func quoted(b []byte, width int, prefix string, limit int, more bool) string {
	return quotedRuns(b, width, prefix, limit, more, repeats)
}

// quotedRuns is quoted with the number of equal characters that are not counted.
func quotedRuns(b []byte, width int, prefix string, limit int, more bool, repeats int) string {
	b = b[:len(b)/width*width]
	if len(b) == 0 && !more {
		return prefix + `""`
	}
	var out strings.Builder
	open, first := false, true
	separate := func() {
		if open {
			out.WriteByte('"')
			open = false
		}
		if !first {
			out.WriteString(", ")
		}
		first = false
	}
	i := 0
	for count := 0; i < len(b) && count < limit; {
		_, n, ok := nextChar(b[i:], width)
		if !ok && width == 1 && isIncomplete(b[i:]) && !more {
			separate()
			out.WriteString("<incomplete sequence ")
			for ; i < len(b); i++ {
				fmt.Fprintf(&out, `\%03o`, b[i])
			}
			out.WriteByte('>')
			break
		}
		c := string(b[i : i+n])
		run := 1
		for j := i + n; j+n <= len(b) && string(b[j:j+n]) == c; j += n {
			run++
		}
		if run > repeats {
			separate()
			fmt.Fprintf(&out, "%s'%s' <repeats %d times>", prefix, escape(b[i:], width, '\''), run)
			i += n * run
			count += run
			continue
		}
		if !open {
			separate()
			out.WriteString(prefix + `"`)
			open = true
		}
		out.WriteString(escape(b[i:], width, '"'))
		i += n
		count++
	}
	if open {
		out.WriteByte('"')
	}
	if first {
		out.WriteString(prefix + `""`)
	}
	if more || i < len(b) {
		out.WriteString("...")
	}
	return out.String()
}

// readString reads elements up to a zero, and at most limit. ended means that it found the zero.
// err is the error for memory after b that could not be read. Reads cross a page only if necessary,
// so that a string at the end of a mapping can be read.
func readString(mem target.Memory, a target.Addr, width, limit int) (b []byte, ended bool, err error) {
	const page = 4096
	want := limit * width
	for len(b) < want {
		at := a + target.Addr(len(b))
		n := min(want-len(b), 256, page-int(uint64(at)%page))
		n = max(n/width*width, width)
		chunk := make([]byte, n)
		got, err := mem.ReadMemory(at, chunk)
		got = min(max(got, 0), n)
		for i := 0; i+width <= got; i += width {
			if rawUint(chunk[i:i+width]) == 0 {
				return append(b, chunk[:i]...), true, nil
			}
		}
		b = append(b, chunk[:got/width*width]...)
		if err != nil || got < n {
			return b, false, cannotAccess(err, at+target.Addr(got))
		}
	}
	return b, false, nil
}

// stringAt writes the string at an address.
func (p *printer) stringAt(a target.Addr, width int, prefix string) {
	s, _ := stringText(p.env, a, width, prefix, p.opt.MaxElements)
	p.str(s)
}

// stringText returns the string at an address as a literal, and its size in memory in bytes, with
// its zero.
func stringText(mem target.Memory, a target.Addr, width int, prefix string, limit int) (string, int) {
	if width != 1 && width != 2 && width != 4 {
		return "", 0
	}
	b, ended, err := readString(mem, a, width, limit)
	more := false
	used := len(b)
	if ended {
		used += width
	} else if err == nil {
		// The string may be exactly as long as the limit.
		next := make([]byte, width)
		if _, e := mem.ReadMemory(a+target.Addr(len(b)), next); e != nil || rawUint(next) != 0 {
			more = true
		} else {
			used += width
		}
	}
	out := ""
	if len(b) > 0 || err == nil {
		out = quoted(b, width, prefix, limit, more)
	}
	if err != nil {
		out += "<error: " + err.Error() + ">"
	}
	return out, used
}

// isText reports whether the value is an array of characters.
func isText(v Value) bool {
	if kindOf(v.Type) != types.Array {
		return false
	}
	_, ok := charKind(elemOf(v.Type))
	return ok
}

// charArray writes an array of characters without its last zero.
func (p *printer) charArray(v Value, prefix string) {
	width := int(sizeOf(elemOf(v.Type)))
	total := sizeOf(v.Type)
	b, more := v.Bytes, false
	if b == nil {
		n := min(total, max(maxKeep, int64(p.opt.MaxElements*width)))
		b = make([]byte, n)
		got, err := p.env.ReadMemory(v.Addr, b)
		if err != nil || int64(got) < n {
			if got = max(got, 0); got < width {
				p.str("<error: " + cannotAccess(err, v.Addr).Error() + ">")
				return
			}
			p.str(quoted(b[:got], width, prefix, p.opt.MaxElements, false))
			p.str("<error: " + cannotAccess(err, v.Addr+target.Addr(got)).Error() + ">")
			return
		}
		more = n < total
	}
	if n := len(b); !more && n >= width && rawUint(b[n-width:n]) == 0 {
		b = b[:n-width]
	}
	if p.opt.StopAtNull {
		for i := 0; i+width <= len(b); i += width {
			if rawUint(b[i:i+width]) == 0 {
				b, more = b[:i], false
				break
			}
		}
	}
	p.str(quotedRuns(b, width, prefix, p.opt.MaxElements, more, p.opt.Repeats))
}

// isIncomplete reports whether a UTF-8 sequence is incomplete. glibc, and so gdb, also treats F5 to
// F7 as the start of a sequence.
func isIncomplete(b []byte) bool {
	if len(b) < 4 && b[0] >= 0xf5 && b[0] <= 0xf7 {
		for _, c := range b[1:] {
			if c&0xc0 != 0x80 {
				return false
			}
		}
		return true
	}
	return !utf8.FullRune(b)
}
