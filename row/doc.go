// Package row describes one row of an unwind table. Every unwind format is decoded to rows. A Row
// is valid for a range of addresses: it has the rule for the canonical frame address (CFA), and the
// rules for the caller's values of the registers.
//
// A decoder (packages cfi and compact) fills a Row. Apply computes the caller's registers from it:
// the result is a Caller. There is exactly one Apply. Strategies without a table (frame pointers,
// scanning) fill a Caller themselves, so that all callers are checked and committed in one way.
//
// Package row/compiled makes rows fast to find and to run. It gives the same results as Apply.
// This package does not import it.
//
// # What a missing rule means
//
// Unspecified, undefined and same value are three different things. For an unspecified register the
// platform's ABI decides (DWARF 5, section 6.4.1, leaves the default to it): callee-saved registers
// keep their value, all others are unknown in the caller. The caller's stack pointer is the CFA
// unless it has a rule. The return address needs a rule. The exception is an architecture whose
// return address column is a real register, the link register: without a rule it keeps its value.
//
// # Addresses
//
// Rows are in the file's address space. Register values and the results of Apply are in the
// process's. Only Env.Bias knows the difference.
//
// # How it stays fast
//
// Apply and Caller.Commit do not allocate. A Row is refilled in place and keeps the capacity of its
// slices.
package row
