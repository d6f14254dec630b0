package session

import (
	"os"

	"dbg/eval"
	"dbg/frames"
	"dbg/image"
	"dbg/image/debuginfod"
	"dbg/symbols"
	"dbg/symbols/names"
	"dbg/target"
)

// Value is a typed value of the program; faces format it with Session.Format.
type Value = eval.Value

// Config is what a session is made from.
type Config struct {
	Sysroot   string
	DebugDirs []string // separate debug files; nil means /usr/lib/debug
	// Debuginfod says which servers are asked for debug information; without any none are.
	Debuginfod debuginfod.Config
	// IndexDir is the folder in which indexes of names are kept, see symbols.Options; "" is none.
	IndexDir string
	// Indexing is told how far an index of names is, from any goroutine, while a question waits for it; may be nil.
	Indexing func(names.Progress)
	// Guardian is the path of a program that calls kinds.RunGuardian: it repairs a process that was attached to if this program
	// is killed. "": nobody does.
	Guardian string
	// KeepASLR leaves address-space randomisation on for launched programs.
	KeepASLR bool
	Log      func(format string, args ...any) // may be nil
}

// Program is what is to be launched.
type Program struct {
	Path string // searched in PATH if it has no slash
	Args []string
	Dir  string   // "" is the current one
	Env  []string // nil is dbg's own
	// Stdin, Stdout, Stderr are the program's; nil means dbg's own.
	Stdin, Stdout, Stderr *os.File
	// Capture makes the session read the program's output and publish it as
	// Output events; it overrides Stdout and Stderr, and stdin is /dev/null.
	Capture bool
	// Terminal gives the program the terminal while it runs.
	Terminal bool
}

// State is what the session is doing.
type State uint8

const (
	NoProgram  State = iota // nothing loaded
	NotStarted              // a program is loaded, no process
	IsRunning
	IsStopped
	IsCore
)

// ThreadInfo is a thread as faces show it.
type ThreadInfo struct {
	Number   int // 1, 2, ... in order of appearance; gdb's thread numbers
	ID       target.ThreadID
	Name     string
	Signal   *target.SignalInfo
	Selected bool
}

// Frame is one level of a backtrace as faces show it: a machine frame, or an
// inlined call in one.
type Frame struct {
	Level        int               // 0 is the innermost
	Machine      *frames.Frame     // the machine frame; inlined calls share it
	PC           target.Addr       // for an inlined call, that of its machine frame
	Function     *symbols.Function // nil if not known
	FunctionName string            // "" if not known; an ELF symbol's where there is no debug information
	Offset       uint64            // PC - function start
	Position     symbols.Position
	Inlined      bool
	// TailCall says that the function is no longer on the stack: it ended in a tail call to that of the level below,
	// whose machine frame it shares. Its registers are gone.
	TailCall bool
	// Dummy marks the frame to which a function returns that was called from dbg. It stands for no
	// code; the frames after it are those that were there before the call.
	Dummy  bool
	Module *Module // nil if not known
	// ShowPC says that PC is not at the start of a line, so that gdb's form has the address.
	ShowPC   bool
	Strategy string
	Trust    string
	Attempts []frames.Attempt

	call   *symbols.Call
	lookup image.Addr
	tail   *tailLink // of TailCall

	outside   bool  // a called function is on the stack above
	walk      *walk // that found it
	survivors survivors
}

// Backtrace is the frames of a thread.
type Backtrace struct {
	Frames []Frame
	// End is why there are no more; nil if only a part was asked for and there are more.
	End *frames.End
}

// Module is a mapped file.
type Module struct {
	ID      int
	Path    string
	Lo, Hi  target.Addr
	Bias    uint64
	BuildID string
	// Problem says what is wrong: file not found, build id differs. "" if nothing is.
	Problem string
	Symbols *symbols.Module // nil if the file can't be had

	unwind *frames.Module
	file   *image.File
	jit    *jitEntry // of code that the program made, else nil

	jitSearched bool // for the GDB JIT interface
}

// LocationSpec says where a breakpoint is wanted. Exactly one of Function,
// File+Line and Addr is given; Text may have the user's own words.
type LocationSpec struct {
	Text     string
	Function string
	File     string
	Line     int
	Column   int // 0: any; else the nearest place of the line at or after it
	Addr     target.Addr
	HasAddr  bool

	// An address that a symbol has given is one of its file's, and moves with it.
	inProgram bool            // of the program itself
	file      *symbols.Module // of a library
	fileAddr  image.Addr
}

// BreakpointSpec is what a user asks for.
type BreakpointSpec struct {
	LocationSpec
	Condition string // an expression; stops when it is not 0
	Ignore    int    // so many hits do not stop
	// HitCondition is DAP's: "5", ">5", ">=5", "%2", "==5".
	HitCondition string
	LogMessage   string // printed instead of stopping; {expr} is replaced
	Temporary    bool
	Thread       target.ThreadID // 0: any
	Disabled     bool
}

// Breakpoint is a breakpoint as it stands. It is a copy.
type Breakpoint struct {
	ID      int
	Spec    BreakpointSpec
	Enabled bool
	Hits    int
	Places  []BreakpointPlace // none: pending
	// Problem says why there is no place, or why a condition could not be
	// evaluated.
	Problem string
}

// BreakpointPlace is one address of a breakpoint.
type BreakpointPlace struct {
	Addr     target.Addr
	Function string
	Position symbols.Position
	Module   *Module

	loc *symbols.Location // what Function and Position are of, if they are not known yet
}

// StepKind is how to step.
type StepKind uint8

const (
	StepInto        StepKind = iota // step: to another line, into calls
	StepOver                        // next
	StepOut                         // finish
	StepInstruction                 // stepi
	NextInstruction                 // nexti
)

// Scope is a group of variables of a frame.
type ScopeKind uint8

const (
	ScopeArguments ScopeKind = iota
	ScopeLocals
	ScopeRegisters
	ScopeVariables // the arguments, then the locals
)

// Instruction is one disassembled instruction.
type Instruction struct {
	Addr     target.Addr
	Bytes    []byte
	Text     string
	Function string
	Offset   uint64
	Position symbols.Position
}

// RegisterValue is a register of a frame.
type RegisterValue struct {
	Name  string
	Value uint64
	Known bool // false shows as <not saved>
}
