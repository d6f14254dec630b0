// Package compiled makes the rows of package row fast to find and to run. It gives you:
//
//   - Table: all rows of a module. Lookup finds the rules at an address in a few nanoseconds.
//   - Plan: the rules of one row, prepared. Begin and Finish replace row.Apply for common rows.
//   - Builder: collects the rows of one part of a module. Join makes a Table of the parts.
//   - PlanCache: the plans of rows that are decoded one by one.
//
// You bring rows by ascending address, the hash of each (HashRow), and the registers that keep
// their value if a row has no rule for them. To run a plan you bring the registers and a Window: a
// piece of the stack that was read before.
//
// # Equal rules are stored once
//
// The rows of a module differ in their addresses, but most have one of a few hundred sets of
// rules. A Table stores each set once and refers to it by a 16-bit number. Two rows have the same
// rules if their hashes are equal: see HashRow.
//
// # What it does not do
//
// A Plan gives the same result as row.Apply, or none: Begin returns false for uncommon rules,
// for a register without a value, and for memory outside the Window. Then call row.Apply with
// Plan.Row: it also reports the reason. A Table has no answer where entries overlap or are
// defective (AskDecoder): then call the decoder.
//
// Package row does not import this package and does not depend on it.
//
// # How it stays fast
//
// Neither Table.Lookup nor a Plan allocates or takes a lock. A Plan is one cache line. A common
// plan reads all saved registers from one piece of memory, after one check of its bounds.
package compiled
