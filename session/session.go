package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"dbg/arch"
	"dbg/cfi"
	"dbg/eval"
	"dbg/frames"
	"dbg/image"
	"dbg/symbols"
	"dbg/target"
	"dbg/target/kinds"
)

// Session is one debug session as one client uses it. See the package comment. Under, At and NewClient make
// further handles of the same session.
type Session struct {
	*shared
	*cursor
	asked context.Context // ends the queries made through this handle
	at    uint64          // the number of the stop that they are about; 0: whichever holds

	quietly bool // evaluations call no functions, see WithoutCalls
}

// shared is what all handles of a session have in common.
type shared struct {
	own    *Session // the first handle, which the session's own goroutines use: nobody cancels what they do
	cfg    Config
	ctl    control
	lane   chan struct{} // holds a token while somebody is in the lane, see enter
	closed chan struct{} // closed when the session is
	rules  atomic.Pointer[ruleSet]
	// slowPlan says that the latest decision of a plan took long: the next one is not made on the tracer's thread.
	slowPlan atomic.Bool
	marks    atomic.Uint64 // of Mark
	names    sourceNames
	sets     breakpointSets
	inMain   atomic.Int64 // the breakpoint of StopInMain; 0: there is none
	// cut says that the query at work was cancelled in the middle of something, so that what it has found is no answer.
	cut atomic.Bool
	// hurried says that nobody is to wait for slow subscribers: the process ends.
	hurried atomic.Bool

	subMu     sync.Mutex // guards subs and subsEnded
	subs      map[*subscriber]bool
	subsEnded bool

	// All below belongs to the holder of the lane.

	ctx       context.Context // of the present query
	heldSince time.Time       // when the process was stopped
	quiet     bool            // modules come and go without events
	state     State
	program   Program
	tgt       target.Target  // nil when there is neither process nor core
	proc      target.Process // nil for a core
	core      coreFile       // nil for a process
	output    *capture

	files    map[string]*fileEntry // opened files by path
	exeFile  *symbols.Module       // of the loaded program
	modules  moduleList
	compiler cfi.Compiler // of the modules' unwind tables
	made     madeCode     // code in no file
	perf     perfMap
	space    *space

	threads  threadList
	cursors  []*cursor
	cache    stopCache
	stops    uint64           // how often the cache was dropped
	unwind   *frames.Unwinder // of unwindOf; what it has learned about code outlives a stop
	unwindOf target.Target
	sources  sourceCache
	fetcher  fetcher

	breakpoints breakpointTable
	courses     courses
	callSite    target.Addr // where called functions return to, if a site is there
	calls       []*call     // functions of the program that were called, the innermost last
	// unwindOnSignal: a signal inside a called function restores the registers at once.
	unwindOnSignal bool
	stepFrom       frameMark // where the latest step began
	hidden         hiddenCalls
	dirty          bool // rules are out of date
	decided        map[target.ThreadID]decision
	linked         bool          // the dynamic linker is followed
	deciding       bool          // a thread is stopped, while others run, and what it has come to is being decided
	moveFailed     bool          // the latest thread that was to go on had been stopped with all others
	done           chan struct{} // closed when the events of proc have been dealt with
	signals        map[int]SignalSetting
}

// New makes a session that has no program yet.
func New(cfg Config) *Session {
	s := &Session{shared: &shared{
		cfg:     cfg,
		lane:    make(chan struct{}, 1),
		closed:  make(chan struct{}),
		ctx:     context.Background(),
		files:   map[string]*fileEntry{},
		decided: map[target.ThreadID]decision{},
		signals: map[int]SignalSetting{},
	}}
	s.asked = context.Background()
	s.cursor, s.own = s.newCursor(), s
	s.modules = s.noModules()
	s.breakpoints.init()
	s.newFetcher()
	return s
}

// State returns what the session is doing.
func (s *Session) State() State {
	s.ctl.mu.Lock()
	defer s.ctl.mu.Unlock()
	return s.ctl.state
}

// setState changes what the session is doing, for itself and for those who control it.
func (s *Session) setState(st State) {
	s.state = st
	s.ctl.mu.Lock()
	s.ctl.state, s.ctl.proc, s.ctl.done = st, s.proc, s.done
	s.ctl.mu.Unlock()
}

// Load reads a program that is to be run later. Breakpoints can be set in it.
func (s *Session) Load(p Program) error {
	return s.try(func() error { return s.load(p) })
}

func (s *Session) load(p Program) error {
	if s.tgt != nil {
		return errors.New("the program is already being run")
	}
	path, err := findProgram(p.Path)
	if err != nil {
		return err
	}
	if p.Dir != "" { // the path is relative to our folder, not to the program's
		if path, err = filepath.Abs(path); err != nil {
			return err
		}
	}
	p.Path = path
	name := path
	if abs, err := filepath.Abs(path); err == nil {
		name = abs
	}
	m, err := s.openFile(name, path)
	if err != nil {
		return err
	}
	if err := runnable(m.File()); err != nil {
		return err
	}
	s.program, s.exeFile = p, m
	s.setState(NotStarted)
	s.resolveAll()
	return nil
}

