package unwindcheck

import (
	"time"

	"dbg/frames"
)

// Report is the result of a run.
type Report struct {
	Program      string
	Instructions uint64
	Correct      uint64 // instructions whose caller was correct
	Proven       uint64 // of Correct: those that differ from the entry, but fit where control went
	Wrong        uint64
	WrongRows    uint64 // instructions with a wrong row that the unwinder rejected
	NotGivenBack uint64 // of Wrong: those about a register that the function does not restore
	Exact        uint64 // correct callers with trust exact; only with Options.Prove
	ExactWrong   uint64 // wrong callers with trust exact: wrong PC, CFA or stack pointer
	Deeper       uint64 // correct callers of callers
	DeeperWrong  uint64
	Ranges       []Wrong
	Threads      int
	Signals      uint64 // signal handlers that were entered
	Execs        int
	Functions    int // entries of tables that were used
	Rows         int // rows of these
	// UnknownRegisters counts the callee-saved registers without a value in correct callers.
	UnknownRegisters uint64
	Strategies       []StrategyCount // the strategies that were used
	NotJudged        map[string]uint64
	Exit             int // the program's exit status
	Signal           int // the signal that ended it, or 0
	Elapsed          time.Duration

	strategies [32]StrategyCount // frames.StrategySet has room for as many
}

// StrategyCount holds the results of one strategy.
type StrategyCount struct {
	Name    string
	Judged  uint64
	Correct uint64
}

// Wrong is a range of instructions at which the unwinder is wrong in the same way.
type Wrong struct {
	Module   string // the name of its file; "" for code outside modules
	Path     string
	Lo, Hi   uint64 // addresses of the first and the last wrong instruction, in the module's file
	Function string // of Lo; "" if it has no name
	Offset   uint64 // of Lo in Function
	Origin   string // ".eh_frame FDE 0x5a8", or the strategy
	Table    string // "" if no table covers it
	Entry    uint64 // the offset in the table
	Strategy string
	Kind     string // what is wrong: "cfa", "return-address", ...
	Register string // for the kinds "register" and "unknown-register"
	Text     string // the claim and the truth, at the first hit of Lo
	// NotGivenBack means that the function returned with another value in Register: it has its own
	// calling convention, and its table should mark the register as undefined.
	NotGivenBack bool
	Places       int    // instructions
	Hits         uint64 // the number of executions

	bias uint64
}

func newReport() *Report { return &Report{NotJudged: map[string]uint64{}} }

// Judged returns the number of judged instructions.
func (r *Report) Judged() uint64 { return r.Correct + r.Wrong }

// Share returns the share of judged instructions that were correct, or 1 if none were judged.
func (r *Report) Share() float64 {
	if r.Judged() == 0 {
		return 1
	}
	return float64(r.Correct) / float64(r.Judged())
}

// Clean reports whether nothing at all was wrong.
func (r *Report) Clean() bool { return len(r.Ranges) == 0 }

func (r *Report) finish(c *checker, elapsed time.Duration) {
	r.Elapsed = elapsed
	r.Rows, r.Functions = len(c.rows), len(c.entries)
	for i, s := range r.strategies {
		if s.Judged > 0 {
			s.Name = frames.Strategy(i).String()
			if frames.Strategy(i) == frames.Context {
				s.Name = "end" // no strategy: the walk ends
			}
			r.Strategies = append(r.Strategies, s)
		}
	}
}
