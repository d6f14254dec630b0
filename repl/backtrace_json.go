package repl

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"

	"dbg/frames"
	"dbg/session"
	"dbg/target"
)

// These types are the object that dbg bt --format json prints. Their names are documented for users
// of the command line. Unknown values are null.

type jsonTarget struct {
	Kind   string      `json:"kind"`
	Path   string      `json:"path,omitempty"`
	Exe    string      `json:"exe"`
	PID    int         `json:"pid"`
	Arch   string      `json:"arch"`
	Signal *jsonSignal `json:"signal"`
}

type jsonSignal struct {
	Number  int     `json:"number"`
	Name    string  `json:"name"`
	Code    string  `json:"code"`
	Address *string `json:"address"`
	// Exception has the words of another system than Linux. Then there is no code.
	Exception string `json:"exception,omitempty"`
}

type jsonThread struct {
	ID        int     `json:"id"`
	Number    int     `json:"number"`
	Name      string  `json:"name"`
	StoppedBy *string `json:"stopped_by"`
}

type jsonFrame struct {
	Index             int            `json:"index"`
	PC                string         `json:"pc"`
	CFA               *string        `json:"cfa"`
	SP                *string        `json:"sp"`
	Function          *string        `json:"function"`
	Offset            *uint64        `json:"offset"`
	Module            *string        `json:"module"`
	BuildID           *string        `json:"build_id"`
	File              *string        `json:"file"`
	Line              *int           `json:"line"`
	Column            *int           `json:"column"`
	Inlined           bool           `json:"inlined"`
	SignalFrame       bool           `json:"signal_frame"`
	PCIsReturnAddress bool           `json:"pc_is_return_address"`
	Strategy          string         `json:"strategy"`
	Trust             string         `json:"trust"`
	Args              []jsonArgument `json:"args"`
	Attempts          []jsonAttempt  `json:"attempts"`
	// FoundBy is the evidence of the strategy that found the frame; null for the thread's own
	// registers.
	FoundBy *jsonTry `json:"found_by"`
}

type jsonArgument struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Type  string `json:"type"`
	// AtEntry is the value that the function was passed. It is left out if it is unknown.
	AtEntry string `json:"at_entry,omitempty"`
}

type jsonAttempt struct {
	Strategy string `json:"strategy"`
	Why      string `json:"why"`
}

type jsonEnd struct {
	Reason   string        `json:"reason"`
	Attempts []jsonAttempt `json:"attempts,omitempty"`
}

// jsonWriter writes JSON in pieces and remembers the first error.
type jsonWriter struct {
	w   io.Writer
	err error
}

func (j *jsonWriter) text(s string) {
	if j.err == nil {
		_, j.err = io.WriteString(j.w, s)
	}
}

func (j *jsonWriter) value(v any) {
	if j.err != nil {
		return
	}
	b, err := json.Marshal(v)
	if err == nil {
		_, err = j.w.Write(b)
	}
	j.err = err
}

// open writes an object without its closing brace, so that a list can follow.
func (j *jsonWriter) open(v any) {
	if j.err != nil {
		return
	}
	b, err := json.Marshal(v)
	if err != nil {
		j.err = err
		return
	}
	_, j.err = j.w.Write(b[:len(b)-1])
}

// WriteJSON writes the backtraces of all threads as one object. It writes each frame when it is
// found, and holds nothing back.
func WriteJSON(w io.Writer, s *session.Session, opts BacktraceOptions) error {
	threads, err := s.Threads()
	if err != nil {
		return err
	}
	return writeJSON(w, s, threads, opts, nil)
}

