package unwindtable

// shape is how the operands of an instruction are printed.
type shape uint8

const (
	none shape = iota
	move
	place
	reg
	regAt
	regAtNegative
	regIs
	regIn
	regOffset
	regOffsetFactored
	plain
	plainFactored
	block
	regBlock
)

// forms lists the call frame instructions: DWARF 5, table 7.29, and the vendors' ones.
var forms = [256]struct {
	name  string
	shape shape
}{
	0x40: {"advance_loc", move},
	0x80: {"offset", regAt},
	0xc0: {"restore", reg},
	0x00: {"nop", none},
	0x01: {"set_loc", place},
	0x02: {"advance_loc1", move},
	0x03: {"advance_loc2", move},
	0x04: {"advance_loc4", move},
	0x05: {"offset_extended", regAt},
	0x06: {"restore_extended", reg},
	0x07: {"undefined", reg},
	0x08: {"same_value", reg},
	0x09: {"register", regIn},
	0x0a: {"remember_state", none},
	0x0b: {"restore_state", none},
	0x0c: {"def_cfa", regOffset},
	0x0d: {"def_cfa_register", reg},
	0x0e: {"def_cfa_offset", plain},
	0x0f: {"def_cfa_expression", block},
	0x10: {"expression", regBlock},
	0x11: {"offset_extended_sf", regAt},
	0x12: {"def_cfa_sf", regOffsetFactored},
	0x13: {"def_cfa_offset_sf", plainFactored},
	0x14: {"val_offset", regIs},
	0x15: {"val_offset_sf", regIs},
	0x16: {"val_expression", regBlock},
	0x1d: {"MIPS_advance_loc8", move},
	0x2c: {"AARCH64_negate_ra_state_with_pc", none},
	0x2d: {"GNU_window_save", none},
	0x2e: {"GNU_args_size", plain},
	0x2f: {"GNU_negative_offset_extended", regAtNegative},
	0x30: {"LLVM_def_aspace_cfa", regOffset},
	0x31: {"LLVM_def_aspace_cfa_sf", regOffsetFactored},
}
