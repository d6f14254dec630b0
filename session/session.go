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
	"dbg/eval/view"
	"dbg/frames"
	"dbg/image"
	"dbg/symbols"
	"dbg/symbols/lang"
	"dbg/target"
	"dbg/target/kinds"
)

// Session is a handle of a debug session for one client. See the package comment. Under, At and
// NewClient make other handles of the same session.
type Session struct {
	*shared
	*cursor
	asked context.Context // cancels the queries of this handle
	at    uint64          // the number of the stop to query; 0 means the current one

	quietly bool // evaluations call no functions, see WithoutCalls
}

// shared is the state that all handles of a session share.
type shared struct {
	own    *Session // the first handle, for the session's own goroutines; never cancelled
	cfg    Config
	ctl    control
	group  *group
	number atomic.Int64  // in the group
	forked bool          // the process is a child that another process of the group has created
	lane   chan struct{} // the group's: holds a token while the lane is held, see enter
	closed chan struct{} // closed when the session is closed
	rules  atomic.Pointer[ruleSet]
	// slowPlan means that the latest decision of a plan was slow: the next one is not made on the
	// tracer's thread.
	slowPlan atomic.Bool
	marks    atomic.Uint64 // counts Marks
	names    sourceNames
	sets     breakpointSets
	views    *view.Set    // how people read values
	inMain   atomic.Int64 // the breakpoint of StopInMain; 0 if there is none
	// cut means that the running query was cancelled in the middle of something, so its result
	// can't be used.
	cut atomic.Bool
	// hurried means that nothing must wait for slow subscribers, because the process is ending.
	hurried atomic.Bool

	subMu     sync.Mutex // guards subs and subsEnded
	subs      map[*subscriber]bool
	subsEnded bool

	// All fields below belong to the holder of the lane.

	ctx       context.Context // of the current query
	heldSince time.Time       // when the process was stopped
	quiet     bool            // do not publish changes of modules
	state     State
	program   Program
	shell     ShellSettings
	terminal  *os.File // of SetTerminal
	locking   Locking
	tgt       target.Target  // nil if there is neither a process nor a core
	proc      target.Process // nil for a core
	core      coreFile       // nil for a process
	output    *capture

	files    map[string]*fileEntry // the group's open files; see fileKey for most of the keys
	exeFile  *symbols.Module       // the loaded program
	modules  moduleList
	compiler cfi.Compiler // for the modules' unwind tables
	made     madeCode     // code in no file
	dyn      dynCode      // code that was registered with libunwind
	reg      regCode      // code whose call frame information was registered
	perf     perfMap
	space    *space

	threads  threadList
	exited   bool // a process has exited with exitCode
	exitCode int
	// endSignal is the signal that ended the last process, or 0; settings answers $_gdb_setting.
	endSignal int
	settings  func(name string) (string, bool)
	cursors   []*cursor
	cache     stopCache
	stops     uint64           // how often the cache was dropped
	unwind    *frames.Unwinder // for unwindOf; it keeps facts about code across stops
	unwindOf  target.Target
	// strategies are those that find frames; 0 means all.
	strategies frames.StrategySet
	sources    sourceCache
	fetcher    *fetcher // the group's

	breakpoints breakpointTable
	skips       *skipList // the group's
	courses     courses
	landings    landingSites
	callSite    target.Addr                   // where called functions return to, if a site is there
	goSites     map[target.Addr]bool          // the traps of Go's protocol for calls where a site is
	goProtocols map[goProtocolKey]*goProtocol // what is known of it
	calls       []*call                       // functions of the program that were called, the innermost last
	// unwindOnSignal: a signal inside a called function restores the registers at once.
	unwindOnSignal bool
	stepMode       bool // step enters functions without line numbers
	intelSyntax    bool // x86 instructions are shown in Intel's notation
	nearest        nearestNames
	printObject    bool      // see SetPrintObject
	language       lang.Lang // see SetLanguage
	checkpoints    checkpoints
	followed       map[target.Process]chan struct{} // the processes whose events are handled: see listen
	probing        bool                             // the target has a probe
	softOnly       bool                             // watchpoints use no debug registers
	heir           *heir                            // a child that is followed when the program continues
	saved          *Stop                            // a stop that is reported when the group continues
	stepFrom       frameMark                        // where the latest step began
	hidden         hiddenCalls
	dirty          bool // rules must be published again
	decided        map[target.ThreadID]decision
	arrival        uint64 // of the event that is being decided; 0: unknown
	sent           sentCatches
	caught         map[target.ThreadID][]*Caught // what catchpoints caught, until the stop is published
	linked         bool                          // followLinker was called
	deciding       bool                          // a decision about one stopped thread is being made
	moveFailed     bool                          // the latest Move failed because all threads had been stopped
	done           chan struct{}                 // closed when the events of proc have been handled
	signals        map[int]SignalSetting         // the group's
}

