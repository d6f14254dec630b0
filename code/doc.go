// Package code says what instructions do to the stack.
//
// It gives, for the instructions of a function, the frame at each address that they lead to: where the canonical
// frame address (CFA) is, which callee-saved registers are saved where, which still hold the caller's value and
// which do not. That is what a row of an unwind table says, but worked out from the code alone: right in prologues, bodies
// and epilogues alike, as far as the code can be followed.
//
// You bring the bytes and the address where they begin, and a State to begin with: Entry for a function's first
// instruction, anything else for code that is entered otherwise (a landing pad). The package reads no file and knows no process.
//
//   - Insn is one instruction as far as it matters here; DecodeX86 and DecodeARM64 make it. Instructions that are
//     not known in detail are taken to destroy what they may write.
//   - State is what is known between two instructions: which registers have addresses of the stack, what is saved.
//     State.Apply does an instruction, State.Frame says the state in terms of the registers then.
//   - Flow follows all ways through a function, from one start or several, and keeps a Frame for each address.
//
// What it does not do: it follows no values but addresses of the stack and constants; memory is followed as far as saved
// registers go. A function that is called is taken to return and to keep the ABI's promises. Where the
// stack pointer is set to what can't be followed (alloca, a realigned frame), addresses are relative to the stack pointer as it
// was set then, beside those relative to the CFA that other registers still have.
//
// Everything is bounded: a Flow visits each instruction a few times at most, and stops after MaxInsns.
package code
