package eval

import (
	"fmt"
	"strings"
	"time"

	"dbg/symbols/lang"
	"dbg/symbols/types"
)

// goNumber returns the text of an integer of a named type of Go: 1.5s for a time.Duration, and the
// name of a constant, main.Green (1), or of constants that are single bits, main.A | main.C (5). It
// returns "" if the type has no such constants.
func goNumber(u uint64, t *types.Type) string {
	if t.Lang != lang.Go || t.Kind != types.Int && t.Kind != types.Uint || !strings.Contains(t.Name, ".") {
		return ""
	}
	n := int64(u)
	if t.Name == "time.Duration" && t.Size == 8 {
		return time.Duration(n).String()
	}
	number := fmt.Sprint(u)
	if isSigned(t) {
		number = fmt.Sprint(n)
	}
	width := uint64(1)<<(8*min(uint(max(t.Size, 1)), 8)-1)<<1 - 1
	var bits []string
	rest := u & width
	for _, c := range t.Enumerators() {
		value := uint64(c.Value) & width
		switch {
		case value == u&width:
			return c.Name + " (" + number + ")"
		case value&(value-1) == 0 && value != 0 && rest&value != 0:
			bits, rest = append(bits, c.Name), rest&^value
		}
	}
	if len(bits) > 1 && rest == 0 && goFlags(t) {
		return strings.Join(bits, " | ") + " (" + number + ")"
	}
	return ""
}

// goFlags reports whether the constants of a type are mostly single bits: 1 << iota has 1, 2 and 4,
// while iota has 3, too.
func goFlags(t *types.Type) bool {
	single, other := 0, 0
	for _, c := range t.Enumerators() {
		if v := uint64(c.Value); v != 0 && v&(v-1) == 0 {
			single++
		} else if v != 0 {
			other++
		}
	}
	return single > 2 && other == 0
}

// goTarget writes what a pointer in an interface leads to, if it has a view: the text of an error.
func (p *printer) goTarget(pointer Value) {
	pointer = load(pointer, p.env)
	if pointer.Avail != Available || integerOf(pointer) == 0 || p.depth > p.opt.MaxDepth {
		return
	}
	v, err := indirect(pointer, p.env)
	if err != nil || !isStruct(v.Type) || ViewOf(v, p.env) == nil {
		return
	}
	p.str(" ")
	p.value(v)
}
