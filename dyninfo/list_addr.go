package dyninfo

import (
	"encoding/binary"

	"dbg/arch"
)

// ListAddress returns the address that a function returns whose code is at an address: a library of
// libunwind hides the symbol of its list, but not _U_dyn_info_list_addr. It returns false if the code
// does anything else than to return a constant address. b holds the code, 16 bytes or fewer.
func ListAddress(a *arch.Arch, b []byte, at uint64) (uint64, bool) {
	switch a {
	case arch.AMD64:
		if len(b) >= 4 && string(b[:4]) == "\xf3\x0f\x1e\xfa" { // endbr64
			b, at = b[4:], at+4
		}
		// lea disp32(%rip), %rax; ret
		if len(b) >= 8 && string(b[:3]) == "\x48\x8d\x05" && b[7] == 0xc3 {
			return at + 7 + uint64(int64(int32(binary.LittleEndian.Uint32(b[3:])))), true
		}
	case arch.ARM64:
		if len(b) >= 4 && binary.LittleEndian.Uint32(b) == 0xd503245f { // bti c
			b, at = b[4:], at+4
		}
		if len(b) < 12 {
			return 0, false
		}
		// adrp x0, page; add x0, x0, #offset; ret
		page, add, ret := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint32(b[8:])
		if page&0x9f00001f != 0x90000000 || add&0xffc003ff != 0x91000000 || ret != 0xd65f03c0 {
			return 0, false
		}
		imm := int64(int32(page<<8)>>13)<<2 | int64(page>>29&3)
		return at&^0xfff + uint64(imm<<12) + uint64(add>>10&0xfff), true
	}
	return 0, false
}
