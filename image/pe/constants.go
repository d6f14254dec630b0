package pe

// Machines: the field Machine of the COFF file header ("PE Format", Machine Types).
const (
	MachineI386    = 0x14c
	MachineARM     = 0x1c0
	MachineARMNT   = 0x1c4
	MachineAMD64   = 0x8664
	MachineARM64   = 0xaa64
	MachineARM64EC = 0xa641 // of object files only
	MachineARM64X  = 0xa64e // of object files only
)

// Characteristics of the COFF file header.
const (
	RelocsStripped  = 0x0001
	ExecutableImage = 0x0002
	DLL             = 0x2000
)

// DynamicBase is the bit of DllCharacteristics that permits any load address.
const DynamicBase = 0x0040

// Indexes of data directories in the optional header.
const (
	ExportTable    = 0
	ImportTable    = 1
	ExceptionTable = 3
	BaseRelocTable = 5
	DebugTable     = 6
	LoadConfig     = 10
	directoryCount = 16
)

// Characteristics of a section.
const (
	SectionCode          = 0x00000020
	SectionUninitialized = 0x00000080
	SectionExecute       = 0x20000000
	SectionRead          = 0x40000000
	SectionWrite         = 0x80000000
)

// Sizes of structures in bytes.
const (
	dosHeaderSize     = 64
	fileHeaderSize    = 20
	sectionHeaderSize = 40
	symbolSize        = 18
	debugEntrySize    = 28
)

// Limits on what is read of one file. No linker gets near them.
const (
	maxSections = 1 << 16
	maxName     = 32 << 10
	maxRanges   = 1 << 20
)
