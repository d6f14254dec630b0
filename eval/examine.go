package eval

import (
	"fmt"
	"strings"

	"dbg/symbols/types"
	"dbg/target"
)

// Examine implements gdb's x command, except for instructions: it formats count units of memory by
// a format letter (x d u o t a c f s z), in lines that start with their address. unit is b, h, w or
// g; 0 means the default of the letter. next is the address after the last unit. With an error,
// lines holds the lines before it.
func Examine(addr target.Addr, format byte, unit byte, count int, env Env) (lines []string, next target.Addr, err error) {
	size, ok := map[byte]int{'b': 1, 'h': 2, 'w': 4, 'g': 8, 0: 0}[unit]
	if !ok {
		return nil, addr, errorf("Undefined unit %q.", unit)
	}
	if strings.IndexByte("xduotacfsz\x00", format) < 0 {
		return nil, addr, errorf("Undefined output format %q.", format)
	}
	if count < 0 || count > maxExamine {
		return nil, addr, errorf("%d units are too many to examine", count)
	}
	if format == 0 {
		format = 'x'
	}
	if format == 's' {
		return examineStrings(addr, max(size, 1), count, env)
	}
	switch {
	case format == 'a':
		size = env.Arch().PtrSize
	case size == 0 && format == 'c':
		size = 1
	case size == 0 && format == 'f':
		size = 8
	case size == 0:
		size = 4
	case format == 'f' && size < 4:
		format = 'd'
	}
	perLine := map[int]int{1: 8, 2: 8, 4: 4, 8: 2}[size]
	if format == 'c' {
		perLine = 8
	}
	t := unitType(format, size)
	for count > 0 {
		n := min(count, perLine)
		b := make([]byte, n*size)
		got, rerr := env.ReadMemory(addr, b)
		var line strings.Builder
		line.WriteString(label(addr, env))
		whole := min(max(got, 0), len(b)) / size
		for i := range whole {
			line.WriteString("\t" + unitText(b[i*size:(i+1)*size], t, format, env))
		}
		lines = append(lines, line.String())
		addr += target.Addr(whole * size)
		if rerr != nil || whole < n {
			if whole == 0 {
				lines = lines[:len(lines)-1]
			}
			return lines, addr, cannotAccess(rerr, addr)
		}
		count -= n
	}
	return lines, addr, nil
}

// label returns "0x404020 <arr+4>:".
func label(a target.Addr, env Env) string {
	if s := symbolAt(a, env); s != "" {
		return a.String() + " " + s + ":"
	}
	return a.String() + ":"
}

// unitType returns the type of a unit for a letter.
func unitType(format byte, size int) *types.Type {
	switch {
	case format == 'f' && size == 4:
		return typeFloat
	case format == 'f':
		return typeDouble
	case format == 'c':
		return typeChar
	}
	return typeUlong
}

// unitText formats one unit. Hexadecimal and binary numbers have all their digits.
func unitText(b []byte, t *types.Type, format byte, env Env) string {
	switch format {
	case 'x':
		return fmt.Sprintf("0x%0*x", len(b)*2, rawUint(b))
	case 't':
		return fmt.Sprintf("%0*b", len(b)*8, rawUint(b))
	case 'c':
		if len(b) > 1 {
			p := newPrinter(env, Options{})
			p.char(signExtend(uint64(b[0]), 8), 1, true, "")
			return p.b.String()
		}
	}
	return formatBytes(b, t, Options{Format: format}, env)
}

// examineStrings formats one string per line.
func examineStrings(addr target.Addr, width, count int, env Env) (lines []string, next target.Addr, err error) {
	prefix := map[int]string{1: "", 2: "u", 4: "U"}[width]
	if width == 8 {
		width = 1
	}
	for range count {
		s, used := stringText(env, addr, width, prefix, maxElements)
		lines = append(lines, label(addr, env)+"\t"+s)
		if used == 0 {
			break
		}
		addr += target.Addr(used)
	}
	return lines, addr, nil
}
