package macho

// The constants of <mach-o/loader.h>, <mach-o/nlist.h> and <mach-o/fat.h>
// that the package uses.

// Magic numbers, as a little-endian machine reads them.
const (
	magic32    = 0xfeedface
	magic64    = 0xfeedfacf
	cigam32    = 0xcefaedfe // the same, written by a big-endian machine
	cigam64    = 0xcffaedfe
	fatMagic32 = 0xcafebabe // read as big-endian, as fat headers are
	fatMagic64 = 0xcafebabf
)

// File types: File.Type.
const (
	TypeObject     = 1
	TypeExecute    = 2
	TypeCore       = 4
	TypeDylib      = 6
	TypeDylinker   = 7
	TypeBundle     = 8
	TypeDylibStub  = 9
	TypeDSYM       = 10
	TypeKextBundle = 11
	TypeFileset    = 12
)

// PIE is a flag of File.Flags: the executable can be loaded anywhere (MH_PIE).
const PIE = 0x200000

// Load commands.
const (
	lcSegment          = 0x1
	lcSymtab           = 0x2
	lcUnixThread       = 0x5
	lcDysymtab         = 0xb
	lcLoadDylib        = 0xc
	lcIDDylib          = 0xd
	lcLoadDylinker     = 0xe
	lcSegment64        = 0x19
	lcUUID             = 0x1b
	lcEncryptionInfo   = 0x21
	lcFunctionStarts   = 0x26
	lcEncryptionInfo64 = 0x2c
	lcLoadWeakDylib    = 0x80000018
	lcReexportDylib    = 0x8000001f
	lcLoadUpwardDylib  = 0x80000023
	lcMain             = 0x80000028
)

// Section types and attributes: section.flags.
const (
	sectionTypeMask     = 0xff
	sectionZeroFill     = 0x1
	sectionSymbolStubs  = 0x8
	sectionGBZeroFill   = 0xc
	sectionTLZeroFill   = 0x12
	sectionInstructions = 0x80000400 // S_ATTR_PURE_INSTRUCTIONS, S_ATTR_SOME_INSTRUCTIONS
)

// Bits of nlist.n_type and nlist.n_desc.
const (
	nlistStab     = 0xe0
	nlistTypeMask = 0x0e
	nlistExternal = 0x01
	nlistAbsolute = 0x02
	nlistSection  = 0x0e
	nlistFunction = 0x24   // N_FUN, a stab
	nlistWeakDef  = 0x0080 // n_desc
	nlistAltEntry = 0x0200 // n_desc: not the start of a separate function
)

// Entries in the indirect symbol table that name no symbol.
const indirectLocalOrAbsolute = 0xc0000000

// Processors: mach_header.cputype, <mach/machine.h>.
const (
	cpuI386    = 7
	cpuX8664   = 0x01000007
	cpuARM     = 12
	cpuARM64   = 0x0100000c
	cpuARM6432 = 0x0200000c
	cpuPPC     = 18
	cpuPPC64   = 0x01000012

	// The top byte of cpusubtype holds capabilities, such as arm64e's version of pointer
	// authentication.
	subtypeMask = 0x00ffffff
)
