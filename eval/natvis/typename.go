package natvis

import (
	"slices"
	"strings"
)

// A TypeName is the name of a type, or of a constant that is a template argument, as a tree.
type TypeName struct {
	// Text is the name as it was written.
	Text string
	// Parts are the components of the qualified name, from the outermost. nil if the name is not a
	// qualified name: a function's type, an expression, Rust's "&str". Then it is compared as text.
	Parts []NamePart
	// Suffix has const, volatile, pointers, references and array bounds: "const*&[3]".
	Suffix string
	// Wildcard is true for "*" as a whole template argument (Natvis, "Templated classes").
	Wildcard bool

	compared string // the text without what does not distinguish types
}

// A NamePart is a component of a qualified name: "vector" with its arguments in std::vector<int>.
type NamePart struct {
	Name     string
	Template bool // Args is the template's arguments, perhaps none
	Args     []*TypeName
}

// ParseTypeName reads a name. It never fails: what it does not understand is opaque text.
//
// These are equal: names that differ in spaces, `> >` and `>>`, `const T` and `T const`,
// `long unsigned int` and `unsigned long`, `struct S` and `S`, `5ul` and `5`, `T[0]` and `T[]`, and
// the ways to write an unnamed namespace.
func ParseTypeName(text string) *TypeName {
	if len(text) > maxText {
		return &TypeName{Text: text, compared: text}
	}
	p := typeParser{text: text, tokens: lexType(text)}
	return p.typ(0)
}

// Equal reports whether two names are of the same type.
func (n *TypeName) Equal(m *TypeName) bool { return n.compared == m.compared }

// String returns the name as it is compared.
func (n *TypeName) String() string { return n.compared }

// key returns the qualified name without arguments: types of different keys never match.
func (n *TypeName) key() string {
	if n.Parts == nil {
		return n.compared
	}
	return joinParts(n.Parts)
}

func joinParts(parts []NamePart) string {
	if len(parts) == 1 {
		return parts[0].Name
	}
	names := make([]string, len(parts))
	for i := range parts {
		names[i] = parts[i].Name
	}
	return strings.Join(names, "::")
}

// typeKey returns ParseTypeName(text).key(), without parsing template arguments.
func typeKey(text string) string {
	p := typeParser{text: text, tokens: lexType(text), shallow: true}
	return p.typ(0).key()
}

// A typeParser reads the tokens of a name.
type typeParser struct {
	text    string
	tokens  []token
	at      int
	shallow bool // template arguments are skipped
}

func (p *typeParser) peek() string {
	if p.at < len(p.tokens) {
		return p.tokens[p.at].text
	}
	return ""
}

// is reports whether the next token is this punctuation or word, and takes it.
func (p *typeParser) is(text string) bool {
	if p.peek() == text {
		p.at++
		return true
	}
	return false
}

// ended reports whether a type ends here. depth > 0 is inside of template arguments.
func (p *typeParser) ended(depth int) bool {
	return p.at >= len(p.tokens) || depth > 0 && (p.peek() == "," || p.peek() == ">")
}

// typ reads one type or constant.
func (p *typeParser) typ(depth int) *TypeName {
	start := p.at
	if depth < maxDepth {
		if n := p.qualified(depth); n != nil && p.ended(depth) {
			n.Text = p.source(start)
			return n
		}
	}
	p.at = start
	p.skip(depth)
	return &TypeName{Text: p.source(start), compared: join(p.tokens[start:p.at])}
}

// source returns the text from token start to here.
func (p *typeParser) source(start int) string {
	if start == p.at {
		return ""
	}
	return p.text[p.tokens[start].from:p.tokens[p.at-1].to]
}

// skip reads to the end of a type that is opaque. Brackets of all kinds nest. Inside of
// parentheses ">" may be greater-than.
func (p *typeParser) skip(depth int) {
	var open []string
	for ; p.at < len(p.tokens); p.at++ {
		switch t := p.peek(); t {
		case "(", "[", "<":
			open = append(open, t)
		case ")", "]":
			n := len(open) - 1
			for n >= 0 && open[n] == "<" {
				n--
			}
			if n >= 0 {
				open = open[:n]
			}
		case ">":
			if n := len(open) - 1; n >= 0 {
				if open[n] == "<" {
					open = open[:n]
				}
			} else if depth > 0 {
				return
			}
		case ",":
			if len(open) == 0 && depth > 0 {
				return
			}
		}
	}
}

// qualified reads a qualified name with what is around it, or returns nil.
func (p *typeParser) qualified(depth int) *TypeName {
	if depth > 0 && p.is("*") {
		return &TypeName{Wildcard: true, compared: "*"}
	}
	n := &TypeName{}
	cv := p.cv("")
	p.is("::")
	if n.Parts = p.integer(); n.Parts == nil {
		if n.Parts = p.components(depth); n.Parts == nil {
			return nil
		}
	}
	n.Suffix = p.suffix(p.cv(cv))
	n.compared = n.text()
	return n
}

