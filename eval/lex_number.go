package eval

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"dbg/symbols/lang"
	"dbg/symbols/types"
)

const errTooLarge = Error("Numeric constant too large.")

// number reads a number with its suffix.
func (l *lexer) number() (token, error) {
	start := l.pos
	hex := l.peek(0) == '0' && (l.peek(1) == 'x' || l.peek(1) == 'X')
	isFloat := false
	for l.pos < len(l.text) {
		c := l.text[l.pos]
		lower := c | 0x20
		switch {
		case c == '.' && l.peek(1) == '.': // a range of Rust: 1..3
			return l.finishNumber(start, isFloat)
		case c == '.' && l.lang == lang.Rust && (isFloat || isNameStart(l.peek(1))): // 1.max(2)
			return l.finishNumber(start, isFloat)
		case c == '.':
			isFloat = true
		case c == '\'':
			// A digit separator of C++ and C23 is between digits.
			if !isHex(l.peek(1)) || l.pos == start || !isHex(l.text[l.pos-1]) {
				return l.finishNumber(start, isFloat)
			}
		case c == '+' || c == '-':
			if p := l.text[l.pos-1] | 0x20; !isFloat || l.pos == start || p != 'e' && p != 'p' || hex && p == 'e' {
				return l.finishNumber(start, isFloat)
			}
		case lower == 'e' && !hex && l.exponent(), lower == 'p' && hex:
			isFloat = true
		case isNamePart(c) && c != '$':
		default:
			return l.finishNumber(start, isFloat)
		}
		l.pos++
	}
	return l.finishNumber(start, isFloat)
}

// exponent reports whether the letter e at the current position starts an exponent, and not a suffix.
func (l *lexer) exponent() bool {
	c := l.peek(1)
	return isDigit(c) || (c == '+' || c == '-') && isDigit(l.peek(2))
}

func (l *lexer) finishNumber(start int, isFloat bool) (token, error) {
	text := l.text[start:l.pos]
	if len(text) > 400 {
		return token{}, errTooLarge
	}
	v, err := l.parseNumber(text, isFloat)
	return token{kind: tokNumber, text: text, value: v}, err
}

// parseNumber parses a constant and gives it the type that it has in the frame's language, with the sizes
// of LP64.
func (l *lexer) parseNumber(text string, isFloat bool) (Value, error) {
	if strings.ContainsFunc(text, func(c rune) bool { return c >= utf8.RuneSelf }) {
		return Value{}, errorf("Invalid number %q.", text)
	}
	if l.lang != lang.Rust && l.lang != lang.Go && strings.Contains(text, "_") && !l.anyLanguage {
		_, suffix, _ := strings.Cut(text, "_")
		return Value{}, errorf("The user-defined literal with the suffix _%s is not supported.", suffix)
	}
	digits := strings.NewReplacer("'", "", "_", "").Replace(text)
	if l.lang == lang.Rust || l.anyLanguage {
		if v, done, err := rustNumber(digits, isFloat); done {
			return v, err
		}
	}
	if isFloat {
		return floatConstant(digits, text)
	}
	if n := len(digits) - 1; n > 0 && isImaginary(digits) {
		v, err := l.integerConstant(digits[:n], text)
		if err != nil {
			return Value{}, err
		}
		im, err := numberOf(v)
		if err != nil {
			return Value{}, err
		}
		return complexValue(typeDouble, number{isFloat: true}, im)
	}
	return l.integerConstant(digits, text)
}

// isImaginary reports whether a constant ends in i or j: GNU C, Go.
func isImaginary(digits string) bool {
	n := len(digits) - 1
	return (digits[n] == 'i' || digits[n] == 'j') && !strings.HasPrefix(strings.ToLower(digits), "0x")
}

// integerConstant parses an integer of C or Go.
func (l *lexer) integerConstant(text, whole string) (Value, error) {
	invalid := errorf("Invalid number %q.", whole)
	digits := strings.ToLower(text)
	suffix := ""
	for n := len(digits) - 1; n > 0 && strings.IndexByte("ulz", digits[n]) >= 0; n-- {
		suffix, digits = text[n:], digits[:n]
	}
	switch strings.ToLower(suffix) {
	case "", "u", "l", "ul", "lu", "ll", "ull", "llu", "z", "uz", "zu":
	default:
		return Value{}, invalid
	}
	native := l.lang == lang.Rust || l.lang == lang.Go
	if strings.Contains(suffix, "lL") || strings.Contains(suffix, "Ll") || suffix != "" && native {
		return Value{}, invalid
	}
	base := 10
	if len(digits) > 1 && digits[0] == '0' {
		switch digits[1] {
		case 'x':
			base, digits = 16, digits[2:]
		case 'b':
			base, digits = 2, digits[2:]
		case 'o':
			base, digits = 8, digits[2:]
		default:
			if l.lang != lang.Rust {
				base, digits = 8, digits[1:]
			}
		}
	}
	u, err := strconv.ParseUint(digits, base, 64)
	switch {
	case isRange(err):
		return Value{}, errTooLarge
	case err != nil:
		return Value{}, invalid
	}
	return intValue(integerType(u, base, strings.ToLower(suffix), l.lang), u), nil
}

