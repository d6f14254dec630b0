package view

import (
	"strings"

	"dbg/eval/natvis"
)

// ShortName returns a type's name as people write it: without the default arguments of the standard
// library's templates, and with std::string for the class behind it.
func ShortName(name string) string {
	if len(name) > 1<<16 || !strings.Contains(name, "<") {
		return strings.ReplaceAll(name, "std::__cxx11::", "std::")
	}
	return short(natvis.ParseTypeName(name))
}

func short(n *natvis.TypeName) string {
	if n.Parts == nil {
		return n.Text
	}
	var b strings.Builder
	std := n.Parts[0].Name == "std"
	for i, p := range n.Parts {
		if std && (p.Name == "__cxx11" || p.Name == "__1") {
			continue
		}
		if i > 0 {
			b.WriteString("::")
		}
		if !p.Template {
			b.WriteString(p.Name)
			continue
		}
		args := make([]string, 0, len(p.Args))
		for _, a := range p.Args {
			args = append(args, short(a))
		}
		if std {
			for k := len(args); k > 1 && isDefault(p.Args[k-1]); k-- {
				args = args[:k-1]
			}
			if text := stringNames[p.Name+"<"+args[0]+">"]; text != "" && len(args) == 1 {
				b.WriteString(text)
				continue
			}
		}
		b.WriteString(p.Name + "<" + strings.Join(args, ", "))
		if len(args) > 0 && strings.HasSuffix(args[len(args)-1], ">") {
			b.WriteByte(' ')
		}
		b.WriteByte('>')
	}
	suffix := n.Suffix
	if strings.HasPrefix(suffix, "const") || strings.HasPrefix(suffix, "volatile") {
		suffix = " " + suffix
	}
	return b.String() + suffix
}

// isDefault reports whether a template argument is one that the standard library has by default.
func isDefault(n *natvis.TypeName) bool {
	if len(n.Parts) < 2 || n.Parts[0].Name != "std" || n.Suffix != "" {
		return false
	}
	switch n.Parts[len(n.Parts)-1].Name {
	case "allocator", "less", "hash", "equal_to", "char_traits", "default_delete":
		return true
	}
	return false
}

var stringNames = map[string]string{
	"basic_string<char>": "string", "basic_string<wchar_t>": "wstring", "basic_string<char8_t>": "u8string",
	"basic_string<char16_t>": "u16string", "basic_string<char32_t>": "u32string",
	"basic_string_view<char>": "string_view", "basic_string_view<wchar_t>": "wstring_view",
}
