package linetable

// Line number opcodes (tables 7.25 to 7.27).
const (
	lnsCopy             = 0x01
	lnsAdvancePC        = 0x02
	lnsAdvanceLine      = 0x03
	lnsSetFile          = 0x04
	lnsSetColumn        = 0x05
	lnsNegateStmt       = 0x06
	lnsSetBasicBlock    = 0x07
	lnsConstAddPC       = 0x08
	lnsFixedAdvancePC   = 0x09
	lnsSetPrologueEnd   = 0x0a
	lnsSetEpilogueBegin = 0x0b
	lnsSetISA           = 0x0c

	lneEndSequence      = 0x01
	lneSetAddress       = 0x02
	lneDefineFile       = 0x03
	lneSetDiscriminator = 0x04

	lnctPath           = 0x1
	lnctDirectoryIndex = 0x2
)
