// Package row is the one form to which every unwind format compiles: for a
// range of addresses, how to find the canonical frame address (CFA) and where
// the caller's value of each register is.
//
// A decoder (package cfi) fills a Row; Apply computes the caller's registers
// from it. There is exactly one Apply. Strategies that have no table (frame pointers,
// scanning) fill a Caller themselves, so that all callers are judged and taken over
// in the same way.
//
// # What a missing rule means
//
// Unspecified, undefined and same value are three things. A register of which
// the table says nothing is taken as the platform's ABI has it: callee-saved
// registers keep their value, all others are unknown in the caller
// (DWARF 5, 6.4.1 leaves the default to the ABI). The caller's stack pointer is
// the CFA unless there is a rule for it. The return address needs a rule, except on
// an architecture whose return address column is a real register (a link
// register), which is then taken as it is.
//
// # Addresses
//
// Rows are in the file's address space; register values and the results of Apply
// are the process's. Only Env.Bias knows the difference.
//
// Neither Apply nor Caller.Commit allocates. A Row is refilled in place and keeps
// the capacity of its slices.
package row
