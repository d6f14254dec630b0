// Package follow computes frames from a function's instructions, at run time.
//
// Its question: what do a function's instructions show about its frame at one PC, without a table
// or in contradiction to one?
//
//	functions.go  the code from a function's start to PC (forward.go, jumptable.go, armtable.go)
//	ahead.go      the code from PC on, to the return
//	audit.go      registers that a function changes and does not save
//	tail.go       where a function's last instructions have the stack pointer
//	shadow.go     what a function does to its shadow call stack
//	departure.go  code that is about to switch to another stack: executes it on copies
//
// Only package frames calls it: in its strategies prologue and scs, to prove frames, and to
// overrule tables. It decides what a rule is used for.
//
// You bring a [Reader]: the process's memory and, if there is one, the file that contains the code.
// The result is mostly a [Rule], in terms of the registers at PC. Package code/flow computes the
// effects of the instructions; this package finds the paths, reads the code, and limits how much is
// read. It does not know tables, walks or threads.
//
// A Reader may be shared as far as its Memory and File may. [Functions] belongs to one goroutine;
// Rules and Audits do not change.
package follow