func writeJSON(w io.Writer, s *session.Session, threads []session.ThreadInfo, opts BacktraceOptions, cancel func() bool) error {
	info, _ := s.Target()
	j := &jsonWriter{w: w}
	t := jsonTarget{Kind: info.Kind.String(), Path: opts.Path, Exe: info.Exe, PID: info.PID, Signal: signalJSON(info.Signal)}
	if info.Arch != nil {
		t.Arch = info.Arch.Name
	}
	j.text(`{"target": `)
	j.value(t)
	j.text(",\n \"threads\": [")
	for i, t := range threads {
		if i > 0 {
			j.text(",")
		}
		j.text("\n  ")
		j.thread(s, t, opts.MaxFrames, cancel)
	}
	j.text("]}\n")
	return j.err
}

func (j *jsonWriter) thread(s *session.Session, t session.ThreadInfo, limit int, cancel func() bool) {
	head := jsonThread{ID: int(t.ID), Number: t.Number, Name: t.Name}
	if t.Signal != nil {
		head.StoppedBy = ptr(cmp.Or(t.Signal.Exception, target.SignalName(t.Signal.Number)))
	}
	j.open(head)
	j.text(",\n   \"frames\": [")
	n := 0
	end, err := s.EachFrameView(t.ID, 0, session.ViewOptions{Evidence: true, Format: argumentFormat()}, func(v *session.FrameView) bool {
		if limit > 0 && n == limit || cancel != nil && cancel() {
			return false
		}
		if n > 0 {
			j.text(",")
		}
		j.text("\n    ")
		j.value(frameJSON(v))
		n++
		return j.err == nil
	})
	j.text("],\n   \"end\": ")
	switch {
	case err != nil:
		j.value(jsonEnd{Reason: err.Error()})
	case end == nil:
		j.value(jsonEnd{Reason: frames.DepthLimit.String()})
	default:
		j.value(jsonEnd{Reason: end.Message(), Attempts: attemptsJSON(end.Attempts)})
	}
	j.text("}")
}

func frameJSON(v *session.FrameView) jsonFrame {
	m := v.Machine
	f := jsonFrame{
		Index: v.Level, PC: v.PC.String(), Inlined: v.Inlined, SignalFrame: m.Signal,
		PCIsReturnAddress: m.PCIsReturnAddress || v.TailCall, Strategy: v.Strategy, Trust: v.Trust,
		Args: []jsonArgument{}, Attempts: attemptsJSON(v.Attempts),
	}
	if m.HasCFA {
		f.CFA = ptr(m.CFA.String())
	}
	if sp, ok := m.Regs.SP(); ok {
		f.SP = ptr(target.Addr(sp).String())
	}
	if v.FunctionName != "" {
		f.Function, f.Offset = &v.FunctionName, &v.Offset
	}
	if v.Module != nil {
		f.Module = &v.Module.Path
		if v.Module.BuildID != "" {
			f.BuildID = &v.Module.BuildID
		}
	}
	if v.HasSource() {
		f.File, f.Line = &v.Position.File, &v.Position.Line
		if v.Position.Column > 0 {
			f.Column = &v.Position.Column
		}
	}
	if tries := triesJSON(m.Tries, m.Regs.Arch); len(tries) > 0 {
		f.FoundBy = &tries[len(tries)-1]
	}
	for _, a := range v.Args {
		f.Args = append(f.Args, jsonArgument{Name: a.Name, Value: a.Value, Type: a.Type, AtEntry: a.AtEntry})
	}
	return f
}

func attemptsJSON(list []frames.Attempt) []jsonAttempt {
	out := []jsonAttempt{}
	for _, a := range list {
		out = append(out, jsonAttempt{a.Strategy.String(), a.Why})
	}
	return out
}

func signalJSON(s *target.SignalInfo) *jsonSignal {
	if s == nil {
		return nil
	}
	out := &jsonSignal{Number: s.Number, Name: target.SignalName(s.Number), Code: target.SignalCodeName(s.Number, s.Code)}
	if out.Exception = s.Exception; s.Exception != "" {
		out.Code = ""
		if s.Number == 0 {
			out.Name = ""
		}
	}
	if s.HasAddr {
		out.Address = ptr(fmt.Sprint(s.Addr))
	}
	return out
}

func ptr[T any](v T) *T { return &v }
