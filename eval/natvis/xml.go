package natvis

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

// encoding/xml is not used: it has no positions for attributes, and one syntax error ends it. This
// reader goes on after an error and drops only the element that has it.

// An element is an XML element with everything in it.
type element struct {
	name     string
	offset   int // of its "<"
	attrs    []attribute
	children []*element
	text     source // all its own text, without that of the children
	broken   bool   // it has a syntax error: a problem is reported
}

// An attribute is an attribute with its value's place.
type attribute struct {
	name   string
	offset int
	value  source
	used   bool
}

// An xmlReader reads elements from a file.
type xmlReader struct {
	*log
	data []byte
	at   int
	top  string // the name of the root
	done bool   // the root has ended
}

// root reads up to the start tag of the root, and returns the root without its content.
func (x *xmlReader) root() *element {
	for x.at < len(x.data) {
		switch b := x.data[x.at]; {
		case b == '<' && x.markup(nil):
		case x.atStartTag():
			e, empty := x.startTag()
			x.top, x.done = e.name, empty
			return e
		case strings.IndexByte(" \t\r\n", b) >= 0:
			x.at++
		default:
			x.error(x.at, "this is not an XML file")
			return nil
		}
	}
	x.error(x.at, "the file has no element")
	return nil
}

// child returns the next child of the root with everything in it, or nil at the end.
func (x *xmlReader) child() *element {
	for !x.done && x.at < len(x.data) {
		start := x.at
		switch {
		case x.data[x.at] != '<':
			x.at = x.next()
			if len(bytes.TrimSpace(x.data[start:x.at])) > 0 {
				x.warn(start, "text between the elements is ignored")
			}
		case x.markup(nil):
		case x.atStartTag():
			return x.element()
		case x.atEndTag():
			if name := x.endTag(); name == x.top {
				x.done = true
			} else {
				x.error(start, "</%s> closes no element", name)
			}
		default:
			x.error(x.at, "< must be written &lt;")
			x.at++
		}
	}
	if !x.done {
		x.done = true
		x.error(x.at, "the element <%s> is not closed", x.top)
	}
	return nil
}

// A reading is an element whose end tag has not come yet.
type reading struct {
	e    *element
	text sourceBuilder
}

// element reads an element from its start tag to its end tag. If an end tag is missing, the
// element ends where an outer one does.
func (x *xmlReader) element() *element {
	outer, empty := x.startTag()
	if empty {
		return outer
	}
	open := []*reading{{e: outer}}
	count := 1
	pop := func() {
		last := len(open) - 1
		e := open[last].e
		e.text = open[last].text.source()
		open = open[:last]
		if last > 0 && count <= maxElements {
			open[last-1].e.children = append(open[last-1].e.children, e)
		}
	}
	closeTo := func(n int) {
		for len(open) > n {
			e := open[len(open)-1].e
			x.error(e.offset, "the element <%s> is not closed", e.name)
			e.broken = true
			pop()
		}
	}
	for len(open) > 0 {
		in := open[len(open)-1]
		start := x.at
		switch {
		case x.at >= len(x.data):
			closeTo(0)
		case x.data[x.at] != '<':
			x.at = x.next()
			if !x.unescape(&in.text, start, x.at) {
				in.e.broken = true
			}
		case x.markup(&in.text):
		case x.atEndTag():
			name := x.endTag()
			n := len(open) - 1
			for n >= 0 && open[n].e.name != name {
				n--
			}
			switch {
			case n >= 0:
				closeTo(n + 1)
				pop()
			case name == x.top:
				x.at = start // it belongs to child
				closeTo(0)
			default:
				x.error(start, "</%s> closes no element", name)
				in.e.broken = true
			}
		case x.atStartTag():
			e, empty := x.startTag()
			if e.name == "Type" {
				// A Type is never inside of a Type: the end tag of the outer one is missing.
				x.at = start
				closeTo(0)
				return outer
			}
			if count++; count == maxElements+1 {
				x.error(start, "<%s> has more than %d elements", outer.name, maxElements)
				outer.broken = true
			}
			open = append(open, &reading{e: e})
			if empty {
				pop()
			} else if len(open) > maxDepth {
				x.error(start, "elements are nested more than %d deep", maxDepth)
				e.broken = true
				x.skip()
				pop()
			}
		default:
			x.error(start, "< must be written &lt;")
			in.e.broken = true
			in.text.add("<", start, 1)
			x.at++
		}
	}
	return outer
}

