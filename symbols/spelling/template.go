package spelling

import (
	"slices"
	"strings"
)

// TypeSpellings returns the names that compilers give to a C++ type whose name a user has typed: a name
// with template arguments has spaces and "const" in other places, and the arguments that a template of
// the standard library has by default. It returns nil for a name without template arguments.
func TypeSpellings(name string) []string {
	if len(name) > maxTypeName || !strings.Contains(name, "<") {
		return nil
	}
	p := typeParser{text: name}
	t := p.parse(0)
	if p.i != len(name) || p.bad || t.other != "" {
		return nil
	}
	var out []string
	for _, whole := range []bool{true, false} {
		for _, s := range []typeStyle{{gcc: true}, {}, {nested: true}} {
			s.defaults = whole
			if text := t.write(s); !slices.Contains(out, text) {
				out = append(out, text)
			}
		}
	}
	return out
}

const maxTypeName, maxTypeDepth = 4096, 64

// typeText is a parsed type name: "const ns::a<int>::b *" is a Const with two parts and one suffix.
type typeText struct {
	parts  []typePart
	cv     []string // "const", "volatile" of what parts name
	suffix []string // "*", "&", "&&", "const" after a "*"
	other  string   // a literal, or a type that is not understood, as it was typed
}

type typePart struct {
	name     string
	template bool
	args     []typeText
}

type typeParser struct {
	text string
	i    int
	bad  bool
}

func (p *typeParser) spaces() {
	for p.i < len(p.text) && p.text[p.i] == ' ' {
		p.i++
	}
}

// parse reads a type up to a "," or ">" outside brackets.
func (p *typeParser) parse(depth int) (t typeText) {
	if depth > maxTypeDepth {
		p.bad = true
		return t
	}
	start := p.i
	for !p.bad {
		p.spaces()
		if p.i == len(p.text) || p.text[p.i] == ',' || p.text[p.i] == '>' {
			break
		}
		switch c := p.text[p.i]; {
		case c == '*':
			t.suffix = append(t.suffix, "*")
			p.i++
		case strings.HasPrefix(p.text[p.i:], "&&"):
			t.suffix = append(t.suffix, "&&")
			p.i += 2
		case c == '&':
			t.suffix = append(t.suffix, "&")
			p.i++
		case isWord(c) || c == ':':
			word := p.word()
			switch {
			case (word == "const" || word == "volatile") && len(t.suffix) > 0:
				t.suffix = append(t.suffix, word)
			case word == "const" || word == "volatile":
				t.cv = append(t.cv, word)
			case len(t.suffix) > 0:
				return p.opaque(start)
			default:
				p.component(&t, word, depth)
			}
		default:
			return p.opaque(start)
		}
	}
	if len(t.parts) == 0 {
		return p.opaque(start)
	}
	return t
}

// component adds a word to a qualified name. "unsigned long" is one component.
func (p *typeParser) component(t *typeText, word string, depth int) {
	if n := len(t.parts); n > 0 && !strings.HasPrefix(word, "::") {
		if t.parts[n-1].template {
			p.bad = true
			return
		}
		t.parts[n-1].name += " " + word
	} else {
		t.parts = append(t.parts, typePart{name: word})
	}
	if p.i == len(p.text) || p.text[p.i] != '<' {
		return
	}
	part := &t.parts[len(t.parts)-1]
	part.template = true
	p.i++
	for !p.bad {
		p.spaces()
		if p.i < len(p.text) && p.text[p.i] == '>' {
			p.i++
			return
		}
		part.args = append(part.args, p.parse(depth+1))
		if p.i < len(p.text) && p.text[p.i] == ',' {
			p.i++
			continue
		}
		if p.i == len(p.text) {
			p.bad = true
		}
	}
}

func isWord(c byte) bool {
	return c == '_' || c == '$' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}

// word reads a name with its "::", up to a "<" or another character.
func (p *typeParser) word() string {
	start := p.i
	for p.i < len(p.text) && (isWord(p.text[p.i]) || p.text[p.i] == ':') {
		p.i++
	}
	return p.text[start:p.i]
}

// opaque takes what is not understood as it was typed.
func (p *typeParser) opaque(start int) typeText {
	level := 0
	for p.i = start; p.i < len(p.text); p.i++ {
		switch c := p.text[p.i]; {
		case strings.IndexByte("(<[{", c) >= 0:
			level++
		case level > 0 && strings.IndexByte(")>]}", c) >= 0:
			level--
		case level == 0 && (c == ',' || c == '>'):
			return typeText{other: strings.TrimSpace(p.text[start:p.i])}
		}
	}
	return typeText{other: strings.TrimSpace(p.text[start:])}
}

// typeStyle is how a compiler writes names.
type typeStyle struct {
	gcc      bool // "char const*", "> >"; clang has "const char *", ">>"
	nested   bool // clang before version 14: "> >"
	defaults bool // add default arguments
}

