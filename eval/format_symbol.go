package eval

import (
	"fmt"
	"strings"

	"dbg/target"
)

// A Locator is an Env that knows the source lines of code.
type Locator interface {
	// SourceLine returns the file, as the compiler was given it, and the line of code at a.
	SourceLine(a target.Addr) (file string, line int, ok bool)
}

// symbol returns "<main+4>", or with SymbolFiles "<main+4 at a.c:3>".
func (p *printer) symbol(a target.Addr) string {
	s := symbolAt(a, p.env)
	if l, ok := p.env.(Locator); ok && p.opt.SymbolFiles && s != "" {
		if file, line, ok := l.SourceLine(a); ok {
			return fmt.Sprintf("%s at %s:%d>", strings.TrimSuffix(s, ">"), file, line)
		}
	}
	return s
}

// radixFormat returns the format of integers in the chosen base, or 0 for their usual form.
func (o *Options) radixFormat() byte {
	switch o.Radix {
	case 8:
		return 'o'
	case 16:
		return 'x'
	}
	return 0
}
