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
	return newTypeParser(text).typ(0)
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
	p := newTypeParser(text)
	p.shallow = true
	return p.typ(0).key()
}

// A typeParser reads the tokens of a name.
type typeParser struct {
	text    string
	tokens  []token
	close   []int // see closeBrackets
	at      int
	shallow bool // template arguments are skipped
}

func newTypeParser(text string) *typeParser {
	tokens := lexType(text)
	return &typeParser{text: text, tokens: tokens, close: closeBrackets(tokens)}
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

// skip reads to the end of a type that is opaque.
func (p *typeParser) skip(depth int) {
	for !p.ended(depth) {
		if end := p.close[p.at]; end > 0 {
			p.at = end
		}
		p.at++
	}
}

// closeBrackets returns for each token that is an opening bracket the index of the one that closes
// it. It is 0 for all others. Brackets of all kinds nest. "<" without ">" is less-than, and ">"
// directly in parentheses is greater-than.
func closeBrackets(tokens []token) []int {
	closed := make([]int, len(tokens))
	var open []int
	for i, t := range tokens {
		if t.word {
			continue
		}
		switch t.text {
		case "(", "[", "<":
			open = append(open, i)
		case ">":
			if n := len(open) - 1; n >= 0 && tokens[open[n]].text == "<" {
				closed[open[n]] = i
				open = open[:n]
			}
		case ")", "]":
			n := len(open) - 1
			for n >= 0 && tokens[open[n]].text == "<" {
				n--
			}
			if n >= 0 && tokens[open[n]].text[0] == opening(t.text[0]) {
				closed[open[n]] = i
				open = open[:n]
			}
		}
	}
	return closed
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
		case p.peek() == "[" && p.close[p.at] > 0:
			p.at = p.close[p.at] + 1
			continue
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
	end := p.close[p.at-1]
	if end == 0 {
		return nil, false
	}
	// Whatever is between the brackets, every argument ends at one of their commas, or at the end.
	for !p.shallow && p.at < end {
		args = append(args, p.typ(depth))
		if p.at < end {
			p.at++ // the comma
		}
	}
	p.at = end + 1
	return args, true
}

// function returns the index of the "::" after the parameters of a function, or 0.
func (p *typeParser) function() int {
	if p.peek() != "(" || p.close[p.at] == 0 {
		return 0
	}
	for n := p.close[p.at] + 1; n < len(p.tokens); n++ {
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
