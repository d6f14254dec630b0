package frames

import (
	"fmt"

	"dbg/target"
)

// EndReason is the reason why a walk has no more frames.
type EndReason uint8

const (
	NotEnded               EndReason = iota // the walk is still under way, or was abandoned
	UndefinedReturnAddress                  // the table marks the frame as the outermost one
	EntryPoint                              // the frame is the first one of a program, a thread or a goroutine
	OtherStack                              // End.Function was called on another stack, which leads no further
	DepthLimit                              // Unwinder.DepthLimit was reached
	NoCaller                                // no strategy found a caller
	ZeroReturnAddress                       // the return address at End.Addr, or in End.Register, is zero
	NotMoved                                // the stack pointer of the caller that was found is impossible
	Unreadable                              // the memory at End.Addr is unreadable
	Failed                                  // see End.Err: the walk was cancelled, or its data was damaged
)

// End describes the end of a walk: why there are no more frames.
type End struct {
	// Outermost reports whether the walk reached the first frame of the thread.
	Outermost bool
	Reason    EndReason

	Addr     target.Addr // for Unreadable; for ZeroReturnAddress, if Register is ""
	Register string      // for ZeroReturnAddress: the name of the link register
	Function string      // for OtherStack: the function's name
	Err      error       // for Failed

	// Attempts lists the failed attempts for the frame that was not found.
	Attempts []Attempt
}

// Message returns the reason in words, as the command line's contract defines them; "" for
// NotEnded.
func (e *End) Message() string {
	switch e.Reason {
	case NotEnded:
		return ""
	case OtherStack:
		return e.Function + " called on another stack"
	case ZeroReturnAddress:
		if e.Register != "" {
			return "return address in " + e.Register + " is zero"
		}
		return fmt.Sprintf("return address at 0x%x is zero", uint64(e.Addr))
	case Unreadable:
		return fmt.Sprintf("memory unreadable at 0x%x", uint64(e.Addr))
	case Failed:
		return e.Err.Error()
	}
	return e.Reason.String()
}

func (r EndReason) String() string {
	return [...]string{"not ended", "undefined return address", "entry point", "called on another stack", "depth limit",
		"no strategy found a caller", "return address is zero", "frame did not move", "memory unreadable", "failed"}[r]
}