func isRange(err error) bool {
	n, ok := err.(*strconv.NumError)
	return ok && n.Err == strconv.ErrRange
}

// integerType is the first type of the list in C17, section 6.4.4.1, that has the value.
func integerType(u uint64, base int, suffix string, l lang.Lang) *types.Type {
	unsigned, long := strings.Contains(suffix, "u"), strings.ContainsAny(suffix, "lz") || l == lang.Go
	longlong := strings.Contains(suffix, "ll")
	switch {
	case !long && !unsigned && u <= math.MaxInt32:
		return typeInt
	case !long && u <= math.MaxUint32 && (unsigned || base != 10):
		return typeUint
	case !unsigned && u <= math.MaxInt64 && longlong:
		return typeLonglong
	case !unsigned && u <= math.MaxInt64:
		if l == lang.Go {
			return typeGoInt
		}
		return typeLong
	case longlong:
		return typeUlonglong
	}
	return typeUlong
}

// floatConstant parses a floating point constant of C or Go.
func floatConstant(digits, whole string) (Value, error) {
	invalid := errorf("Invalid number %q.", whole)
	hex := strings.HasPrefix(strings.ToLower(digits), "0x")
	if hex && !strings.ContainsAny(digits, "pP") {
		return Value{}, invalid
	}
	imaginary := false
	if n := len(digits) - 1; n > 0 && (digits[n] == 'i' || digits[n] == 'j') {
		imaginary, digits = true, digits[:n]
	}
	t := typeDouble
	switch lower := strings.ToLower(digits); {
	case !hex && (strings.HasSuffix(lower, "df") || strings.HasSuffix(lower, "dd") || strings.HasSuffix(lower, "dl")):
		return Value{}, Error("Decimal floating point constants are not supported.")
	case strings.HasSuffix(lower, "f128"):
		t, digits = typeQuad, digits[:len(digits)-4]
	case strings.HasSuffix(lower, "f64"), strings.HasSuffix(lower, "f32"):
		if t = typeDouble; strings.HasSuffix(lower, "f32") {
			t = typeFloat
		}
		digits = digits[:len(digits)-3]
	case strings.HasSuffix(lower, "f"):
		t, digits = typeFloat, digits[:len(digits)-1]
	case strings.HasSuffix(lower, "l"):
		t, digits = typeLongDouble, digits[:len(digits)-1]
	case strings.HasSuffix(lower, "q"):
		t, digits = typeQuad, digits[:len(digits)-1]
	}
	n, ok := parseFloat(digits, t)
	if !ok {
		return Value{}, invalid
	}
	if imaginary {
		return complexValue(t, number{isFloat: true}, n)
	}
	return newValue(t, n)
}

var typeQuad = types.New(types.Float, "_Float128", 16, true, nil)

// parseFloat parses a number and rounds it once to the format of t.
func parseFloat(digits string, t *types.Type) (number, bool) {
	if strings.ContainsAny(digits, "_nN") || digits == "" || digits[0] != '.' && !isDigit(digits[0]) {
		return number{}, false
	}
	bits := int(t.Size) * 8
	if bits <= 64 {
		f, err := strconv.ParseFloat(digits, bits)
		return number{f: f, isFloat: true}, err == nil || isRange(err)
	}
	// The exponents of all formats have fewer than six digits.
	if at := strings.IndexAny(digits, "eEpP"); at >= 0 {
		if n := len(strings.TrimLeft(digits[at+1:], "+-0")); n > 6 {
			return number{}, false
		}
	}
	x, _, err := big.ParseFloat(digits, 0, 1024, big.ToNearestEven)
	if err != nil {
		return number{}, false
	}
	r := real{v: x}
	return number{exact: &r, isFloat: true}, true
}

// rustNumber parses a constant that ends in the name of a type: 1u8, 2.5f32. done is false if it does not.
func rustNumber(digits string, isFloat bool) (v Value, done bool, err error) {
	hex := strings.HasPrefix(digits, "0x")
	at := strings.LastIndexAny(digits, "iuf")
	if at <= 0 || hex && digits[at] == 'f' {
		return Value{}, false, nil
	}
	t := rustPrimitives[digits[at:]]
	if t == nil {
		return Value{}, false, nil
	}
	digits = digits[:at]
	if t.Kind == types.Float {
		n, ok := parseFloat(digits, t)
		if !ok {
			return Value{}, true, errorf("Invalid number %q.", digits)
		}
		v, err = newValue(t, n)
		return v, true, err
	}
	base := 0
	if len(digits) > 1 && digits[0] == '0' && isDigit(digits[1]) {
		base = 10
	}
	n, ok := new(big.Int).SetString(digits, base)
	if isFloat || !ok {
		return Value{}, true, errorf("Invalid number %q.", digits)
	}
	if !fits(n, t) {
		return Value{}, true, errorf("%s is out of range for %s", n, t.Name)
	}
	v, err = newValue(t, numberOfBig(n, t.Signed))
	return v, true, err
}
