package ehabi

import (
	"fmt"
	"math/bits"
	"strings"
)

// String returns the instruction as readelf -u prints it: "vsp = vsp + 8", "pop {r4, r14}".
func (op *Op) String() string {
	switch op.Kind {
	case MoveVSP:
		if op.N < 0 {
			return fmt.Sprintf("vsp = vsp - %d", -op.N)
		}
		return fmt.Sprintf("vsp = vsp + %d", op.N)
	case SetVSP:
		return fmt.Sprintf("vsp = r%d", op.First)
	case PopCore:
		return popMask("r", op.Mask)
	case PopWMMXControl:
		return popMask("wCGR", op.Mask)
	case PopVFP, PopVFPX:
		return popRange("D", op)
	case PopWMMX:
		return popRange("wR", op)
	}
	return [...]string{PopRAAuth: "pop {ra_auth_code}", PACModifier: "vsp as modifier for PAC validation", Finish: "finish",
		Refuse: "Refuse to unwind", Reserved: "[Reserved]", Spare: "[Spare]", CutShort: "[cut short]",
		TooFar: "corrupt change to vsp"}[op.Kind]
}

func popMask(prefix string, mask uint16) string {
	var names []string
	for ; mask != 0; mask &= mask - 1 {
		names = append(names, fmt.Sprintf("%s%d", prefix, bits.TrailingZeros16(mask)))
	}
	return "pop {" + strings.Join(names, ", ") + "}"
}

func popRange(prefix string, op *Op) string {
	if op.Count == 1 {
		return fmt.Sprintf("pop {%s%d}", prefix, op.First)
	}
	return fmt.Sprintf("pop {%s%d-%s%d}", prefix, op.First, prefix, op.First+op.Count-1)
}

// append appends the instruction at byte i with its bytes, as readelf -u prints it.
func (c *Code) append(b []byte, i int, op *Op) []byte {
	at := len(b)
	for k := range op.Size {
		b = fmt.Appendf(b, "0x%02x ", c.At(i+k))
	}
	if (op.Kind == PopVFP || op.Kind == PopVFPX) && op.Size == 1 {
		return append(b, op.String()...) // without a column of its own
	}
	for len(b)-at < 10 {
		b = append(b, ' ')
	}
	return append(b, op.String()...)
}