// findProgram looks a program up as a shell would.
func findProgram(path string) (string, error) {
	if strings.Contains(path, "/") {
		return path, nil
	}
	if _, err := os.Stat(path); err == nil {
		return "./" + path, nil
	}
	if p, err := exec.LookPath(path); err == nil {
		return p, nil
	}
	return path, nil
}

// runnable says why a file can't be run here, if it can't.
func runnable(f *image.File) error {
	switch {
	case f.Kind() == image.CoreFile:
		return fmt.Errorf("%s is a core file; open it with: dbg core %s", f.Path(), f.Path())
	case f.Kind() == image.Relocatable:
		return fmt.Errorf("%s is an object file, not a program", f.Path())
	case f.Arch() == nil || f.Arch() != arch.AMD64:
		return fmt.Errorf("%s is a program for %s; this dbg can run amd64 programs only", f.Path(), f.Machine())
	}
	return nil
}

// SetArgs changes the arguments of the next Run.
func (s *Session) SetArgs(args []string) error {
	return s.try(func() error { s.program.Args = args; return nil })
}

// Program returns what is loaded.
func (s *Session) Program() Program {
	p, _ := ask(s, func() (Program, error) { return s.program, nil })
	return p
}

// Start launches the loaded program and leaves it at its first instruction.
// A process that is there already is killed first.
func (s *Session) Start() error {
	return s.try(s.start)
}

func (s *Session) start() error {
	if s.exeFile == nil {
		return errors.New("no program is loaded")
	}
	if s.state == IsCore {
		return errors.New("a core file is open")
	}
	if err := checkFolder(s.program.Dir); err != nil {
		return err
	}
	if s.tgt != nil {
		s.dropTarget()
	}
	opts := kinds.Launch{
		Path: s.program.Path, Args: s.program.Args, Dir: s.program.Dir, Env: s.program.Env,
		Stdin: s.program.Stdin, Stdout: s.program.Stdout, Stderr: s.program.Stderr,
		KeepASLR: s.cfg.KeepASLR,
	}
	if opts.Env == nil {
		opts.Env = os.Environ()
	}
	if opts.Stdin == nil {
		opts.Stdin = os.Stdin
	}
	if opts.Stdout == nil {
		opts.Stdout = os.Stdout
	}
	if opts.Stderr == nil {
		opts.Stderr = os.Stderr
	}
	if s.program.Terminal {
		opts.Terminal = os.Stdin
	}
	var cap *capture
	if s.program.Capture {
		var err error
		if cap, err = newCapture(s); err != nil {
			return err
		}
		opts.Stdin, opts.Stdout, opts.Stderr = cap.stdin, cap.stdout, cap.stderr
	}
	p, err := s.openProcess(kinds.Spec{Launch: &opts})
	if cap != nil {
		cap.started(err == nil)
	}
	if err != nil {
		return err
	}
	s.output = cap
	s.adopt(p, p)
	return nil
}

// Attach stops a running process and debugs it.
func (s *Session) Attach(pid int) error {
	return s.try(func() error {
		if s.tgt != nil {
			return errors.New("a program is already being debugged")
		}
		p, err := s.openProcess(kinds.Spec{Attach: &kinds.Attach{PID: pid, Guardian: s.cfg.Guardian}})
		if err != nil {
			return err
		}
		s.adopt(p, p)
		return nil
	})
}

// openProcess opens a live target.
func (s *Session) openProcess(spec kinds.Spec) (target.Process, error) {
	t, err := kinds.Open(spec)
	if err != nil {
		return nil, err
	}
	return t.(target.Process), nil
}

// OpenCore opens a core file. An exe of "" means that the program is found
// through the core.
func (s *Session) OpenCore(path, exe string) error {
	return s.try(func() error {
		if s.tgt != nil {
			return errors.New("a program is already being debugged")
		}
		if exe != "" {
			// A wrong EXE is the user's error and is said before anything else.
			f, err := image.Open(exe)
			if err != nil {
				return err
			}
			f.Close()
		}
		c, err := s.openCoreFile(path, exe)
		if err != nil {
			return err
		}
		s.core = c
		s.program.Path = c.Exe()
		s.adopt(c, nil)
		for _, w := range c.Warnings() {
			s.publish(LogMessage{Text: w, Warning: true})
		}
		return nil
	})
}

// Warnings returns what is doubtful about the target: a truncated core, a
// program that is not the core's.
func (s *Session) Warnings() []string {
	out, _ := ask(s, func() ([]string, error) {
		var out []string
		if s.core != nil {
			out = append(out, s.core.Warnings()...)
		}
		for _, m := range s.modules.all {
			if m.Problem != "" {
				out = append(out, m.Path+": "+m.Problem)
			}
		}
		for _, l := range s.made.lists {
			out = append(out, l.troubles...)
		}
		return out, nil
	})
	return out
}

