package unwindcheck

import (
	"time"

	"dbg/frames"
)

// Report is what a run has found.
type Report struct {
	Program      string
	Instructions uint64
	Correct      uint64 // instructions whose caller was right
	Proven       uint64 // of them: not what the caller was at the entry, but where control came to
	Wrong        uint64
	WrongRows    uint64 // instructions whose row in the table is wrong, and was not believed: the caller that was found counts
	NotGivenBack uint64 // of them: about a register that the function does not give back
	Exact        uint64 // correct callers that were called exact; with Options.Prove only
	ExactWrong   uint64 // wrong ones that were: by PC, CFA or stack pointer
	Deeper       uint64 // callers of callers that were looked at and right
	DeeperWrong  uint64
	Ranges       []Wrong
	Threads      int
	Signals      uint64 // handlers that were entered
	Execs        int
	Functions    int // entries of tables that were exercised
	Rows         int // rows of them
	// UnknownRegisters counts the callee-saved registers that had no value in a caller which was right.
	UnknownRegisters uint64
	Strategies       []StrategyCount // that were used
	NotJudged        map[string]uint64
	Exit             int // the program's exit status
	Signal           int // the signal that ended it, or 0
	Elapsed          time.Duration

	strategies [16]StrategyCount
}

// StrategyCount is how a strategy did.
type StrategyCount struct {
	Name    string
	Judged  uint64
	Correct uint64
}

// Wrong is a range of instructions at which the unwinder is wrong in the same way.
type Wrong struct {
	Module   string // its file's name; "" for code of no module
	Path     string
	Lo, Hi   uint64 // the first and the last wrong instruction; in the module's own addresses
	Function string // of Lo; "" if it has no name
	Offset   uint64 // of Lo in it
	Origin   string // ".eh_frame FDE 0x5a8", or the strategy
	Table    string // "" if no table covers it
	Entry    uint64 // the offset in the table
	Strategy string
	Kind     string // what is wrong: "cfa", "return-address", ...
	Register string // of the kinds "register" and "unknown-register"
	Text     string // what is said and what is true, at Lo the first time
	// NotGivenBack says that the function returned with another value in Register: it has a calling
	// convention of its own, and its table should say that the register is undefined.
	NotGivenBack bool
	Places       int    // instructions
	Hits         uint64 // how often they were executed

	bias uint64
}

func newReport() *Report { return &Report{NotJudged: map[string]uint64{}} }

// Judged is how many instructions were judged.
func (r *Report) Judged() uint64 { return r.Correct + r.Wrong }

// Share is the share of instructions judged that were right; 1 if there were none.
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