// next returns the offset of the next "<", or the end of the file.
func (x *xmlReader) next() int {
	if i := bytes.IndexByte(x.data[x.at:], '<'); i >= 0 {
		return x.at + i
	}
	return len(x.data)
}

func (x *xmlReader) atStartTag() bool {
	return x.data[x.at] == '<' && x.at+1 < len(x.data) && nameByte(x.data[x.at+1])
}

func (x *xmlReader) atEndTag() bool { return bytes.HasPrefix(x.data[x.at:], []byte("</")) }

// endTag reads an end tag and returns its name.
func (x *xmlReader) endTag() string {
	x.at += 2
	name := x.name()
	x.at = x.after('>')
	return name
}

// skip reads past the end tag of an element that is too deep. It looks only at tags.
func (x *xmlReader) skip() {
	for depth := 1; depth > 0; {
		x.at = x.next()
		switch {
		case x.at >= len(x.data):
			return
		case x.markup(nil):
		case x.atEndTag():
			depth--
			x.endTag()
		case x.atStartTag():
			x.at = x.after('>')
			if !bytes.HasSuffix(x.data[:x.at], []byte("/>")) {
				depth++
			}
		default:
			x.at++
		}
	}
}

// after returns the offset after the next b, or the end of the file.
func (x *xmlReader) after(b byte) int {
	if i := bytes.IndexByte(x.data[x.at:], b); i >= 0 {
		return x.at + i + 1
	}
	return len(x.data)
}

// markup reads a comment, a CDATA section, an instruction or a DOCTYPE, if there is one.
func (x *xmlReader) markup(text *sourceBuilder) bool {
	for _, m := range []struct{ begin, end, what string }{
		{"<!--", "-->", "comment"}, {"<![CDATA[", "]]>", "CDATA section"}, {"<?", "?>", "instruction"},
	} {
		if !bytes.HasPrefix(x.data[x.at:], []byte(m.begin)) {
			continue
		}
		from := x.at + len(m.begin)
		n := bytes.Index(x.data[from:], []byte(m.end))
		if n < 0 {
			x.error(x.at, "this %s has no end", m.what)
			x.at = len(x.data)
			return true
		}
		if text != nil && m.begin == "<![CDATA[" {
			text.add(valid(x.data[from:from+n]), from, n)
		}
		x.at = from + n + len(m.end)
		return true
	}
	if !bytes.HasPrefix(x.data[x.at:], []byte("<!")) {
		return false
	}
	x.warn(x.at, "a declaration (<!) is ignored: entities are not expanded")
	// The internal subset of a DOCTYPE has declarations of its own, in brackets.
	to := x.after('>')
	if open := bytes.IndexByte(x.data[x.at:to], '['); open >= 0 {
		if n := bytes.IndexByte(x.data[x.at:], ']'); n >= 0 {
			x.at += n
			to = x.after('>')
		} else {
			to = len(x.data)
		}
	}
	x.at = to
	return true
}

// startTag reads a start tag. empty is true for <x/>.
func (x *xmlReader) startTag() (e *element, empty bool) {
	e = &element{offset: x.at}
	x.at++
	e.name = x.name()
	for {
		x.space()
		if x.at >= len(x.data) {
			x.error(e.offset, "the tag <%s has no end", e.name)
			e.broken = true
			return e, true
		}
		switch b := x.data[x.at]; {
		case b == '>':
			x.at++
			return e, false
		case b == '/' && x.at+1 < len(x.data) && x.data[x.at+1] == '>':
			x.at += 2
			return e, true
		case nameByte(b):
			x.attribute(e)
		default:
			x.error(x.at, "unexpected %q in the tag <%s", rune(b), e.name)
			e.broken = true
			if b == '<' {
				return e, false
			}
			x.at++
		}
	}
}

