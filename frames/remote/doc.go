// Package remote walks the stacks of a process whose memory is elsewhere: on another machine, or in any place
// that answers later. A walk that needs memory which is not here stops, and goes on when it has come. The
// frames are those of frames.Walk, which does the work.
//
// [NewMemory] makes the memory of a process: [Memory.Needs] returns the ranges that are wanted, and
// [Memory.Supply], [Memory.Unreadable] and [Memory.Retry] answer them, in any order and in parts.
// [NewProcess] makes a process of its memory map. [Process.Open] finds the mapped files, and [Process.Walk]
// starts a walk. Next of either returns [Waiting] when memory is missing:
//
//	for state := walk.Next(); state != remote.Ended; state = walk.Next() {
//		switch state {
//		case remote.Found:
//			use(walk.Frame())
//		case remote.Waiting:
//			for _, need := range memory.Needs() {
//				memory.Supply(need.Addr, fetch(need.Addr, need.Size))
//			}
//		}
//	}
//
// A client that fetches while it does something else calls Next again when some memory has come; Next does
// not block for memory. [Memory.Arrival] and [Memory.Wanted] are channels for clients that wait. Many walks may
// be under way: start all of them, and their needs come in one list.
//
// You must bring: the registers, the memory map, and the object files on this machine. Code and tables come
// from files and need no request (image.File.ConstantMemory). The thread must stay stopped.
//
// Few round trips: a walk asks at once for the pages of the stack from SP up, and for twice as many when they do
// not suffice. When they come, it looks in them for return addresses, and asks for what a walk reads there: the
// slots through which those calls go, and code that is in no file.
//
// Bounds: Options limit the pages that are kept and those that are asked for, Config.MaxWalks the walks.
//
// Each task is a goroutine that runs only while Next waits for it. It ends with the walk, with Close, with
// its context, or when the Walk is garbage. What this is not: a protocol, or a client. It does not find code that
// the program made at run time and told debuggers about (package jit).
package remote