// text returns the name as it is compared, from its parts.
func (n *TypeName) text() string {
	var b strings.Builder
	for i, part := range n.Parts {
		if i > 0 {
			b.WriteString("::")
		}
		b.WriteString(part.Name)
		if !part.Template {
			continue
		}
		b.WriteByte('<')
		for i, arg := range part.Args {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(arg.compared)
		}
		b.WriteByte('>')
	}
	if n.Suffix != "" && isWord(n.Suffix[0]) {
		b.WriteByte(' ')
	}
	b.WriteString(n.Suffix)
	return b.String()
}

// cv reads const and volatile. before has those that came earlier.
func (p *typeParser) cv(before string) string {
	isConst, isVolatile := strings.Contains(before, "const"), strings.Contains(before, "volatile")
	for {
		switch {
		case p.constFollows() && p.is("const"):
			isConst = true
		case p.is("volatile"):
			isVolatile = true
		case isConst && isVolatile:
			return "const volatile"
		case isConst:
			return "const"
		case isVolatile:
			return "volatile"
		default:
			return ""
		}
	}
}

// constFollows is false for "const::f", where a Rust module has the name.
func (p *typeParser) constFollows() bool {
	return p.at+1 >= len(p.tokens) || p.tokens[p.at+1].text != "::"
}

// suffix reads what follows a qualified name. cv is for the name itself.
func (p *typeParser) suffix(cv string) string {
	start := p.at
	for {
		switch {
		case p.is("*"), p.is("&"), p.is("&&"), p.is("const"), p.is("volatile"), p.is("..."):
			continue
		case p.peek() == "[":
			n := p.at
			for n < len(p.tokens) && p.tokens[n].text != "]" {
				n++
			}
			if n < len(p.tokens) {
				p.at = n + 1
				continue
			}
		}
		// Microsoft's compiler writes an array of unknown length with 0, and its files do.
		rest := strings.ReplaceAll(join(p.tokens[start:p.at]), "[0]", "[]")
		if cv != "" && rest != "" && isWord(rest[0]) {
			return cv + " " + rest
		}
		return cv + rest
	}
}

// integerWords are the words of the built-in types that have several, with Microsoft's.
var integerWords = []string{"unsigned", "signed", "long", "short", "int", "char", "double",
	"__int8", "__int16", "__int32", "__int64"}

// integer reads a built-in type and returns its name in one order of words, or nil.
func (p *typeParser) integer() []NamePart {
	count := map[string]int{}
	start := p.at
	for p.at < len(p.tokens) && slices.Contains(integerWords, p.peek()) {
		count[p.peek()]++
		p.at++
	}
	if p.at == start {
		return nil
	}
	count["char"] += count["__int8"]
	count["short"] += count["__int16"]
	count["int"] += count["__int32"]
	count["long"] += 2 * count["__int64"]
	name := "int"
	switch {
	case count["double"] > 0 && count["long"] > 0:
		name = "long double"
	case count["double"] > 0:
		name = "double"
	case count["char"] > 0:
		name = "char"
	case count["short"] > 0:
		name = "short"
	case count["long"] > 1:
		name = "long long"
	case count["long"] > 0:
		name = "long"
	}
	if count["unsigned"] > 0 {
		name = "unsigned " + name
	} else if count["signed"] > 0 && name == "char" {
		name = "signed char" // a type of its own
	}
	return []NamePart{{Name: name}}
}

// components reads a qualified name, or returns nil.
func (p *typeParser) components(depth int) []NamePart {
	var parts []NamePart
	for {
		if p.at >= len(p.tokens) || !p.tokens[p.at].word {
			return nil
		}
		part := NamePart{Name: p.peek()}
		p.at++
		if p.is("<") {
			part.Template = true
			args, ok := p.args(depth + 1)
			if !ok {
				return nil
			}
			part.Args = args
		}
		// A function around a local class: "f(int) const::S".
		if end := p.function(); end > 0 {
			part.Name += join(p.tokens[p.at:end])
			p.at = end
		}
		parts = append(parts, part)
		if !p.is("::") {
			return parts
		}
	}
}

// args reads template arguments and the ">". ok is false if there is no ">".
func (p *typeParser) args(depth int) (args []*TypeName, ok bool) {
	if p.is(">") {
		return nil, true
	}
	for {
		if p.shallow {
			p.skip(depth)
		} else {
			args = append(args, p.typ(depth))
		}
		if p.is(">") {
			return args, true
		}
		if !p.is(",") {
			return nil, false
		}
	}
}

// function returns the index of the "::" after the parameters of a function, or 0.
func (p *typeParser) function() int {
	if p.peek() != "(" {
		return 0
	}
	depth := 0
	for n := p.at; n < len(p.tokens); n++ {
		switch p.tokens[n].text {
		case "(":
			depth++
		case ")":
			depth--
		}
		if depth > 0 {
			continue
		}
		for n++; n < len(p.tokens); n++ {
			switch p.tokens[n].text {
			case "const", "volatile", "&", "&&":
				continue
			case "::":
				return n
			}
			break
		}
		return 0
	}
	return 0
}
