package unwindtable

import (
	"strconv"

	"dbg/arch"
	"dbg/row"
)

// A large library has millions of rules: these write what row.Rule.String and row.Row.CFAString
// give, without allocating.

func appendRule(b []byte, r *row.Rule) []byte {
	switch r.Kind {
	case row.Unspecified:
		return append(b, '-')
	case row.At:
		return appendSigned(append(b, 'c'), r.N)
	case row.Val:
		return appendSigned(append(b, 'v'), r.N)
	}
	return append(b, r.String()...)
}

func appendCFA(b []byte, a *arch.Arch, r *row.Row) []byte {
	if name := a.RegName(r.CFA.Reg); r.CFA.Kind == row.InReg && name != "" {
		return appendSigned(append(b, name...), r.CFA.N)
	}
	return append(b, r.CFAString(a)...)
}

// appendSigned writes a number with its sign.
func appendSigned(b []byte, n int64) []byte {
	if n >= 0 {
		b = append(b, '+')
	}
	return strconv.AppendInt(b, n, 10)
}

// appendHex writes an address.
func appendHex(b []byte, v uint64) []byte {
	return strconv.AppendUint(append(b, '0', 'x'), v, 16)
}

func regName(a *arch.Arch, reg arch.Reg) string {
	if name := a.RegName(reg); name != "" {
		return name
	}
	return "r" + strconv.Itoa(int(reg))
}
