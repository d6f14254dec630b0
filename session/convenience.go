package session

import (
	"dbg/eval"
	"dbg/symbols/types"
	"dbg/target"
)

// The convenience variables that tell something of the session: gdb's $_thread, $_inferior, $_siginfo…
// A user's assignment to one of them counts until the program ends.

// Convenience implements eval.Env.
func (e *env) Convenience(name string) (Value, bool) {
	if v, ok := e.s.vars[name]; ok {
		return v, true
	}
	switch name {
	case "_thread", "_gthread":
		e.s.refreshThreads()
		for _, t := range e.s.threads.all {
			if t.ID == e.thread {
				return eval.FromInt32(int64(t.Number)), true
			}
		}
		return eval.FromInt32(0), true
	case "_inferior":
		return eval.FromInt32(e.s.number.Load()), true
	case "_exitcode":
		if e.s.exited {
			return eval.FromInt32(int64(e.s.exitCode)), true
		}
	case "_exitsignal":
		if e.s.endSignal != 0 {
			return eval.FromInt32(int64(e.s.endSignal)), true
		}
	case "_siginfo":
		return e.sigInfo()
	}
	return Value{}, false
}

// sigInfo returns the kernel's siginfo_t of the signal for which the selected thread has stopped:
// sigaction(2).
func (e *env) sigInfo() (Value, bool) {
	r, ok := e.s.tgt.(target.StateReader)
	if !ok || e.s.needStopped() != nil {
		return Value{}, false
	}
	st, err := r.ThreadState(e.thread)
	t := sigInfoType()
	if err != nil || int64(len(st.SigInfo)) < t.Size {
		return Value{}, false
	}
	return Value{Type: t, Bytes: st.SigInfo[:t.Size]}, true
}

// sigInfoType returns the type of siginfo_t on 64-bit machines, with the names that gdb gives to its
// parts.
func sigInfoType() *types.Type {
	number := types.New(types.Int, "int", 4, true, nil)
	uid := types.New(types.Uint, "unsigned int", 4, false, nil)
	long := types.New(types.Int, "long", 8, true, nil)
	pointer := types.New(types.Pointer, "", 8, false, types.New(types.Void, "void", 0, false, nil))
	field := func(name string, offset int64, t *types.Type) types.Field {
		return types.Field{Name: name, Offset: offset, Type: t}
	}
	group := func(name string, fields ...types.Field) types.Field {
		last := fields[len(fields)-1]
		return field(name, 0, types.NewStruct(types.Struct, "", (last.Offset+last.Type.Size+7)/8*8, fields))
	}
	value := types.NewStruct(types.Union, "sigval_t", 8, []types.Field{field("sival_int", 0, number), field("sival_ptr", 0, pointer)})
	bounds := types.NewStruct(types.Struct, "", 16, []types.Field{field("_lower", 0, pointer), field("_upper", 8, pointer)})
	short := types.New(types.Int, "short", 2, true, nil)
	parts := types.NewStruct(types.Union, "", 112, []types.Field{
		field("_pad", 0, types.NewArray(number, 28)),
		group("_kill", field("si_pid", 0, number), field("si_uid", 4, uid)),
		group("_timer", field("si_tid", 0, number), field("si_overrun", 4, number), field("si_sigval", 8, value)),
		group("_rt", field("si_pid", 0, number), field("si_uid", 4, uid), field("si_sigval", 8, value)),
		group("_sigchld", field("si_pid", 0, number), field("si_uid", 4, uid), field("si_status", 8, number),
			field("si_utime", 16, long), field("si_stime", 24, long)),
		group("_sigfault", field("si_addr", 0, pointer), field("_addr_lsb", 8, short), field("_addr_bnd", 16, bounds)),
		group("_sigpoll", field("si_band", 0, long), field("si_fd", 8, number)),
	})
	return types.NewStruct(types.Struct, "siginfo", 128, []types.Field{
		field("si_signo", 0, number), field("si_errno", 4, number), field("si_code", 8, number), field("_sifields", 16, parts),
	})
}
