package expr

// Operations: DWARF 5, table 7.9, and the GNU extensions in binutils' dwarf2.def.
const (
	opAddr              = 0x03
	opDeref             = 0x06
	opConst1u           = 0x08
	opConst1s           = 0x09
	opConst2u           = 0x0a
	opConst2s           = 0x0b
	opConst4u           = 0x0c
	opConst4s           = 0x0d
	opConst8u           = 0x0e
	opConst8s           = 0x0f
	opConstu            = 0x10
	opConsts            = 0x11
	opDup               = 0x12
	opDrop              = 0x13
	opOver              = 0x14
	opPick              = 0x15
	opSwap              = 0x16
	opRot               = 0x17
	opXderef            = 0x18
	opAbs               = 0x19
	opAnd               = 0x1a
	opDiv               = 0x1b
	opMinus             = 0x1c
	opMod               = 0x1d
	opMul               = 0x1e
	opNeg               = 0x1f
	opNot               = 0x20
	opOr                = 0x21
	opPlus              = 0x22
	opPlusUconst        = 0x23
	opShl               = 0x24
	opShr               = 0x25
	opShra              = 0x26
	opXor               = 0x27
	opBra               = 0x28
	opEq                = 0x29
	opGe                = 0x2a
	opGt                = 0x2b
	opLe                = 0x2c
	opLt                = 0x2d
	opNe                = 0x2e
	opSkip              = 0x2f
	opLit0              = 0x30 // to 0x4f
	opReg0              = 0x50 // to 0x6f
	opBreg0             = 0x70 // to 0x8f
	opRegx              = 0x90
	opFbreg             = 0x91
	opBregx             = 0x92
	opPiece             = 0x93
	opDerefSize         = 0x94
	opXderefSize        = 0x95
	opNop               = 0x96
	opPushObjectAddress = 0x97
	opCall2             = 0x98
	opCall4             = 0x99
	opCallRef           = 0x9a
	opFormTLSAddress    = 0x9b
	opCallFrameCFA      = 0x9c
	opBitPiece          = 0x9d
	opImplicitValue     = 0x9e
	opStackValue        = 0x9f
	opImplicitPointer   = 0xa0
	opAddrx             = 0xa1
	opConstx            = 0xa2
	opEntryValue        = 0xa3
	opConstType         = 0xa4
	opRegvalType        = 0xa5
	opDerefType         = 0xa6
	opXderefType        = 0xa7
	opConvert           = 0xa8
	opReinterpret       = 0xa9

	opGNUPushTLSAddress  = 0xe0
	opGNUUninit          = 0xf0
	opGNUEncodedAddr     = 0xf1
	opGNUImplicitPointer = 0xf2
	opGNUEntryValue      = 0xf3
	opGNUConstType       = 0xf4
	opGNURegvalType      = 0xf5
	opGNUDerefType       = 0xf6
	opGNUConvert         = 0xf7
	opGNUReinterpret     = 0xf9
	opGNUParameterRef    = 0xfa
	opGNUAddrIndex       = 0xfb
	opGNUConstIndex      = 0xfc
	opGNUVariableValue   = 0xfd
)

// opInfo describes an operation for Dump. Each letter of operands is one operand:
//
//	a address   1 2 4 8 unsigned of that size in bytes   b h w q signed of 1, 2, 4, 8 bytes
//	u ULEB128   s SLEB128   o section offset   j branch (signed, 2 bytes)
//	B block with a ULEB128 length   C block with a 1-byte length   E nested expression
//	p pointer, after its encoding byte (DW_EH_PE_*)
type opInfo struct{ name, operands string }

