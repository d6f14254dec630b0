// Package bytecursor reads the encodings of DWARF from bytes: integers of a fixed size, LEB128
// numbers, strings, blocks, initial lengths and addresses.
//
// What it gives you: a Cursor, which is a position in a slice of bytes with a byte order and a
// sticky error. After the first failure every read returns zero, so that a parser reads straight
// on and looks at Err once, at the end.
//
// What you must bring: the bytes. Positions and the offsets in errors count from the first of
// them, so a slice that starts with its section makes them offsets in the section.
//
// # What is legal
//
// The specification is DWARF 5, sections 7.4 (initial lengths), 7.5.5 (strings, blocks) and 7.6
// (LEB128). It leaves open how long a LEB128 number may be and how large. The policy here:
//
//   - Padding is legal: a number may have more bytes than it needs. Assemblers and linkers pad
//     numbers that they fill in later.
//   - A value that does not fit 64 bits is malformed. An unsigned number may be up to 1<<64-1, a
//     signed one from -1<<63 to 1<<63-1. No bits are dropped.
//   - A number of more than MaxLEB bytes is malformed, even if the rest is padding. Ten bytes hold
//     any 64-bit value, and no producer pads to more than that.
//   - The lengths 0xfffffff0 to 0xfffffffe are reserved and malformed; 0xffffffff introduces a
//     64-bit length.
//   - A read that would pass the end of the data is cut short. It never returns a part.
//
// # Errors
//
// Every failed read is an *Error. Its kind tells whether more data could help (ErrCutShort), the
// data is invalid (ErrMalformed), or it is valid and this program cannot read it
// (ErrUnsupported); test for a kind with errors.Is.
//
// # Speed
//
// U8 is inlined, and LEB128 numbers of one byte take a short path. Nothing is allocated unless a
// read fails. A loop that reads a great many bytes may use Data and Pos itself for the common case
// and call the cursor for the others.
package bytecursor
