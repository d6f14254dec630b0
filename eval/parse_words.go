package eval

import (
	"slices"
	"strings"

	"dbg/symbols/lang"
	"dbg/symbols/types"
)

// typeWord reports whether a word is a keyword that names a type, or a part of one.
func typeWord(w string) bool {
	return isTypeWord(w) || extraTypes[w] != nil || isComplexWord(w) || w == "__signed__"
}

func isComplexWord(w string) bool { return w == "_Complex" || w == "__complex__" || w == "__complex" }

// extraTypes are the types of GNU C that have a name of their own.
var extraTypes = map[string]*types.Type{
	"_Float16": types.New(types.Float, "_Float16", 2, true, nil), "_Float32": types.New(types.Float, "_Float32", 4, true, nil),
	"_Float64": types.New(types.Float, "_Float64", 8, true, nil), "_Float128": typeQuad,
	"__float128": types.New(types.Float, "__float128", 16, true, nil), "__int128_t": typeInt128, "__uint128_t": typeUint128,
	"_Float32x": types.New(types.Float, "_Float32x", 8, true, nil), "_Float64x": types.New(types.Float, "_Float64x", 16, true, nil),
}

// wordsType returns the type that keywords name, and its usual name.
func wordsType(words []string) (*types.Type, string) {
	if len(words) == 1 && extraTypes[words[0]] != nil {
		t := extraTypes[words[0]]
		return t, t.Name
	}
	complex := slices.ContainsFunc(words, isComplexWord)
	if !complex {
		return builtinType(words)
	}
	rest := slices.DeleteFunc(slices.Clone(words), isComplexWord)
	if len(rest) == 0 {
		rest = []string{"double"}
	}
	t, name := builtinType(rest)
	if t == nil || t.Kind != types.Float {
		return nil, ""
	}
	c := types.New(types.Complex, "complex "+name, 2*t.Size, true, nil)
	c.Quad = t.Quad
	return c, c.Name
}

// classScope parses the C::* of a pointer to member, T C::*. The current token is a name. It reads nothing
// and returns nil if that is not what comes next.
func (p *parser) classScope() *types.Type {
	if p.tok.kind != tokName || p.lenient {
		return nil
	}
	l := p.lex
	star, err := l.next()
	if err != nil || star.text != "::" {
		return nil
	}
	if star, err = l.next(); err != nil || star.kind != tokPunct || star.text != "*" {
		return nil
	}
	class := p.env.Type(p.tok.text)
	if !isStruct(class) {
		return nil
	}
	p.lex = l
	p.advance()
	return class.Strip()
}

// memberPointerTo returns the type of a pointer to a member of a class.
func memberPointerTo(class, t *types.Type) *types.Type {
	size := int64(8)
	if kindOf(t) == types.Func {
		size = 16
	}
	return types.NewMemberPointer(class, t, size)
}

// findType finds a type by its name, in which the arguments of templates may be keywords as a user types
// them: g++ writes Box<short int> for Box<short>.
func (p *parser) findType(name string) *types.Type {
	t := p.env.Type(name)
	if t == nil && p.lex.lang == lang.Go {
		return goType(name, p.env)
	}
	if t == nil && strings.Contains(name, "<") {
		if full := gnuArguments(name); full != name {
			t = p.env.Type(full)
		}
	}
	return t
}

// gnuWords are the names that GCC gives to types whose name has several words.
var gnuWords = map[string]string{"short": "short int", "unsigned short": "short unsigned int", "long": "long int",
	"unsigned long": "long unsigned int", "long long": "long long int", "unsigned long long": "long long unsigned int"}

// gnuArguments replaces the keywords in the arguments of templates by the names of GCC.
func gnuArguments(name string) string {
	var out strings.Builder
	var words []string
	level := 0
	flush := func() {
		text := strings.Join(words, " ")
		if t, usual := builtinType(words); t != nil {
			if text = usual; gnuWords[usual] != "" {
				text = gnuWords[usual]
			}
		}
		out.WriteString(text)
		words = nil
	}
	for i := 0; i < len(name); {
		c := name[i]
		end := i
		for end < len(name) && isNamePart(name[end]) {
			end++
		}
		switch w := name[i:end]; {
		case w != "" && level > 0 && isTypeWord(w):
			words = append(words, w)
			i = end
			continue
		case c == ' ' && len(words) > 0:
			i++
			continue
		}
		if len(words) > 0 {
			flush()
			if end > i {
				out.WriteByte(' ')
			}
		}
		if end > i {
			out.WriteString(name[i:end])
			i = end
			continue
		}
		switch c {
		case '<':
			level++
		case '>':
			level--
		}
		out.WriteByte(c)
		i++
	}
	flush()
	return out.String()
}
