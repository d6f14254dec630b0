package session

import (
	"fmt"
	"strings"

	"dbg/target"
)

// WaitKind is the kind of thing that a thread waits for.
type WaitKind uint8

const (
	NotWaiting     WaitKind = iota
	WaitCall                // a system call of another kind
	WaitMutex               // pthread_mutex_t
	WaitReadLock            // pthread_rwlock_t, to read
	WaitWriteLock           // pthread_rwlock_t, to write
	WaitCondition           // pthread_cond_t
	WaitSemaphore           // sem_t
	WaitBarrier             // pthread_barrier_t
	WaitThread              // the end of a thread
	WaitChild               // a child process
	WaitRustMutex           // std::sync::Mutex
	WaitRustRwLock          // std::sync::RwLock
	WaitRustOther           // a condition variable, a parked thread, Once
	WaitGoRuntime           // the Go runtime has no work for the thread
	WaitFutex               // a futex(2) of unknown purpose
)

// waitNames are the names of kinds: in text, and in JSON.
var waitNames = [...][2]string{
	NotWaiting: {"nothing", "none"}, WaitCall: {"a system call", "system call"}, WaitMutex: {"mutex", "mutex"},
	WaitReadLock: {"read lock", "read lock"}, WaitWriteLock: {"write lock", "write lock"},
	WaitCondition: {"condition variable", "condition variable"}, WaitSemaphore: {"semaphore", "semaphore"}, WaitBarrier: {"barrier", "barrier"},
	WaitThread: {"the end of a thread", "thread"}, WaitChild: {"a child process", "child"}, WaitRustMutex: {"Rust mutex", "rust mutex"},
	WaitRustRwLock: {"Rust read-write lock", "rust rwlock"}, WaitRustOther: {"Rust futex", "rust futex"},
	WaitGoRuntime: {"work (Go runtime)", "go runtime"}, WaitFutex: {"futex", "futex"},
}

func (k WaitKind) String() string { return waitNames[k][0] }

// Name returns the kind's name in JSON.
func (k WaitKind) Name() string { return waitNames[k][1] }

// HasHolder reports whether things of that kind are held by a thread.
func (k WaitKind) HasHolder() bool {
	switch k {
	case WaitMutex, WaitReadLock, WaitWriteLock, WaitRustMutex, WaitRustRwLock:
		return true
	}
	return false
}

// Wait describes what a thread waits for.
type Wait struct {
	Thread ThreadInfo
	Call   *SystemCall // nil if the thread is in no system call
	Kind   WaitKind
	Object target.Addr // the lock, the condition variable, …; 0: there is none
	Symbol string      // of Object: "a_lock", "table+16", or ""
	// Timed is set if the wait ends at some time by itself.
	Timed bool
	// Holder is the thread that has to release Object, or the one whose end is awaited. It is 0
	// unless that is certain.
	Holder target.ThreadID
	// Probable means that Holder is not certain: a local variable of that thread says so.
	Probable bool
	// Child is the process of WaitChild, 0 for any child. ChildHolder is the thread of this process
	// for which the child waits, if that is certain, and ChildObject the lock.
	Child       int
	ChildHolder target.ThreadID
	ChildObject target.Addr
}

// Waits returns for each thread what it waits for, by number.
func (s *Session) Waits() ([]Wait, error) {
	return ask(s, func() ([]Wait, error) { return s.waits() })
}

// ThreadWait returns what a thread waits for.
func (s *Session) ThreadWait(id target.ThreadID) (Wait, error) {
	return ask(s, func() (Wait, error) {
		if err := s.needStopped(); err != nil {
			return Wait{}, err
		}
		if !s.hasThread(id) {
			return Wait{}, fmt.Errorf("%w: %d", target.ErrNoThread, id)
		}
		for _, t := range s.threads.all {
			if t.ID == id {
				return s.waitOf(t, s.newOwners()), nil
			}
		}
		return Wait{}, target.ErrNoThread
	})
}

func (s *Session) waits() ([]Wait, error) {
	if err := s.needStopped(); err != nil {
		return nil, err
	}
	s.refreshThreads()
	owners := s.newOwners()
	out := make([]Wait, 0, len(s.threads.all))
	for _, t := range s.threads.all {
		if s.cutShort() {
			return nil, s.ctx.Err()
		}
		out = append(out, s.waitOf(t, owners))
	}
	return out, nil
}

// waitOf decides what a thread waits for.
func (s *Session) waitOf(t ThreadInfo, o *owners) Wait {
	w := Wait{Thread: t, Call: s.systemCallOf(t.ID)}
	if w.Call == nil || w.Call.Returned {
		return w
	}
	w.Kind = WaitCall
	c := w.Call
	switch c.Number {
	case sysWait4:
		const noHang = 1
		if c.args[2]&noHang == 0 {
			w.Kind, w.Child = WaitChild, max(int(int32(c.args[0])), 0)
		}
	case sysWaitid:
		const noHang, pid = 1, 1
		if c.args[3]&noHang == 0 {
			w.Kind = WaitChild
			if c.args[0] == pid {
				w.Child = max(int(int32(c.args[1])), 0)
			}
		}
	case sysFutex:
		s.futexWait(&w, o)
	}
	if w.Child != 0 {
		s.childWait(&w, o)
	}
	if w.Object != 0 {
		w.Symbol = s.objectName(w.Object)
	}
	return w
}

