// Package target defines the interface to a debuggee: threads, registers, memory, mappings and
// events. A live process (target/ptrace) and a core file (target/elfcore, target/machocore)
// implement it.
//
// Target is everything that can be read. Process adds the operations of a process that can run. A
// client holds a Target and tests whether it is a Process.
//
// To a client, execution is all-stop: a Process runs, or is stopped with all its threads. While
// it runs, a thread that hits a site stops alone. A Judge then resumes the thread, stops the
// process, or parks the thread until the client has decided (Move, StopAll).
//
// Addresses of type target.Addr are addresses in the process. Addresses in a file are of type
// image.Addr. They differ by the module's load bias, and only the owner of the module converts.
package target
