package eval

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"dbg/symbols/types"
)

// real is an exact floating point number of any format. A NaN keeps its payload, because gdb shows
// it.
type real struct {
	neg      bool
	inf, nan bool
	payload  uint64
	frac     int        // bits of the payload's format
	v        *big.Float // the absolute value, if it is neither; nil means 0
	digits   int        // the digits that distinguish any two numbers of the format
}

// Float64 rounds the number to float64.
func (r real) Float64() (float64, bool) {
	f := 0.0
	switch {
	case r.nan:
		f = math.NaN()
	case r.inf:
		f = math.Inf(1)
	case r.v != nil:
		f, _ = r.v.Float64()
	}
	if r.neg {
		f = -f
	}
	return f, true
}

// format is a binary floating point format like those of IEEE 754.
type format struct {
	exp, frac int  // bits
	explicit  bool // the integer bit is stored (x87)
	digits    int  // ceil(1 + p*log10(2)), as gdb computes it
}

var (
	formatHalf   = format{5, 10, false, 5}
	formatBrain  = format{8, 7, false, 4}
	formatSingle = format{8, 23, false, 9}
	formatDouble = format{11, 52, false, 17}
	formatX87    = format{15, 63, true, 21}
	formatQuad   = format{15, 112, false, 36}
)

// floatFormat returns the format of a type. A 16-byte float is in x87 format unless the machine or
// the type's name determines another one: DWARF does not distinguish the two.
func floatFormat(t *types.Type, size int) (format, bool) {
	switch size {
	case 2:
		if strings.Contains(strings.ToLower(t.Name), "bf") {
			return formatBrain, true
		}
		return formatHalf, true
	case 4:
		return formatSingle, true
	case 8:
		return formatDouble, true
	case 10, 12:
		return formatX87, true
	case 16:
		if t.Quad || strings.Contains(t.Name, "128") || strings.Contains(t.Name, "quad") {
			return formatQuad, true
		}
		return formatX87, true
	}
	return format{}, false
}

// floatOf decodes a floating point value.
func floatOf(b []byte, t *types.Type) (real, bool) {
	f, ok := floatFormat(t, len(b))
	if !ok {
		return real{}, false
	}
	return f.decode(b)
}

// decode decodes a number of the format. ok is false if the bytes are not a number.
func (f format) decode(b []byte) (real, bool) {
	var lo, hi uint64
	lo = rawUint(b)
	if len(b) > 8 {
		hi = rawUint(b[8:])
	}
	r := real{digits: f.digits, frac: f.frac}
	var exp, fracHi, fracLo uint64
	one := uint64(0) // the integer bit, if it is not stored
	switch {
	case f.explicit:
		exp, fracLo, r.neg = hi&0x7fff, lo, hi>>15&1 == 1
	case f.frac > 64:
		exp, fracHi, fracLo, r.neg = hi>>48&0x7fff, hi&(1<<48-1), lo, hi>>63 == 1
		one = 1
	default:
		exp, fracLo, r.neg = lo>>f.frac&(1<<f.exp-1), lo&(1<<f.frac-1), lo>>(f.exp+f.frac)&1 == 1
		one = 1
	}
	max := uint64(1)<<f.exp - 1
	if f.explicit && exp != 0 && fracLo>>63 == 0 {
		return real{}, false // an unnormal, pseudo-infinity or pseudo-NaN: not a number (Intel SDM, volume 1, section 8.2.2)
	}
	if exp == max {
		payload := fracLo
		if f.explicit {
			payload &= 1<<63 - 1
		}
		if payload|fracHi != 0 {
			r.nan, r.payload = true, payload
			if f.explicit {
				r.payload = fracLo
			}
		} else {
			r.inf = true
		}
		return r, true
	}
	m := new(big.Int).SetUint64(fracHi)
	m.Lsh(m, 64).Or(m, new(big.Int).SetUint64(fracLo))
	if exp == 0 {
		exp = 1 // denormal
	} else if one == 1 {
		m.Or(m, new(big.Int).Lsh(big.NewInt(1), uint(f.frac)))
	}
	if m.Sign() != 0 {
		x := new(big.Float).SetPrec(128).SetInt(m)
		r.v = x.SetMantExp(x, int(exp)-int(max/2)-f.frac)
	}
	return r, true
}

// encodeFloat encodes n in the format of t, rounded to the nearest.
func encodeFloat(b []byte, n number, t *types.Type) bool {
	f, ok := floatFormat(t, len(b))
	if !ok {
		return false
	}
	plain := n.isFloat && n.exact == nil
	switch {
	case f == formatSingle && plain:
		binary.LittleEndian.PutUint32(b, math.Float32bits(float32(n.f)))
	case f == formatDouble && plain:
		binary.LittleEndian.PutUint64(b, math.Float64bits(n.f))
	default:
		n.real().encode(b, f)
	}
	return true
}

// String formats the number as gdb does: %g with as many digits as the format needs to distinguish
// any two numbers.
func (r real) String() string {
	sign := ""
	if r.neg {
		sign = "-"
	}
	switch {
	case r.nan:
		return fmt.Sprintf("%snan(0x%x)", sign, r.payload)
	case r.inf:
		return sign + "inf"
	case r.v == nil:
		return sign + "0"
	}
	return sign + percentG(r.v, r.digits)
}

// percentG is C's %.*g: it removes trailing zeros, and the exponent has at least two digits.
func percentG(x *big.Float, digits int) string {
	s := x.Text('e', digits-1)
	mant, e, _ := strings.Cut(s, "e")
	exp, err := strconv.Atoi(e)
	if err != nil {
		return s
	}
	if exp < -4 || exp >= digits {
		if strings.Contains(mant, ".") {
			mant = strings.TrimRight(strings.TrimRight(mant, "0"), ".")
		}
		return fmt.Sprintf("%se%+03d", mant, exp)
	}
	s = x.Text('f', digits-1-exp)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}
