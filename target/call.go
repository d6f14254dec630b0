package target

// RunTo asks a process to let one thread run from a prepared state to a site, for a call into the
// program.
type RunTo struct {
	Resume Resume // of the thread that runs

	Writes []Write // first of all

	// Edit makes the state with which the thread starts from the state that it has, which it must not
	// change. It must not use the process. If it returns an error, nothing else happens.
	Edit func(saved *SavedState) (*SavedState, error)

	Back Addr   // of the site where the run ends
	SP   uint64 // the stack pointer there

	Saved *SavedState // set by RunTo: what the thread had before
	After *SavedState // set by RunTo: what the thread had at Back, if it came back
}

// Write is data that belongs at an address.
type Write struct {
	Addr Addr
	Data []byte
}

// Caller is a live process that can make a whole call in one request, which saves most of the time
// that a short function takes.
type Caller interface {
	// RunTo changes a thread's state and continues the process as Resume does. If the thread soon
	// stops at Back, and nothing else has stopped the process, RunTo restores the thread's state and
	// returns true; no event is sent, and the process is stopped. Otherwise it returns false as soon
	// as that is clear, or takes longer: then the process runs, or its events follow, as after
	// Resume. The errors are those of Edit, SaveState, RestoreState and Resume.
	RunTo(r *RunTo) (returned bool, err error)
}

// Call makes the request of a process that need not be a Caller.
func Call(p Process, r *RunTo) (returned bool, err error) {
	if c, ok := p.(Caller); ok {
		return c.RunTo(r)
	}
	for _, w := range r.Writes {
		if _, err := p.WriteMemory(w.Addr, w.Data); err != nil {
			return false, err
		}
	}
	saved, err := p.SaveState(r.Resume.Thread)
	if err != nil {
		return false, err
	}
	next, err := r.Edit(saved)
	if err != nil {
		return false, err
	}
	if err := p.RestoreState(r.Resume.Thread, next); err != nil {
		return false, err
	}
	r.Saved = saved
	return false, p.Resume(r.Resume)
}