// New makes a session without a program.
func New(cfg Config) *Session {
	s := newSession(cfg, newGroup(), map[string]*fileEntry{})
	s.newFetcher()
	return s
}

// newSession makes a session in a group. It has no fetcher.
func newSession(cfg Config, g *group, files map[string]*fileEntry) *Session {
	s := &Session{shared: &shared{
		cfg:         cfg,
		closed:      make(chan struct{}),
		ctx:         context.Background(),
		files:       files,
		decided:     map[target.ThreadID]decision{},
		caught:      map[target.ThreadID][]*Caught{},
		goSites:     map[target.Addr]bool{},
		goProtocols: map[goProtocolKey]*goProtocol{},
		signals:     map[int]SignalSetting{},
		skips:       &skipList{},
	}}
	s.asked = context.Background()
	s.cursor, s.own = s.newCursor(), s
	s.modules = s.noModules()
	s.breakpoints.init()
	g.join(s)
	return s
}

// State returns the state of the session.
func (s *Session) State() State {
	s.ctl.mu.Lock()
	defer s.ctl.mu.Unlock()
	return s.ctl.state
}

// setState sets the state of the session, for itself and in control.
func (s *Session) setState(st State) {
	s.state = st
	s.ctl.mu.Lock()
	s.ctl.state, s.ctl.proc, s.ctl.done = st, s.proc, s.done
	s.ctl.mu.Unlock()
}

// Load reads a program that will be run later. Breakpoints can be set in it.
func (s *Session) Load(p Program) error {
	return s.try(func() error { return s.load(p) })
}