// adopt makes t the session's target; it is stopped.
func (s *Session) adopt(t target.Target, p target.Process) {
	s.tgt, s.proc = t, p
	s.heldSince = time.Now()
	s.space = &space{s: s}
	s.setState(IsStopped)
	clear(s.decided)
	if p == nil {
		s.setState(IsCore)
	} else {
		s.done = make(chan struct{})
		s.hurried.Store(false)
		s.setState(IsStopped)
		p.SetJudge(s.own.judge(p))
		go s.own.follow(p, s.done)
		for n := 1; n < target.NumSignals; n++ {
			if set, ok := s.signals[n]; ok {
				p.SetSignalPolicy(n, set.SignalPolicy)
			}
		}
	}
	s.dropCache()
	s.threads = threadList{}
	s.breakpoints.forgetSites() // places in the file are not places in the process
	s.linked = false
	s.refreshModules()
	if s.program.Path == "" {
		s.program.Path = t.Exe()
	}
	if s.exeFile == nil {
		if m := s.exeModule(); m != nil {
			s.exeFile = m.Symbols
		}
	}
	s.resolveAll()
	s.refreshThreads()
	if all := s.threads.all; len(all) > 0 {
		s.point(all[0].ID)
	}
	s.setStop(Stop{Reason: StopEntry, Thread: s.selected})
}

// setStop remembers the newest stop.
func (s *Session) setStop(st Stop) {
	s.ctl.mu.Lock()
	s.ctl.setStop(st)
	s.ctl.mu.Unlock()
}

// dropTarget ends the process (or lets an attached one go) and forgets it.
func (s *Session) dropTarget() error {
	if s.tgt == nil {
		return nil
	}
	s.endCourses()
	s.logHeld()
	err := s.tgt.Close()
	s.forgetTarget()
	return err
}

// forgetTarget clears what belongs to a process that is no more.
func (s *Session) forgetTarget() {
	s.tgt, s.proc, s.core = nil, nil, nil
	s.space, s.unwind, s.unwindOf = nil, nil, nil
	s.courses = courses{}
	s.endCalls(0, exitedInCall)
	s.dropCache()
	s.forgetJIT()
	s.modules = s.noModules()
	s.threads = threadList{}
	s.breakpoints.forgetSites()
	s.point(0)
	clear(s.decided)
	if s.output != nil {
		s.output.finish()
		s.output = nil
	}
	if s.exeFile != nil {
		s.setState(NotStarted)
	} else {
		s.setState(NoProgram)
	}
}

// findFile maps a path that was recorded elsewhere to a file here.
func (s *Session) findFile(path, _ string) string {
	if s.cfg.Sysroot != "" {
		p := filepath.Join(s.cfg.Sysroot, path)
		if _, err := os.Stat(p); err == nil {
			return p
		}
	}
	return path
}

// TargetInfo says what is being debugged.
type TargetInfo struct {
	Kind   target.Kind
	PID    int
	Exe    string
	Arch   *arch.Arch
	Signal *target.SignalInfo // a core's
}

// Target returns what is being debugged; false if there is nothing.
func (s *Session) Target() (TargetInfo, bool) {
	var ti TargetInfo
	ok := false
	s.do(func() {
		if s.tgt == nil {
			return
		}
		ok = true
		ti = TargetInfo{Kind: s.tgt.Kind(), PID: s.tgt.PID(), Exe: s.tgt.Exe(), Arch: s.tgt.Arch()}
		if s.state == IsCore {
			for _, t := range s.threads.all {
				if t.Signal != nil {
					ti.Signal = t.Signal
					break
				}
			}
		}
	})
	return ti, ok
}

// logHeld says how long the process was held since it was adopted or last let go.
func (s *Session) logHeld() {
	if s.proc != nil && s.state == IsStopped {
		s.logf("process %d was held for %v", s.proc.PID(), time.Since(s.heldSince))
	}
}

func (s *Session) logf(format string, args ...any) {
	if s.cfg.Log != nil {
		s.cfg.Log(format, args...)
	}
}

// unwinder returns the unwinder of the present target.
func (s *Session) unwinder() *frames.Unwinder {
	if s.unwind == nil || s.unwindOf != s.tgt {
		s.unwind, s.unwindOf = frames.New(s.tgt.Arch(), s.space), s.tgt
		if t, ok := s.tgt.(codeSizer); ok {
			s.unwind.CodeBits = t.CodeBits()
		}
	}
	return s.unwind
}

// Format gives a value in gdb's form.
func (s *Session) Format(v Value, opt eval.Options) string {
	out, _ := ask(s, func() (string, error) { return eval.Format(v, s.env(s.selected, s.level), opt), nil })
	return out
}

// Adopt debugs a process that somebody else has launched or attached to, and that is stopped. The session owns it from then on.
func (s *Session) Adopt(p target.Process) error {
	return s.try(func() error {
		if s.tgt != nil {
			return errors.New("a program is already being debugged")
		}
		s.adopt(p, p)
		return nil
	})
}
