package session

import (
	"bytes"
	"cmp"
	"slices"

	"dbg/target"
)

// AuxEntry is an entry of the auxiliary vector: getauxval(3).
type AuxEntry struct {
	Type        uint64
	Name        string // "AT_PHDR", or "???"
	Description string
	Value       uint64
	Kind        AuxKind
	Text        string // of AuxString
	HasText     bool
}

// AuxKind is how a value of the auxiliary vector is shown.
type AuxKind uint8

const (
	AuxHex AuxKind = iota
	AuxDecimal
	AuxString // the address of a text
)

// auxTypes describes the types of entries: <elf.h>, with gdb's descriptions.
var auxTypes = map[uint64]AuxEntry{
	0:  {Name: "AT_NULL", Description: "End of vector"},
	1:  {Name: "AT_IGNORE", Description: "Entry should be ignored"},
	2:  {Name: "AT_EXECFD", Description: "File descriptor of program", Kind: AuxDecimal},
	3:  {Name: "AT_PHDR", Description: "Program headers for program"},
	4:  {Name: "AT_PHENT", Description: "Size of program header entry", Kind: AuxDecimal},
	5:  {Name: "AT_PHNUM", Description: "Number of program headers", Kind: AuxDecimal},
	6:  {Name: "AT_PAGESZ", Description: "System page size", Kind: AuxDecimal},
	7:  {Name: "AT_BASE", Description: "Base address of interpreter"},
	8:  {Name: "AT_FLAGS", Description: "Flags"},
	9:  {Name: "AT_ENTRY", Description: "Entry point of program"},
	10: {Name: "AT_NOTELF", Description: "Program is not ELF", Kind: AuxDecimal},
	11: {Name: "AT_UID", Description: "Real user ID", Kind: AuxDecimal},
	12: {Name: "AT_EUID", Description: "Effective user ID", Kind: AuxDecimal},
	13: {Name: "AT_GID", Description: "Real group ID", Kind: AuxDecimal},
	14: {Name: "AT_EGID", Description: "Effective group ID", Kind: AuxDecimal},
	15: {Name: "AT_PLATFORM", Description: "String identifying platform", Kind: AuxString},
	16: {Name: "AT_HWCAP", Description: "Machine-dependent CPU capability hints"},
	17: {Name: "AT_CLKTCK", Description: "Frequency of times()", Kind: AuxDecimal},
	18: {Name: "AT_FPUCW", Description: "Used FPU control word"},
	23: {Name: "AT_SECURE", Description: "Boolean, was exec setuid-like?", Kind: AuxDecimal},
	24: {Name: "AT_BASE_PLATFORM", Description: "String identifying base platform", Kind: AuxString},
	25: {Name: "AT_RANDOM", Description: "Address of 16 random bytes"},
	26: {Name: "AT_HWCAP2", Description: "Extension of AT_HWCAP"},
	27: {Name: "AT_RSEQ_FEATURE_SIZE", Description: "rseq supported feature size", Kind: AuxDecimal},
	28: {Name: "AT_RSEQ_ALIGN", Description: "rseq allocation alignment", Kind: AuxDecimal},
	31: {Name: "AT_EXECFN", Description: "File name of executable", Kind: AuxString},
	32: {Name: "AT_SYSINFO", Description: "Special system info/entry points"},
	33: {Name: "AT_SYSINFO_EHDR", Description: "System-supplied DSO's ELF header"},
	51: {Name: "AT_MINSIGSTKSZ", Description: "Minimum stack size for signal delivery"},
}

// AuxVector lists the auxiliary vector.
func (s *Session) AuxVector() ([]AuxEntry, error) {
	return ask(s, func() ([]AuxEntry, error) {
		if s.tgt == nil {
			return nil, target.ErrNotRunning
		}
		r, ok := s.tgt.(target.AuxvReader)
		if !ok {
			return nil, ErrNotKnown
		}
		size := s.tgt.Arch().PtrSize
		word := func(b []byte) uint64 {
			if size == 8 {
				return s.tgt.Arch().ByteOrder.Uint64(b)
			}
			return uint64(s.tgt.Arch().ByteOrder.Uint32(b))
		}
		var out []AuxEntry
		for b := r.AuxvBytes(); len(b) >= 2*size; b = b[2*size:] {
			e, known := auxTypes[word(b)]
			if !known {
				e = AuxEntry{Name: "???"}
			}
			e.Type, e.Value = word(b), word(b[size:])
			if e.Kind == AuxString {
				e.Text, e.HasText = s.textAt(e.Value, 4096)
			}
			out = append(out, e)
			if e.Type == 0 {
				break
			}
		}
		return out, nil
	})
}

// textAt reads a text that ends with a NUL, and has at most so many bytes.
func (s *Session) textAt(at uint64, most int) (string, bool) {
	buf := make([]byte, most)
	n, _ := s.readMemory(target.Addr(at), buf)
	i := bytes.IndexByte(buf[:n], 0)
	if i < 0 {
		return "", false
	}
	return string(buf[:i]), true
}

func sortedFiles(list []OpenFile) []OpenFile {
	slices.SortFunc(list, func(a, b OpenFile) int { return cmp.Compare(a.FD, b.FD) })
	return list
}