// attribute reads name="value" into an element.
func (x *xmlReader) attribute(e *element) {
	a := attribute{offset: x.at, name: x.name()}
	x.space()
	if x.at >= len(x.data) || x.data[x.at] != '=' {
		x.error(a.offset, "the attribute %s has no value", a.name)
		e.broken = true
		return
	}
	x.at++
	x.space()
	if x.at >= len(x.data) || x.data[x.at] != '"' && x.data[x.at] != '\'' {
		x.error(a.offset, "the value of the attribute %s has no quotes", a.name)
		e.broken = true
		return
	}
	quote := x.data[x.at]
	from := x.at + 1
	n := bytes.IndexByte(x.data[from:], quote)
	if n < 0 {
		x.error(a.offset, "the value of the attribute %s has no end", a.name)
		e.broken = true
		x.at = len(x.data)
		return
	}
	x.at = from + n + 1
	if i := bytes.IndexByte(x.data[from:from+n], '<'); i >= 0 {
		x.warn(from+i, "< must be written &lt; in the attribute %s", a.name)
	}
	var text sourceBuilder
	if !x.unescape(&text, from, from+n) {
		e.broken = true
	}
	a.value = text.source()
	if len(a.value.marks) == 0 {
		a.value.marks = []mark{{0, from}}
	}
	for i := range e.attrs {
		if e.attrs[i].name == a.name {
			x.warn(a.offset, "the attribute %s is repeated: the first is used", a.name)
			return
		}
	}
	e.attrs = append(e.attrs, a)
}

// entities are the five that XML has without a declaration (XML 1.0, section 4.6).
var entities = map[string]string{"lt": "<", "gt": ">", "amp": "&", "apos": "'", "quot": `"`}

// unescape adds data[from:to] to a text. It reports false if an escape is unknown: it stays as it is.
func (x *xmlReader) unescape(text *sourceBuilder, from, to int) bool {
	ok := true
	for from < to {
		amp := bytes.IndexByte(x.data[from:to], '&')
		if amp < 0 {
			amp = to - from
		}
		if amp > 0 {
			text.add(valid(x.data[from:from+amp]), from, amp)
			from += amp
			continue
		}
		end := bytes.IndexByte(x.data[from:min(to, from+16)], ';')
		if end < 0 {
			x.error(from, "& must be written &amp;")
			ok = false
			text.add("&", from, 1)
			from++
			continue
		}
		name := string(x.data[from+1 : from+end])
		s, known := entities[name]
		if !known {
			s, known = character(name)
		}
		if !known {
			x.error(from, "unknown entity &%s;", name)
			ok = false
			s = "&" + name + ";"
		}
		text.add(s, from, end+1)
		from += end + 1
	}
	return ok
}

// character returns the character of "#65" or "#x41" (XML 1.0, section 4.1).
func character(name string) (string, bool) {
	digits, ok := strings.CutPrefix(name, "#")
	if !ok {
		return "", false
	}
	base := 10
	if hex, ok := strings.CutPrefix(digits, "x"); ok {
		digits, base = hex, 16
	}
	n, err := strconv.ParseUint(digits, base, 21)
	if err != nil || n == 0 || !utf8.ValidRune(rune(n)) {
		return "", false
	}
	return string(rune(n)), true
}

// valid returns text that is UTF-8. A byte that is not becomes "?", so that positions stay true.
func valid(data []byte) string {
	if utf8.Valid(data) {
		return string(data)
	}
	var b strings.Builder
	for len(data) > 0 {
		r, n := utf8.DecodeRune(data)
		if r == utf8.RuneError && n == 1 {
			b.WriteByte('?')
		} else {
			b.Write(data[:n])
		}
		data = data[n:]
	}
	return b.String()
}

// name reads a name. The prefix of a namespace is dropped, except of xmlns and xml.
func (x *xmlReader) name() string {
	from := x.at
	for x.at < len(x.data) && nameByte(x.data[x.at]) {
		x.at++
	}
	name := valid(x.data[from:x.at])
	if i := strings.IndexByte(name, ':'); i >= 0 && !strings.HasPrefix(name, "xml") && !strings.HasPrefix(name, "xsi") {
		name = name[i+1:]
	}
	return name
}

func (x *xmlReader) space() {
	for x.at < len(x.data) && strings.IndexByte(" \t\r\n", x.data[x.at]) >= 0 {
		x.at++
	}
}

func nameByte(b byte) bool {
	return b == '_' || b == ':' || b == '-' || b == '.' || b >= 0x80 ||
		'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9'
}
