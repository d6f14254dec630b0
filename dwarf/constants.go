package dwarf

// The numbers of section 7, tables 7.2 to 7.33, and of gcc's extensions. Only the numbers in use
// are listed.

// UnitType is the kind of a unit (table 7.2).
type UnitType uint8

const (
	utUnknown      UnitType = 0x00
	UTCompile      UnitType = 0x01
	UTType         UnitType = 0x02
	UTPartial      UnitType = 0x03
	UTSkeleton     UnitType = 0x04
	UTSplitCompile UnitType = 0x05
	UTSplitType    UnitType = 0x06
)

// Tag is the kind of an entry (table 7.3).
type Tag uint32

const (
	TagArrayType           Tag = 0x01
	TagClassType           Tag = 0x02
	TagEntryPoint          Tag = 0x03
	TagEnumerationType     Tag = 0x04
	TagFormalParameter     Tag = 0x05
	TagImportedDeclaration Tag = 0x08
	TagLabel               Tag = 0x0a
	TagLexicalBlock        Tag = 0x0b
	TagMember              Tag = 0x0d
	TagPointerType         Tag = 0x0f
	TagReferenceType       Tag = 0x10
	TagCompileUnit         Tag = 0x11
	TagStringType          Tag = 0x12
	TagStructureType       Tag = 0x13
	TagSubroutineType      Tag = 0x15
	TagTypedef             Tag = 0x16
	TagUnionType           Tag = 0x17
	TagUnspecifiedParams   Tag = 0x18
	TagVariant             Tag = 0x19
	TagInheritance         Tag = 0x1c
	TagInlinedSubroutine   Tag = 0x1d
	TagModule              Tag = 0x1e
	TagPtrToMemberType     Tag = 0x1f
	TagSubrangeType        Tag = 0x21
	TagBaseType            Tag = 0x24
	TagConstType           Tag = 0x26
	TagConstant            Tag = 0x27
	TagEnumerator          Tag = 0x28
	TagSubprogram          Tag = 0x2e
	TagTemplateType        Tag = 0x2f
	TagTemplateValue       Tag = 0x30
	TagVariantPart         Tag = 0x33
	TagVariable            Tag = 0x34
	TagVolatileType        Tag = 0x35
	TagRestrictType        Tag = 0x37
	TagInterfaceType       Tag = 0x38
	TagNamespace           Tag = 0x39
	TagImportedModule      Tag = 0x3a
	TagUnspecifiedType     Tag = 0x3b
	TagPartialUnit         Tag = 0x3c
	TagImportedUnit        Tag = 0x3d
	TagTypeUnit            Tag = 0x41
	TagRvalueReferenceType Tag = 0x42
	TagTemplateAlias       Tag = 0x43
	TagAtomicType          Tag = 0x47
	TagCallSite            Tag = 0x48
	TagCallSiteParameter   Tag = 0x49
	TagSkeletonUnit        Tag = 0x4a
	TagGNUCallSite         Tag = 0x4109
	TagGNUCallSiteParam    Tag = 0x410a
)

// Attr is the name of an attribute (table 7.5).
type Attr uint32

const (
	AttrSibling         Attr = 0x01
	AttrLocation        Attr = 0x02
	AttrName            Attr = 0x03
	AttrByteSize        Attr = 0x0b
	AttrBitOffset       Attr = 0x0c // DWARF 2 and 3
	AttrBitSize         Attr = 0x0d
	AttrStmtList        Attr = 0x10
	AttrLowPC           Attr = 0x11
	AttrHighPC          Attr = 0x12
	AttrLanguage        Attr = 0x13
	AttrDiscr           Attr = 0x15
	AttrDiscrValue      Attr = 0x16
	AttrCompDir         Attr = 0x1b
	AttrConstValue      Attr = 0x1c
	AttrContainingType  Attr = 0x1d
	AttrInline          Attr = 0x20
	AttrLowerBound      Attr = 0x22
	AttrProducer        Attr = 0x25
	AttrPrototyped      Attr = 0x27
	AttrUpperBound      Attr = 0x2f
	AttrByteStride      Attr = 0x51
	AttrAbstractOrigin  Attr = 0x31
	AttrAccessibility   Attr = 0x32
	AttrArtificial      Attr = 0x34
	AttrCount           Attr = 0x37
	AttrMemberLocation  Attr = 0x38 // DW_AT_data_member_location
	AttrDeclFile        Attr = 0x3a
	AttrDeclLine        Attr = 0x3b
	AttrDeclaration     Attr = 0x3c
	AttrEncoding        Attr = 0x3e
	AttrExternal        Attr = 0x3f
	AttrFrameBase       Attr = 0x40
	AttrSpecification   Attr = 0x47
	AttrType            Attr = 0x49
	AttrVirtuality      Attr = 0x4c
	AttrEntryPC         Attr = 0x52
	AttrRanges          Attr = 0x55
	AttrCallColumn      Attr = 0x57
	AttrCallFile        Attr = 0x58
	AttrCallLine        Attr = 0x59
	AttrSignature       Attr = 0x69
	AttrDataBitOffset   Attr = 0x6b
	AttrEnumClass       Attr = 0x6d
	AttrLinkageName     Attr = 0x6e
	AttrStrOffsetsBase  Attr = 0x72
	AttrAddrBase        Attr = 0x73
	AttrRnglistsBase    Attr = 0x74
	AttrDwoName         Attr = 0x76
	AttrExportSymbols   Attr = 0x89
	AttrLoclistsBase    Attr = 0x8c
	AttrMIPSLinkageName Attr = 0x2007
	AttrGNUVector       Attr = 0x2107
	AttrGNUDwoName      Attr = 0x2130
	AttrGNUDwoID        Attr = 0x2131
	AttrGNURangesBase   Attr = 0x2132
	AttrGNUAddrBase     Attr = 0x2133
	AttrGoKind          Attr = 0x2900
	AttrGoPackageName   Attr = 0x2905
)

// Base type encodings (table 7.11).
const (
	EncAddress      = 0x01
	EncBoolean      = 0x02
	EncComplexFloat = 0x03
	EncFloat        = 0x04
	EncSigned       = 0x05
	EncSignedChar   = 0x06
	EncUnsigned     = 0x07
	EncUnsignedChar = 0x08
	EncUTF          = 0x10
	EncUCS          = 0x11
	EncASCII        = 0x12
)

// Range list entries (table 7.30).
const (
	rleEndOfList    = 0x00
	rleBaseAddressx = 0x01
	rleStartxEndx   = 0x02
	rleStartxLength = 0x03
	rleOffsetPair   = 0x04
	rleBaseAddress  = 0x05
	rleStartEnd     = 0x06
	rleStartLength  = 0x07
)

// Location list entries (table 7.10).
const (
	lleEndOfList       = 0x00
	lleBaseAddressx    = 0x01
	lleStartxEndx      = 0x02
	lleStartxLength    = 0x03
	lleOffsetPair      = 0x04
	lleDefaultLocation = 0x05
	lleBaseAddress     = 0x06
	lleStartEnd        = 0x07
	lleStartLength     = 0x08
	lleViewPair        = 0x09 // GNU
)

// Location list entries of .debug_loc.dwo: gcc's extension to DWARF 4.
const (
	lleGNUEndOfList   = 0x00
	lleGNUBaseAddress = 0x01
	lleGNUStartEnd    = 0x02
	lleGNUStartLength = 0x03
)
