package session

import (
	"fmt"
	"math"
	"strings"

	"dbg/eval"
	"dbg/symbols/types"
	"dbg/target"
)

// FormattedText is the text of a printf or a dprintf: a format of the C library and expressions for
// its arguments.
type FormattedText struct {
	Format string // with its escapes, without its quotes
	Args   []string
}

// maxPrintfString bounds the characters of a %s.
const maxPrintfString = 64 << 10

// ParseFormatted parses what follows printf: "FORMAT", EXPR...
func ParseFormatted(text string) (f FormattedText, err error) {
	text = strings.TrimSpace(text)
	if text == "" || text[0] != '"' {
		return f, userText("Bad format string")
	}
	end := 1
	for ; end < len(text) && text[end] != '"'; end++ {
		if text[end] == '\\' {
			end++
		}
	}
	if end >= len(text) {
		return f, userText("Bad format string, non-terminated '\"'")
	}
	f.Format = text[1:end]
	rest := strings.TrimSpace(text[end+1:])
	if rest != "" && rest[0] != ',' {
		return f, userText("Invalid argument syntax")
	}
	for rest != "" {
		var arg string
		if arg, rest = cutArgument(rest[1:]); arg == "" {
			return f, userText("Invalid argument syntax")
		}
		f.Args = append(f.Args, arg)
	}
	verbs, err := parseVerbs(f.Format)
	if err != nil {
		return f, err
	}
	n := 0
	for _, v := range verbs {
		n += v.takes
	}
	if n != len(f.Args) {
		return f, userText("Wrong number of arguments for specified format-string")
	}
	return f, nil
}

// userText is an error whose text is shown as it is.
type userText string

func (e userText) Error() string { return string(e) }

// cutArgument splits text at the first comma outside brackets and quotes. rest begins with that
// comma.
func cutArgument(text string) (arg, rest string) {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '"', '\'':
			for i++; i < len(text) && text[i] != c; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ',':
			if depth <= 0 {
				return strings.TrimSpace(text[:i]), text[i:]
			}
		}
	}
	return strings.TrimSpace(text), ""
}

// verb is a piece of a format: plain text, or one conversion.
type verb struct {
	text  string // plain text, unescaped
	flags string // of a conversion: flags, width and precision
	kind  byte   // the conversion's letter; 0 for text
	takes int    // arguments
}

// parseVerbs splits a format. Length modifiers (h, l, ll, z, j, t, L) have no effect: the
// argument's own type is used.
func parseVerbs(format string) (list []verb, err error) {
	var plain strings.Builder
	flush := func() {
		if plain.Len() > 0 {
			list = append(list, verb{text: plain.String()})
			plain.Reset()
		}
	}
	for i := 0; i < len(format); i++ {
		c := format[i]
		switch {
		case c == '\\' && i+1 < len(format):
			i++
			if e, ok := map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', 'a': '\a', 'b': '\b', 'f': '\f', 'v': '\v', 'e': 033, '\\': '\\', '"': '"'}[format[i]]; ok {
				plain.WriteByte(e)
				continue
			}
			if format[i] < '0' || format[i] > '7' {
				return nil, userText("Unrecognized escape character \\" + string(format[i]) + " in format string.")
			}
			n := 0
			for j := 0; j < 3 && i < len(format) && '0' <= format[i] && format[i] <= '7'; j++ {
				n = n*8 + int(format[i]-'0')
				i++
			}
			i--
			plain.WriteByte(byte(n))
		case c != '%':
			plain.WriteByte(c)
		case i+1 < len(format) && format[i+1] == '%':
			plain.WriteByte('%')
			i++
		default:
			flush()
			j := i + 1
			for j < len(format) && strings.IndexByte("-+ #0'123456789.", format[j]) >= 0 {
				j++
			}
			flags := strings.ReplaceAll(format[i+1:j], "'", "")
			for j < len(format) && strings.IndexByte("hlzjtL", format[j]) >= 0 {
				j++
			}
			if j == len(format) || strings.IndexByte("diouxXcspfFeEgGaA", format[j]) < 0 {
				return nil, userText("Unrecognized format specifier in format string")
			}
			if len(flags) > 12 {
				return nil, userText("Bad format string: the width is too large")
			}
			list = append(list, verb{flags: flags, kind: format[j], takes: 1})
			i = j
		}
	}
	flush()
	return list, nil
}

// Printf formats expressions in a frame.
func (s *Session) Printf(t target.ThreadID, level int, f FormattedText) (string, error) {
	return ask(s, func() (string, error) { return s.printf(f, s.env(t, level)) })
}

func (s *Session) printf(f FormattedText, e *env) (string, error) {
	verbs, err := parseVerbs(f.Format)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	arg := 0
	for _, v := range verbs {
		if v.kind == 0 {
			out.WriteString(v.text)
			continue
		}
		if arg == len(f.Args) {
			return "", userText("Wrong number of arguments for specified format-string")
		}
		value, err := eval.Evaluate(f.Args[arg], e)
		if err != nil {
			return "", err
		}
		arg++
		text, err := v.format(value, e)
		if err != nil {
			return "", err
		}
		out.WriteString(text)
	}
	return out.String(), nil
}

// format formats one value.
func (v *verb) format(value Value, e *env) (string, error) {
	spec := "%" + v.flags
	switch v.kind {
	case 'd', 'i':
		n, err := eval.Int(value, e)
		if err != nil {
			return "", err
		}
		if st := value.Type; st != nil && (st.Strip().Kind == types.Uint || st.Strip().Kind == types.Pointer) && st.Strip().Size == 8 {
			return fmt.Sprintf(spec+"d", n), nil
		}
		return fmt.Sprintf(spec+"d", n), nil
	case 'u', 'o', 'x', 'X':
		n, err := eval.Int(value, e)
		if err != nil {
			return "", err
		}
		u := uint64(n)
		if st := value.Type; st != nil && st.Strip().Size > 0 && st.Strip().Size < 8 {
			u &= 1<<(8*uint(st.Strip().Size)) - 1
		}
		kind := map[byte]string{'u': "d", 'o': "o", 'x': "x", 'X': "X"}[v.kind]
		return fmt.Sprintf(spec+kind, u), nil
	case 'c':
		n, err := eval.Int(value, e)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%"+v.flags+"s", string([]byte{byte(n)})), nil
	case 'p':
		n, err := eval.Int(value, e)
		if err != nil {
			return "", err
		}
		if n == 0 {
			return fmt.Sprintf(spec+"s", "(nil)"), nil
		}
		return fmt.Sprintf(spec+"s", fmt.Sprintf("0x%x", uint64(n))), nil
	case 's':
		text, err := eval.CString(value, e, maxPrintfString)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf(spec+"s", text), nil
	case 'a', 'A':
		x, err := eval.Float(value, e)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf(spec+map[byte]string{'a': "x", 'A': "X"}[v.kind], x), nil
	default:
		x, err := eval.Float(value, e)
		if err != nil {
			return "", err
		}
		if math.IsInf(x, 0) || math.IsNaN(x) {
			return fmt.Sprintf("%"+strings.TrimLeft(v.flags, "0")+"s", strings.ToLower(strings.TrimPrefix(fmt.Sprint(x), "+"))), nil
		}
		return fmt.Sprintf(spec+string(v.kind), x), nil
	}
}