func (s *Session) load(p Program) error {
	if s.tgt != nil {
		return errors.New("the program is already running")
	}
	path, err := findProgram(p.Path)
	if err != nil {
		return err
	}
	if p.Dir != "" { // the path is relative to our directory, not to the program's
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

// findProgram finds a program as a shell does.
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

// runnable returns an error if a file can't be run here.
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

// Program returns the loaded program.
func (s *Session) Program() Program {
	p, _ := ask(s, func() (Program, error) { return s.program, nil })
	return p
}

// Start launches the loaded program and stops it at its first instruction. If there is already a
// process, Start kills it first.
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
	if s.tgt != nil || len(s.checkpoints.list) > 0 {
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
	s.byShell(&opts)
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

// OpenCore opens a core file. If exe is "", the program is found through the core.
func (s *Session) OpenCore(path, exe string) error {
	return s.try(func() error {
		if s.tgt != nil {
			return errors.New("a program is already being debugged")
		}
		if exe != "" {
			// A wrong EXE is the user's error, so it is reported first.
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

// Warnings returns the problems of the target: a truncated core, a program that does not belong to
// the core.
func (s *Session) Warnings() []string {
	out, _ := ask(s, func() ([]string, error) {
		var out []string
		if s.core != nil {
			out = append(out, s.core.Warnings()...)
		}
		out = append(out, s.modules.problems()...)
		for _, l := range s.made.lists {
			out = append(out, l.troubles...)
		}
		return out, nil
	})
	return out
}

// adopt makes t, which is stopped, the session's target.
func (s *Session) adopt(t target.Target, p target.Process) {
	s.tgt, s.proc = t, p
	s.heldSince = time.Now()
	s.space = &space{s: s}
	s.setState(IsStopped)
	clear(s.decided)
	clear(s.caught)
	if p == nil {
		s.setState(IsCore)
	} else {
		s.hurried.Store(false)
		p.SetJudge(s.own.judge(p))
		s.sent = sentCatches{}
		s.listen(p)
		s.done = s.followed[p]
		s.setState(IsStopped)
		for n := 1; n < target.NumSignals; n++ {
			if set, ok := s.signals[n]; ok {
				p.SetSignalPolicy(n, set.SignalPolicy)
			}
		}
	}
	s.dropCache()
	s.threads = threadList{}
	s.breakpoints.forgetSites() // addresses in the file are not addresses in the process
	s.dropFramedWatches()
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

// listen begins to handle the events of a process, if the session does not yet.
func (s *Session) listen(p target.Process) {
	if s.followed[p] != nil {
		return
	}
	if s.followed == nil {
		s.followed = map[target.Process]chan struct{}{}
	}
	done := make(chan struct{})
	s.followed[p] = done
	go s.own.follow(p, done)
}

// setStop records the latest stop.
func (s *Session) setStop(st Stop) {
	s.ctl.mu.Lock()
	s.ctl.setStop(st)
	s.ctl.mu.Unlock()
}

// dropTarget kills the process, or detaches from an attached one, and clears its state.
func (s *Session) dropTarget() error {
	if s.tgt == nil {
		s.dropCheckpoints()
		return nil
	}
	s.endCourses()
	s.logHeld()
	s.dropCheckpoints()
	if h := s.heir; h != nil { // it ends with its parent
		s.heir = nil
		_ = h.process.Close()
	}
	err := s.tgt.Close()
	s.forgetTarget()
	return err
}

// forgetTarget clears the state of a process that has ended.
func (s *Session) forgetTarget() {
	if h := s.heir; h != nil {
		s.heir = nil
		if err := h.process.Detach(); err != nil {
			s.logf("child %d: %v", h.process.PID(), err)
		}
	}
	s.saved, s.probing = nil, false
	delete(s.followed, s.proc)
	s.tgt, s.proc, s.core = nil, nil, nil
	s.space, s.unwind, s.unwindOf = nil, nil, nil
	s.courses = courses{}
	s.landings.at = nil
	s.endCalls(0, exitedInCall)
	s.dropCache()
	s.forgetJIT()
	s.modules = s.noModules()
	s.threads = threadList{}
	s.breakpoints.forgetSites()
	s.dropFramedWatches()
	s.point(0)
	clear(s.decided)
	clear(s.caught)
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

// findFile returns the path on this machine of a path that was recorded elsewhere.
func (s *Session) findFile(path, _ string) string {
	if s.cfg.Sysroot != "" {
		p := filepath.Join(s.cfg.Sysroot, path)
		if _, err := os.Stat(p); err == nil {
			return p
		}
	}
	return path
}

// TargetInfo describes the target.
type TargetInfo struct {
	Kind   target.Kind
	PID    int
	Exe    string
	Arch   *arch.Arch
	Signal *target.SignalInfo // of a core
}

// Target returns the target, or false if there is none.
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

// logHeld logs how long the process was stopped since it was adopted or last resumed.
func (s *Session) logHeld() {
	if s.proc != nil && s.state == IsStopped {
		s.logf("process %d was stopped for %v", s.proc.PID(), time.Since(s.heldSince))
	}
}

func (s *Session) logf(format string, args ...any) {
	if s.cfg.Log != nil {
		s.cfg.Log(format, args...)
	}
}

// unwinder returns the unwinder for the current target.
func (s *Session) unwinder() *frames.Unwinder {
	if s.unwind == nil || s.unwindOf != s.tgt {
		s.unwind, s.unwindOf = frames.New(s.tgt.Arch(), s.space), s.tgt
		if t, ok := s.tgt.(codeSizer); ok {
			s.unwind.CodeBits = t.CodeBits()
		}
		if s.strategies != 0 {
			s.unwind.Use = s.strategies
		}
	}
	return s.unwind
}

// Format formats a value as gdb does.
func (s *Session) Format(v Value, opt eval.Options) string {
	out, _ := ask(s, func() (string, error) { return eval.Format(v, s.env(s.selected, s.level), opt), nil })
	return out
}

// Adopt debugs a stopped process that the caller has launched or attached to. The session owns it
// from then on.
func (s *Session) Adopt(p target.Process) error {
	return s.try(func() error {
		if s.tgt != nil {
			return errors.New("a program is already being debugged")
		}
		s.adopt(p, p)
		return nil
	})
}
