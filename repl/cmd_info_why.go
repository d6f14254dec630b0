package repl

import (
	"fmt"

	"dbg/internal/plain"
	"dbg/session"
)

// infoWhy is "info why EXPR": where a value comes from, or why there is none.
func infoWhy(sh *shell, args string) error {
	if args == "" {
		return userErrorf("Argument required (expression whose value is to be explained).")
	}
	t, level := sh.sess.Selected()
	w, err := sh.sess.WhyValue(t, level, args)
	if err != nil {
		return err
	}
	if sh.opts.JSON {
		j := &jsonWriter{w: sh.out}
		j.value(valueWhyJSON(&w))
		j.text("\n")
		return j.err
	}
	sh.printValueWhy(&w)
	return nil
}

func (sh *shell) printValueWhy(w *session.ValueWhy) {
	single := len(w.Variables) == 1 && w.Variables[0].Name == w.Expression
	if !single {
		fmt.Fprintf(sh.out, "%s = %s\n", w.Expression, plain.Line(w.Value))
		for _, r := range w.Reasons {
			fmt.Fprintf(sh.out, "  %s\n", plain.Line(r))
		}
	}
	for i := range w.Variables {
		v := &w.Variables[i]
		fmt.Fprintf(sh.out, "%s = %s\n", v.Name, plain.Line(v.Value))
		for _, r := range v.Reasons {
			fmt.Fprintf(sh.out, "  %s\n", plain.Line(r))
		}
	}
	if single {
		for _, r := range w.Reasons {
			fmt.Fprintf(sh.out, "  %s\n", plain.Line(r))
		}
	}
}

type jsonValueWhy struct {
	Expression string            `json:"expression"`
	Value      string            `json:"value"`
	Known      bool              `json:"known"`
	Reasons    []string          `json:"reasons"`
	Variables  []jsonVariableWhy `json:"variables"`
}

type jsonVariableWhy struct {
	Name     string        `json:"name"`
	Value    string        `json:"value"`
	State    string        `json:"state"`
	PC       string        `json:"pc"`
	Reasons  []string      `json:"reasons"`
	Place    *jsonPlaceWhy `json:"place"`
	Before   *jsonPlaceWhy `json:"before"`
	After    *jsonPlaceWhy `json:"after"`
	Register string        `json:"register,omitempty"`
	LostIn   string        `json:"lost_in,omitempty"`
}

type jsonPlaceWhy struct {
	Lo       string `json:"lo"`
	Hi       string `json:"hi"`
	Location string `json:"location"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	LastLine int    `json:"last_line,omitempty"`
}

func valueWhyJSON(w *session.ValueWhy) jsonValueWhy {
	out := jsonValueWhy{Expression: w.Expression, Value: w.Value, Known: w.Known, Variables: []jsonVariableWhy{}}
	out.Reasons = append([]string{}, w.Reasons...)
	for i := range w.Variables {
		v := &w.Variables[i]
		out.Variables = append(out.Variables, jsonVariableWhy{
			Name: v.Name, Value: v.Value, State: v.State, PC: v.PC.String(), Reasons: append([]string{}, v.Reasons...),
			Place: placeJSON(v.Place), Before: placeJSON(v.Before), After: placeJSON(v.After),
			Register: v.Register, LostIn: v.LostIn,
		})
	}
	return out
}

func placeJSON(p *session.PlaceWhy) *jsonPlaceWhy {
	if p == nil {
		return nil
	}
	return &jsonPlaceWhy{
		Lo: p.Lo.String(), Hi: p.Hi.String(), Location: p.Location,
		File: p.From.File, Line: p.From.Line, LastLine: p.Until.Line,
	}
}
