package disasm

import "strings"

// predicates are the comparisons that an immediate chooses (Intel SDM, CMPPD; bits 0 to 4).
var predicates = [32]string{
	"eq", "lt", "le", "unord", "neq", "nlt", "nle", "ord", "eq_uq", "nge", "ngt", "false", "neq_oq", "ge", "gt", "true",
	"eq_os", "lt_oq", "le_oq", "unord_s", "neq_us", "nlt_uq", "nle_uq", "ord_s", "eq_us", "nge_uq", "ngt_uq", "false_os",
	"neq_os", "ge_oq", "gt_oq", "true_us",
}

var (
	integerPredicates = []string{"eq", "lt", "le", "", "neq", "nlt", "nle"}
	xopPredicates     = []string{"lt", "le", "gt", "ge", "eq", "neq", "false", "true"}
	carryless         = map[byte]string{0: "lql", 1: "hql", 0x10: "lqh", 0x11: "hqh"}
)

// alias replaces a name and its last immediate by the name of that comparison.
func (t *x86Text) alias(name *string, operands []operand) []operand {
	last := len(operands) - 1
	if last < 2 || operands[last].place != 'I' {
		return operands
	}
	n, imm := *name, byte(t.immediates[0])
	choose := func(stem string, list []string) []operand {
		if int(imm) >= len(list) || list[imm] == "" {
			return operands
		}
		*name = stem + list[imm] + n[len(stem):]
		return operands[:last]
	}
	switch {
	case strings.HasPrefix(n, "cmp"):
		return choose("cmp", predicates[:8])
	case strings.HasPrefix(n, "vcmp"):
		return choose("vcmp", predicates[:])
	case strings.HasPrefix(n, "vpcmp") && t.encoding == evex:
		return choose("vpcmp", integerPredicates)
	case strings.HasPrefix(n, "vpcom") && t.encoding == xop:
		return choose("vpcom", xopPredicates)
	case strings.HasSuffix(n, "pclmulqdq") && carryless[imm] != "":
		*name = strings.TrimSuffix(n, "qdq") + carryless[imm] + "qdq"
		return operands[:last]
	}
	return operands
}