func (t *typeText) write(s typeStyle) string {
	if t.other != "" {
		return t.other
	}
	var b strings.Builder
	if !s.gcc {
		for _, q := range t.cv {
			b.WriteString(q + " ")
		}
	}
	qualified := ""
	for i := range t.parts {
		part := &t.parts[i]
		qualified += part.name
		if !part.template {
			if full := standardAlias[qualified]; full != "" && len(t.parts) == 1 && s.defaults {
				b.WriteString(closeTemplates(full, s))
			} else {
				b.WriteString(part.name)
			}
			continue
		}
		b.WriteString(part.name + "<")
		args := make([]string, len(part.args))
		for j := range part.args {
			args[j] = part.args[j].write(s)
		}
		if s.defaults && i == len(t.parts)-1 {
			args = withDefaults(qualified, args, s)
		}
		b.WriteString(strings.Join(args, ", "))
		if n := len(args); n > 0 && strings.HasSuffix(args[n-1], ">") && (s.gcc || s.nested) {
			b.WriteByte(' ')
		}
		b.WriteByte('>')
	}
	if s.gcc {
		for _, q := range t.cv {
			b.WriteString(" " + q)
		}
	}
	for i, x := range t.suffix {
		word := x == "const" || x == "volatile"
		if !s.gcc && i == 0 || word && s.gcc {
			b.WriteByte(' ')
		}
		b.WriteString(x)
	}
	return b.String()
}

func closeTemplates(name string, s typeStyle) string {
	if s.gcc || s.nested {
		return name
	}
	return strings.ReplaceAll(name, "> >", ">>")
}

// standardAlias has the classes behind typedefs of the standard library that people use as template
// arguments, where compilers write the class.
var standardAlias = map[string]string{
	"std::string":           "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >",
	"std::wstring":          "std::__cxx11::basic_string<wchar_t, std::char_traits<wchar_t>, std::allocator<wchar_t> >",
	"std::string_view":      "std::basic_string_view<char, std::char_traits<char> >",
	"std::filesystem::path": "std::filesystem::__cxx11::path",
}

// defaultArgs has the default arguments of the standard library's class templates: [templates],
// C++23. $1 is the first argument, P a pair with a constant first part.
var defaultArgs = map[string][]string{
	"std::vector":             {"", "std::allocator<$1>"},
	"std::deque":              {"", "std::allocator<$1>"},
	"std::list":               {"", "std::allocator<$1>"},
	"std::__cxx11::list":      {"", "std::allocator<$1>"},
	"std::forward_list":       {"", "std::allocator<$1>"},
	"std::set":                {"", "std::less<$1>", "std::allocator<$1>"},
	"std::multiset":           {"", "std::less<$1>", "std::allocator<$1>"},
	"std::map":                {"", "", "std::less<$1>", "std::allocator<P>"},
	"std::multimap":           {"", "", "std::less<$1>", "std::allocator<P>"},
	"std::unordered_set":      {"", "std::hash<$1>", "std::equal_to<$1>", "std::allocator<$1>"},
	"std::unordered_multiset": {"", "std::hash<$1>", "std::equal_to<$1>", "std::allocator<$1>"},
	"std::unordered_map":      {"", "", "std::hash<$1>", "std::equal_to<$1>", "std::allocator<P>"},
	"std::unordered_multimap": {"", "", "std::hash<$1>", "std::equal_to<$1>", "std::allocator<P>"},
	"std::unique_ptr":         {"", "std::default_delete<$1>"},
	"std::stack":              {"", "std::deque<$1, std::allocator<$1> >"},
	"std::queue":              {"", "std::deque<$1, std::allocator<$1> >"},
	"std::basic_string":       {"", "std::char_traits<$1>", "std::allocator<$1>"},
	"std::basic_string_view":  {"", "std::char_traits<$1>"},
}

// withDefaults adds the arguments that a user has left out. args are written in the style.
func withDefaults(template string, args []string, s typeStyle) []string {
	defaults := defaultArgs[strings.TrimPrefix(template, "::")]
	if len(args) == 0 || len(args) >= len(defaults) || defaults[len(args)] == "" {
		return args
	}
	out := slices.Clone(args)
	for _, d := range defaults[len(args):] {
		if strings.Contains(d, "P") {
			d = strings.Replace(d, "P", pairName(args, s), 1)
		} else {
			if s.gcc || s.nested {
				d = strings.ReplaceAll(d, "$1>", "$1"+spaceBefore(args[0])+">")
			}
			d = strings.ReplaceAll(d, "$1", args[0])
		}
		out = append(out, closeTemplates(d, s))
	}
	return out
}

// pairName returns std::pair<const K, V> with the space that a ">" after it needs.
func pairName(args []string, s typeStyle) string {
	key := "const " + args[0]
	if s.gcc {
		key = args[0] + " const"
	}
	if !s.gcc && !s.nested {
		return "std::pair<" + key + ", " + args[1] + ">"
	}
	return "std::pair<" + key + ", " + args[1] + spaceBefore(args[1]) + "> "
}

// spaceBefore returns the space between a template argument and the ">" after it.
func spaceBefore(arg string) string {
	if strings.HasSuffix(arg, ">") {
		return " "
	}
	return ""
}
