package registry

import (
	"encoding/binary"
	"slices"

	"dbg/arch"
	"dbg/code"
	"dbg/target"
)

// Functions of libgcc that refer to its lists. The compiler may put the function into the first part of
// the second one.
var Functions = []string{"__deregister_frame_info_bases", "__deregister_frame_info", "__deregister_frame"}

// CacheFunction is the function of LLVM's libunwind that refers to its array. It may be a jump to code
// that follows it, so CacheFunctionSize bytes are searched.
const (
	CacheFunction     = "__unw_remove_dynamic_fde"
	CacheFunctionSize = 192
)

// MaxFunction is the largest size of a function in which References searches, in bytes.
const MaxFunction = 4 << 10

// References returns the addresses of data that the code of a function at an address refers to. Not all
// of them are right: on x86 an immediate operand may be taken for a part of the address. Another
// architecture than x86-64 and ARM64 has none.
func References(a *arch.Arch, b []byte, at uint64) []uint64 {
	b = b[:min(len(b), MaxFunction)]
	var list []uint64
	switch a {
	case arch.AMD64:
		list = referencesX86(b, at)
	case arch.ARM64:
		list = referencesARM64(b, at)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// referencesX86 takes the last four bytes of each instruction for a displacement from its end if
// the byte before them is that of such an operand: mod 0 and r/m 5.
func referencesX86(b []byte, at uint64) (list []uint64) {
	for len(b) > 0 {
		n := uint64(code.Decode(arch.AMD64, b).Len)
		if n == 0 || n > uint64(len(b)) {
			break
		}
		if n >= 6 && b[n-5]&0xc7 == 0x05 {
			list = append(list, at+n+uint64(int64(int32(binary.LittleEndian.Uint32(b[n-4:])))))
		}
		b, at = b[n:], at+n
	}
	return list
}

// referencesARM64 follows ADRP to the ADD, LDR or STR that completes an address.
func referencesARM64(b []byte, at uint64) (list []uint64) {
	var pages [32]uint64
	for ; len(b) >= 4; b, at = b[4:], at+4 {
		w := binary.LittleEndian.Uint32(b)
		base := pages[w>>5&31]
		switch {
		case w&0x9f000000 == 0x90000000: // ADRP
			imm := int64(int32(w<<8)) >> 13 << 2 // bits 5 to 23
			imm |= int64(w >> 29 & 3)
			pages[w&31] = at&^0xfff + uint64(imm<<12)
		case w&0xffc00000 == 0x91000000 && base != 0: // ADD, 64 bits
			list = append(list, base+uint64(w>>10&0xfff))
		case w&0xff800000 == 0xf9000000 && base != 0: // STR, LDR, 64 bits
			list = append(list, base+uint64(w>>10&0xfff)*8)
		}
	}
	return list
}

// ReadAny reads the list or the tree at an address that may be that of either, or of something else. It
// returns nothing unless the whole structure is right, down to the call frame information of each
// entry.
func (l Layout) ReadAny(mem target.Memory, at target.Addr) []Entry {
	if uint64(at)%uint64(l.Word) != 0 {
		return nil
	}
	list, err := l.ReadTree(mem, at)
	if err != nil {
		list, err = l.ReadList(mem, at)
	}
	return l.checked(mem, list, err)
}

// ReadAnyCache reads LLVM's array if its two pointers are at an address. It returns nothing unless the
// call frame information of each entry is right, too.
func (l Layout) ReadAnyCache(mem target.Memory, at target.Addr) []Entry {
	if uint64(at)%uint64(l.Word) != 0 {
		return nil
	}
	list, err := l.ReadCache(mem, at, at+target.Addr(l.Word))
	return l.checked(mem, list, err)
}

// checked returns a list if it has no error and the information of each entry can be read.
func (l Layout) checked(mem target.Memory, list []Entry, err error) []Entry {
	if err != nil {
		return nil
	}
	for _, e := range list {
		if _, _, err := l.ReadFrames(mem, e); err != nil {
			return nil
		}
	}
	return list
}
