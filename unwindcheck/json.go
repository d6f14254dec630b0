package unwindcheck

import (
	"encoding/json"
	"fmt"
	"io"
)

// jsonReport is the JSON form of a report. Addresses are hex strings, all other numbers are
// numbers.
type jsonReport struct {
	Program          string            `json:"program"`
	Instructions     uint64            `json:"instructions"`
	Judged           uint64            `json:"judged"`
	Correct          uint64            `json:"correct"`
	Wrong            uint64            `json:"wrong"`
	WrongRows        uint64            `json:"wrong_rows"`
	NotGivenBack     uint64            `json:"wrong_not_given_back"`
	Share            float64           `json:"share"`
	Proven           uint64            `json:"proven_by_landing"`
	Exact            uint64            `json:"exact"`
	ExactWrong       uint64            `json:"exact_wrong"`
	Deeper           uint64            `json:"deeper_correct"`
	DeeperWrong      uint64            `json:"deeper_wrong"`
	Threads          int               `json:"threads"`
	Functions        int               `json:"functions"`
	Rows             int               `json:"rows"`
	Signals          uint64            `json:"signals"`
	Execs            int               `json:"execs"`
	UnknownRegisters uint64            `json:"unknown_registers"`
	Strategies       []jsonStrategy    `json:"strategies"`
	NotJudged        map[string]uint64 `json:"not_judged"`
	ExitStatus       int               `json:"exit_status"`
	ExitSignal       int               `json:"exit_signal"`
	Nanoseconds      int64             `json:"nanoseconds"`
	Ranges           []jsonRange       `json:"ranges"`
}

type jsonStrategy struct {
	Name    string `json:"name"`
	Judged  uint64 `json:"judged"`
	Correct uint64 `json:"correct"`
}

type jsonRange struct {
	Module       string `json:"module"`
	Path         string `json:"path"`
	Lo           string `json:"lo"`
	Hi           string `json:"hi"`
	Function     string `json:"function"`
	Offset       uint64 `json:"offset"`
	Table        string `json:"table"`
	Entry        string `json:"entry"`
	Strategy     string `json:"strategy"`
	Kind         string `json:"kind"`
	Register     string `json:"register,omitempty"`
	NotGivenBack bool   `json:"not_given_back,omitempty"`
	Message      string `json:"message"`
	Places       int    `json:"instructions"`
	Hits         uint64 `json:"hits"`
}

// WriteJSON writes a report as one JSON object.
func WriteJSON(out io.Writer, r *Report) error {
	j := jsonReport{
		Program: r.Program, Instructions: r.Instructions, Judged: r.Judged(), Correct: r.Correct, Wrong: r.Wrong, WrongRows: r.WrongRows,
		NotGivenBack: r.NotGivenBack,
		Share:        r.Share(), Proven: r.Proven, Exact: r.Exact, ExactWrong: r.ExactWrong, Deeper: r.Deeper, DeeperWrong: r.DeeperWrong, Threads: r.Threads,
		Functions: r.Functions, Rows: r.Rows, Signals: r.Signals, Execs: r.Execs, UnknownRegisters: r.UnknownRegisters,
		NotJudged: r.NotJudged, ExitStatus: r.Exit, ExitSignal: r.Signal, Nanoseconds: r.Elapsed.Nanoseconds(),
		Strategies: []jsonStrategy{}, Ranges: []jsonRange{},
	}
	for _, s := range r.Strategies {
		j.Strategies = append(j.Strategies, jsonStrategy(s))
	}
	for i := range r.Ranges {
		w := &r.Ranges[i]
		entry := ""
		if w.Table != "" {
			entry = address(w.Entry)
		}
		j.Ranges = append(j.Ranges, jsonRange{Module: w.Module, Path: w.Path, Lo: address(w.Lo), Hi: address(w.Hi), Function: w.Function,
			Offset: w.Offset, Table: w.Table, Entry: entry, Strategy: w.Strategy, Kind: w.Kind, Register: w.Register, NotGivenBack: w.NotGivenBack,
			Message: w.String(), Places: w.Places, Hits: w.Hits})
	}
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	return e.Encode(&j)
}

func address(v uint64) string { return fmt.Sprintf("0x%x", v) }
