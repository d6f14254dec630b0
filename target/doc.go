// Package target says what it is to be debugged: threads, registers, memory,
// mappings and events, whatever stands behind them: a live process
// (target/ptrace) or a core file (target/elfcore).
//
// Target is what can be read. Process adds what can be run. A user of the
// package holds a Target and asks whether it is a Process.
//
// All-stop, as a client sees it: a Process runs or is stopped with all its threads. While it
// runs, a thread that hits a site stops alone; a Judge lets it go on, stops the process, or parks
// the thread until the target's user has decided (Move, StopAll).
//
// Addresses are target.Addr, addresses in the process. Addresses in a file are
// image.Addr; the difference is the module's load bias, and only the holder of
// the module converts.
package target
