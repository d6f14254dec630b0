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

// Value is a typed value of the program. Front ends format it with Session.Format.
type Value = eval.Value

// Config configures a session.
type Config struct {
	Sysroot   string
	DebugDirs []string // directories of separate debug files; nil means /usr/lib/debug
	// Debuginfod lists the servers that are asked for debug information. Without servers, none is
	// asked.
	Debuginfod debuginfod.Config
	// IndexDir is the directory for indexes of names, see symbols.Options; "" means none.
	IndexDir string
	// Indexing is called with the progress of an index of names while a query waits for it. It is
	// called from any goroutine, and may be nil.
	Indexing func(names.Progress)
	// Guardian is the path of a program that calls kinds.RunGuardian. It repairs an attached
	// process if this program is killed. "" means that the process is not repaired.
	Guardian string
	// KeepASLR keeps address-space randomisation on for launched programs.
	KeepASLR bool
	Log      func(format string, args ...any) // may be nil
}

// Program describes the program to launch.
type Program struct {
	Path string // searched in PATH if it has no slash
	Args []string
	Dir  string   // "" means the current directory
	Env  []string // nil means dbg's own
	// Stdin, Stdout and Stderr are the program's; nil means dbg's own.
	Stdin, Stdout, Stderr *os.File
	// Capture makes the session read the program's output and publish it as Output events. It
	// overrides Stdout and Stderr; stdin is then /dev/null.
	Capture bool
	// Terminal gives the program the terminal while it runs.
	Terminal bool
}

// State is the state of the session.
type State uint8

const (
	NoProgram  State = iota // nothing is loaded
	NotStarted              // a program is loaded, but there is no process
	IsRunning
	IsStopped
	IsCore
)

// ThreadInfo describes a thread for front ends.
type ThreadInfo struct {
	Number   int // 1, 2, ... in order of appearance; gdb's thread numbers
	ID       target.ThreadID
	Name     string
	Signal   *target.SignalInfo
	Selected bool
	Frozen   bool // it stays stopped while the others run: see FreezeThread
}

// Frame is one level of a backtrace for front ends: a machine frame, or an inlined call in one.
type Frame struct {
	Level        int               // 0 is the innermost
	Machine      *frames.Frame     // the machine frame; inlined calls share it
	PC           target.Addr       // for an inlined call, the PC of its machine frame
	Function     *symbols.Function // nil if unknown
	FunctionName string            // "" if unknown; the ELF symbol if there is no debug information
	Offset       uint64            // PC - function start
	Position     symbols.Position
	Inlined      bool
	// TailCall means that the function is no longer on the stack: it ended in a tail call to the
	// function of the level below, whose machine frame it shares. Its registers are lost.
	TailCall bool
	// Dummy marks the frame to which a function returns that was called from dbg. It stands for no
	// code; the frames after it are those that were there before the call.
	Dummy  bool
	Module *Module // nil if unknown
	// ShowPC means that PC is not at the start of a line, so gdb's format includes the address.
	ShowPC   bool
	Strategy string
	Trust    string
	Attempts []frames.Attempt

	call   *symbols.Call
	lookup image.Addr
	tail   *tailLink // if TailCall is set

	outside   bool  // a called function is on the stack above
	walk      *walk // the walk that found it
	survivors survivors
}

// Backtrace holds the frames of a thread.
type Backtrace struct {
	Frames []Frame
	// End tells why there are no more frames. It is nil if only a part was requested and there are
	// more.
	End *frames.End
}

// Module is a mapped file.
type Module struct {
	ID      int
	Path    string
	Lo, Hi  target.Addr
	Bias    uint64
	BuildID string
	// Problem tells what is wrong (file not found, build id differs), or is "".
	Problem string
	Symbols *symbols.Module // nil if the file can't be opened

	unwind *frames.Module
	file   *image.File
	jit    *jitEntry // for code that the program generated, else nil

	jitSearched bool // searched for the GDB JIT interface
	dynSearched bool // searched for libunwind's list of registered code
	regSearched bool // searched for lists of registered call frame information
}

// LocationSpec specifies the location of a breakpoint. Exactly one of Function, File with Line, and
// Addr is set. Text may hold the user's own words.
type LocationSpec struct {
	Text     string
	Function string
	File     string
	Line     int
	Column   int // 0 means any; else the first place on the line at or after it
	Addr     target.Addr
	HasAddr  bool

	// An address that comes from a symbol belongs to the symbol's file, and moves with it.
	inProgram bool            // the file is the program itself
	file      *symbols.Module // the library's file
	fileAddr  image.Addr
}

// BreakpointSpec is a user's request for a breakpoint.
type BreakpointSpec struct {
	LocationSpec
	Condition string // an expression; the breakpoint stops if it is not 0
	Ignore    int    // the number of hits to ignore
	// HitCondition has DAP's form: "5", ">5", ">=5", "%2", "==5".
	HitCondition string
	LogMessage   string // printed instead of stopping; {expr} is replaced
	// Watch, if it is not nil, makes it a watchpoint. It has no location then.
	Watch *WatchSpec
	// Catch, if it is not nil, makes it a catchpoint. It has no location then.
	Catch     *CatchSpec
	Temporary bool
	Thread    target.ThreadID // 0 means any
	Disabled  bool
	// Hardware uses a debug register and not a breakpoint instruction.
	Hardware bool
	// Once disables the breakpoint after its next stop. Count, if it is above 0, disables it after so
	// many stops.
	Once  bool
	Count int
	// LogFormat is printed instead of stopping, like LogMessage: dprintf.
	LogFormat *FormattedText
	// Trace, if it is not nil, makes it a tracepoint, which never stops the program.
	Trace *TraceSpec
}

// Breakpoint is a copy of a breakpoint's state.
type Breakpoint struct {
	ID      int
	Spec    BreakpointSpec
	Enabled bool
	Hits    int
	Places  []BreakpointPlace // empty if the breakpoint is pending
	// Problem tells why there is no place, or why a condition could not be evaluated.
	Problem string
	// Software means that a watchpoint is stepped: the processor can't watch its value.
	Software bool
	// Caught is what a catchpoint caught last, or nil.
	Caught *Caught
}

// BreakpointPlace is one address of a breakpoint.
type BreakpointPlace struct {
	Addr     target.Addr
	Function string
	Position symbols.Position
	Module   *Module
	Session  int // the number of the session, if there are several

	loc *symbols.Location // the source of Function and Position, until describe sets them
}

// StepKind is a kind of step.
type StepKind uint8

const (
	StepInto        StepKind = iota // step: to another line, into calls
	StepOver                        // next
	StepOut                         // finish
	StepInstruction                 // stepi
	NextInstruction                 // nexti
	StepUntil                       // until, without a location
)

// ScopeKind is a group of variables of a frame.
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