var ops = func() (t [256]opInfo) {
	for op, i := range map[int]opInfo{
		opAddr: {"addr", "a"}, opDeref: {"deref", ""},
		opConst1u: {"const1u", "1"}, opConst1s: {"const1s", "b"}, opConst2u: {"const2u", "2"}, opConst2s: {"const2s", "h"},
		opConst4u: {"const4u", "4"}, opConst4s: {"const4s", "w"}, opConst8u: {"const8u", "8"}, opConst8s: {"const8s", "q"},
		opConstu: {"constu", "u"}, opConsts: {"consts", "s"},
		opDup: {"dup", ""}, opDrop: {"drop", ""}, opOver: {"over", ""}, opPick: {"pick", "1"}, opSwap: {"swap", ""}, opRot: {"rot", ""},
		opXderef: {"xderef", ""}, opAbs: {"abs", ""}, opAnd: {"and", ""}, opDiv: {"div", ""}, opMinus: {"minus", ""}, opMod: {"mod", ""},
		opMul: {"mul", ""}, opNeg: {"neg", ""}, opNot: {"not", ""}, opOr: {"or", ""}, opPlus: {"plus", ""}, opPlusUconst: {"plus_uconst", "u"},
		opShl: {"shl", ""}, opShr: {"shr", ""}, opShra: {"shra", ""}, opXor: {"xor", ""}, opBra: {"bra", "j"},
		opEq: {"eq", ""}, opGe: {"ge", ""}, opGt: {"gt", ""}, opLe: {"le", ""}, opLt: {"lt", ""}, opNe: {"ne", ""}, opSkip: {"skip", "j"},
		opRegx: {"regx", "u"}, opFbreg: {"fbreg", "s"}, opBregx: {"bregx", "us"}, opPiece: {"piece", "u"},
		opDerefSize: {"deref_size", "1"}, opXderefSize: {"xderef_size", "1"}, opNop: {"nop", ""}, opPushObjectAddress: {"push_object_address", ""},
		opCall2: {"call2", "2"}, opCall4: {"call4", "4"}, opCallRef: {"call_ref", "o"}, opFormTLSAddress: {"form_tls_address", ""},
		opCallFrameCFA: {"call_frame_cfa", ""}, opBitPiece: {"bit_piece", "uu"}, opImplicitValue: {"implicit_value", "B"}, opStackValue: {"stack_value", ""},
		opImplicitPointer: {"implicit_pointer", "os"}, opAddrx: {"addrx", "u"}, opConstx: {"constx", "u"}, opEntryValue: {"entry_value", "E"},
		opConstType: {"const_type", "uC"}, opRegvalType: {"regval_type", "uu"}, opDerefType: {"deref_type", "1u"}, opXderefType: {"xderef_type", "1u"},
		opConvert: {"convert", "u"}, opReinterpret: {"reinterpret", "u"},
		opGNUPushTLSAddress: {"GNU_push_tls_address", ""}, opGNUUninit: {"GNU_uninit", ""}, opGNUEncodedAddr: {"GNU_encoded_addr", "p"}, opGNUImplicitPointer: {"GNU_implicit_pointer", "os"},
		opGNUEntryValue: {"GNU_entry_value", "E"}, opGNUConstType: {"GNU_const_type", "uC"}, opGNURegvalType: {"GNU_regval_type", "uu"},
		opGNUDerefType: {"GNU_deref_type", "1u"}, opGNUConvert: {"GNU_convert", "u"}, opGNUReinterpret: {"GNU_reinterpret", "u"},
		opGNUParameterRef: {"GNU_parameter_ref", "4"}, opGNUAddrIndex: {"GNU_addr_index", "u"}, opGNUConstIndex: {"GNU_const_index", "u"},
		opGNUVariableValue: {"GNU_variable_value", "o"},
	} {
		t[op] = i
	}
	return t
}()

// opName returns the operation's name as in the standard.
func opName(op byte) string {
	switch {
	case op >= opLit0 && op < opReg0:
		return "DW_OP_lit" + itoa(op-opLit0)
	case op >= opReg0 && op < opBreg0:
		return "DW_OP_reg" + itoa(op-opReg0)
	case op >= opBreg0 && op < opRegx:
		return "DW_OP_breg" + itoa(op-opBreg0)
	case ops[op].name != "":
		return "DW_OP_" + ops[op].name
	}
	const hex = "0123456789abcdef"
	return "DW_OP_0x" + string([]byte{hex[op>>4], hex[op&15]})
}

func itoa(n byte) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return string([]byte{'0' + n/10, '0' + n%10})
}
