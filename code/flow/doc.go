// Package flow computes the effects of a function's instructions on its frame.
//
// Its question: for each address that the instructions reach, where is the canonical frame address
// (CFA), which callee-saved registers are saved and where, which still hold the caller's value, and
// which do not? These are the contents of a row of an unwind table, but computed from the code
// alone. They are valid in prologues, bodies and epilogues, as far as the code can be followed.
//
// Package compact refines Apple's tables with it. frames/follow finds frames without a table, and
// checks tables.
//
// You bring the bytes and their address, and an initial State: Entry for a function's first
// instruction, or another State for code with another entry (a landing pad). The package reads no
// files and knows no processes. Package code decodes the instructions.
//
//   - State describes the machine between two instructions: which registers hold addresses of the
//     stack, and what is saved. State.Apply applies an instruction. State.Frame expresses the
//     state in terms of the current registers.
//   - Flow follows all paths through a function, from one start or several, and stores a Frame
//     for each address.
//   - Ahead follows one path to a return, in terms of the registers at its beginning.
//
// What it does not do: the only values that it tracks are addresses of the stack and constants.
// It tracks memory only for saved registers. It assumes that a called function returns and
// complies with the ABI. Where the stack pointer is set to a value that can't be tracked (alloca,
// a realigned frame), addresses are relative to that new stack pointer; other registers may still
// have addresses relative to the CFA.
//
// Everything is bounded: a Flow visits each instruction at most a few times, and stops after
// MaxInsns.
//
// A State, an Ahead, a Frame and a Flow belong to one goroutine each; nothing is shared between
// them.
package flow
