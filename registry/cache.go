package registry

import (
	"fmt"

	"dbg/target"
)

// Names of the array and of the end of its used part in LLVM's libunwind: each is a pointer.
const (
	CacheSymbol     = "_ZN9libunwind13DwarfFDECacheINS_17LocalAddressSpaceEE7_bufferE"
	CacheUsedSymbol = "_ZN9libunwind13DwarfFDECacheINS_17LocalAddressSpaceEE11_bufferUsedE"
)

// ReadCache reads the array of LLVM's libunwind: entries of four words, mh, ip_start, ip_end and fde. It also
// has entries for files, which the library caches there.
func (l Layout) ReadCache(mem target.Memory, buffer, used target.Addr) (list []Entry, err error) {
	lo, err := l.words(mem, buffer, 1, "DwarfFDECache::_buffer")
	if err != nil {
		return nil, err
	}
	hi, err := l.words(mem, used, 1, "DwarfFDECache::_bufferUsed")
	if err != nil {
		return nil, err
	}
	size := uint64(4 * l.Word)
	if hi[0] < lo[0] || (hi[0]-lo[0])%size != 0 {
		return nil, fmt.Errorf("DwarfFDECache has the invalid bounds 0x%x and 0x%x", lo[0], hi[0])
	}
	count := (hi[0] - lo[0]) / size
	if count > MaxEntries {
		return nil, fmt.Errorf("DwarfFDECache has %d entries, more than %d", count, MaxEntries)
	}
	for i := range count {
		at := target.Addr(lo[0] + i*size)
		w, err := l.words(mem, at, 4, "an entry of DwarfFDECache")
		if err != nil {
			return list, err
		}
		if w[1] > w[2] || w[3] == 0 {
			return list, fmt.Errorf("the entry of DwarfFDECache at %s has the invalid range 0x%x..0x%x", at, w[1], w[2])
		}
		list = append(list, Entry{Object: at, Frames: target.Addr(w[3]), Lo: w[1], Hi: w[2], Single: true})
	}
	return list, nil
}