// objectName returns the symbol at an address with an offset, or "".
func (s *Session) objectName(a target.Addr) string {
	name, off, ok := s.symbolize(a)
	switch {
	case !ok:
		return ""
	case off == 0:
		return name
	}
	return fmt.Sprintf("%s+%d", name, off)
}

// Operations of futex(2) that wait.
const (
	futexWait        = 0
	futexLockPI      = 6
	futexWaitBitset  = 9
	futexWaitRequeue = 11
	futexLockPI2     = 13
)

// futexWait decides what a thread in futex(2) waits for, by the functions that called it.
func (s *Session) futexWait(w *Wait, o *owners) {
	args := &w.Call.args
	word := target.Addr(args[0])
	switch args[1] & 0x7f {
	case futexWait, futexWaitBitset, futexWaitRequeue, futexLockPI, futexLockPI2:
	default:
		return
	}
	w.Kind, w.Object, w.Timed = WaitFutex, word, args[3] != 0
	if op := args[1] & 0x7f; op == futexLockPI || op == futexLockPI2 {
		// The kernel's own rule: the word has the owner's id.
		w.Kind, w.Holder = WaitMutex, o.inWord(word)
		return
	}
	const depth = 10
	for level := range depth {
		f, err := s.frame(w.Thread.ID, level)
		if err != nil {
			break
		}
		if kind := s.waitFunction(&f, o); kind != NotWaiting {
			w.Kind = kind
			break
		}
	}
	const private = 0x80
	if w.Kind == WaitFutex && args[1]&private == 0 && o.libc == glibc && o.ended(word) != 0 {
		w.Kind = WaitThread // pthread_join, in a library without symbols
	}
	switch w.Kind {
	case WaitMutex:
		w.Object, w.Holder = o.mutex(word)
	case WaitRustMutex:
		w.Holder = o.rustHolder(word, w.Thread.ID)
		w.Probable = w.Holder != 0
	case WaitReadLock, WaitWriteLock:
		w.Object, w.Holder = o.rwlock(word, w.Kind)
	case WaitCondition:
		w.Object = o.condition(word)
	case WaitThread:
		w.Holder = o.joined(word, uint32(args[2]))
		w.Object = 0
	}
}

// waitFunctions are the functions of C libraries that wait, without the underscores before their
// names.
var waitFunctions = map[string]WaitKind{
	"pthread_mutex_lock": WaitMutex, "pthread_mutex_lock_full": WaitMutex, "pthread_mutex_timedlock": WaitMutex,
	"pthread_mutex_clocklock": WaitMutex, "pthread_mutex_clocklock_common": WaitMutex, "pthread_mutex_cond_lock": WaitMutex,
	"pthread_mutex_cond_lock_full": WaitMutex,
	"pthread_rwlock_rdlock":        WaitReadLock, "pthread_rwlock_timedrdlock": WaitReadLock, "pthread_rwlock_clockrdlock": WaitReadLock,
	"pthread_rwlock_rdlock_full64": WaitReadLock, "pthread_rwlock_rdlock_full": WaitReadLock,
	"pthread_rwlock_wrlock": WaitWriteLock, "pthread_rwlock_timedwrlock": WaitWriteLock, "pthread_rwlock_clockwrlock": WaitWriteLock,
	"pthread_rwlock_wrlock_full64": WaitWriteLock, "pthread_rwlock_wrlock_full": WaitWriteLock,
	"pthread_cond_wait": WaitCondition, "pthread_cond_timedwait": WaitCondition, "pthread_cond_clockwait": WaitCondition,
	"pthread_cond_wait_common": WaitCondition, "pthread_cond_timedwait64": WaitCondition, "pthread_cond_clockwait64": WaitCondition,
	"sem_wait": WaitSemaphore, "sem_timedwait": WaitSemaphore, "sem_clockwait": WaitSemaphore, "new_sem_wait": WaitSemaphore,
	"pthread_barrier_wait": WaitBarrier,
	"pthread_join":         WaitThread, "pthread_clockjoin_ex": WaitThread, "pthread_timedjoin_np": WaitThread, "pthread_clockjoin_np": WaitThread,
}

// waitFunction returns the kind of a function that waits. A function of a C library counts only in
// that library: a program's function of the same name may have locks of another layout.
func (s *Session) waitFunction(f *Frame, o *owners) WaitKind {
	name := f.FunctionName
	if i := strings.IndexByte(name, '@'); i >= 0 {
		name = name[:i]
	}
	switch {
	case strings.HasPrefix(name, "runtime.futex"):
		return WaitGoRuntime
	case strings.Contains(name, "mutex::futex::Mutex::lock_contended"), strings.Contains(name, "futex_mutex::Mutex::lock_contended"):
		return WaitRustMutex
	case strings.Contains(name, "rwlock::futex::RwLock::"), strings.Contains(name, "futex_rwlock::RwLock::"):
		return WaitRustRwLock
	case strings.Contains(name, "condvar::futex::"), strings.Contains(name, "thread_parking::futex::"), strings.Contains(name, "once::futex::"):
		return WaitRustOther
	}
	kind := waitFunctions[strings.TrimLeft(strings.TrimPrefix(name, "__GI_"), "_")]
	if kind != NotWaiting && (f.Module == nil || !o.isLibrary(f.Module)) {
		return NotWaiting
	}
	return kind
}
