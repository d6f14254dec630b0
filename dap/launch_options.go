package dap

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"

	"dbg/session"
)

// launchOptions holds the arguments of launch and attach: what a user writes into an editor's
// launch configuration. The names are familiar from other debuggers; several are synonyms.
type launchOptions struct {
	Program     string       `json:"program"`
	Args        argumentList `json:"args"`
	Cwd         string       `json:"cwd"`
	Env         environment  `json:"env"`
	StopOnEntry bool         `json:"stopOnEntry"`
	StopAtEntry bool         `json:"stopAtEntry"`
	NoDebug     bool         `json:"noDebug"`

	PID       processID `json:"pid"`
	ProcessID processID `json:"processId"`

	Core     string `json:"core"`
	CoreFile string `json:"coreFile"`
	CorePath string `json:"corePath"`

	VisualizerFile argumentFiles `json:"visualizerFile"` // .natvis

	SourceMap     sourceMap `json:"sourceMap"`
	SourceFileMap sourceMap `json:"sourceFileMap"`
}

// stop reports whether the program is shown before it runs.
func (o *launchOptions) stop() bool { return (o.StopOnEntry || o.StopAtEntry) && !o.NoDebug }

// core returns the core file to open, or "".
func (o *launchOptions) core() string {
	for _, path := range []string{o.Core, o.CoreFile, o.CorePath} {
		if path != "" {
			return path
		}
	}
	return ""
}

// argumentFiles is a list of paths, or one path.
type argumentFiles []string

func (a *argumentFiles) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		if *a = nil; one != "" {
			*a = argumentFiles{one}
		}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(a))
}

// argumentList is a list of arguments, or one string that is split as in a shell.
type argumentList []string

func (a *argumentList) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		list, err := splitArguments(text)
		*a = list
		return err
	}
	var list []any
	if err := json.Unmarshal(data, &list); err != nil {
		return errors.New("args must be a list or a string")
	}
	*a = nil
	for _, x := range list {
		switch x := x.(type) {
		case string:
			*a = append(*a, x)
		case float64, bool:
			*a = append(*a, fmt.Sprint(x))
		default:
			return fmt.Errorf("args contains an element that is not a string: %v", x)
		}
	}
	return nil
}

// splitArguments splits at blanks. Quotes and backslashes protect them, as in a shell (POSIX.1,
// Shell Command Language, 2.2). Nothing is expanded.
func splitArguments(text string) ([]string, error) {
	var list []string
	var word strings.Builder
	in := false
	quote := byte(0)
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote == 0 && strings.IndexByte(" \t\n", c) >= 0:
			if in {
				list = append(list, word.String())
				word.Reset()
				in = false
			}
		case quote == 0 && (c == '\'' || c == '"'):
			quote, in = c, true
		case c == quote:
			quote = 0
		case c == '\\' && quote != '\'' && i+1 < len(text) && (quote == 0 || strings.IndexByte("\"\\$`", text[i+1]) >= 0):
			i++
			word.WriteByte(text[i])
			in = true
		default:
			word.WriteByte(c)
			in = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("args has an unmatched %c", quote)
	}
	if in {
		list = append(list, word.String())
	}
	return list, nil
}

// environment holds changes to dbg's own environment: an object, in which null removes a variable,
// or a list of NAME=VALUE.
type environment map[string]*string

func (e *environment) UnmarshalJSON(data []byte) error {
	*e = environment{}
	var list []string
	if json.Unmarshal(data, &list) == nil {
		for _, x := range list {
			name, value, ok := strings.Cut(x, "=")
			if !ok || name == "" {
				return fmt.Errorf("env contains %q, which is not NAME=VALUE", cut(x))
			}
			(*e)[name] = &value
		}
		return nil
	}
	var object map[string]any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&object); err != nil {
		return errors.New("env must be an object or a list")
	}
	for name, x := range object {
		if x == nil {
			(*e)[name] = nil
			continue
		}
		value := fmt.Sprint(x)
		(*e)[name] = &value
	}
	return nil
}

// apply returns the program's environment; nil means dbg's own.
func (e environment) apply() []string {
	if len(e) == 0 {
		return nil
	}
	var out []string
	for _, x := range os.Environ() {
		name, _, _ := strings.Cut(x, "=")
		if _, changed := e[name]; !changed {
			out = append(out, x)
		}
	}
	for name, value := range e {
		if value != nil {
			out = append(out, name+"="+*value)
		}
	}
	sort.Strings(out)
	return out
}

// processID is a number, or a string with one: editors fill it in.
type processID int

func (p *processID) UnmarshalJSON(data []byte) error {
	text := strings.Trim(strings.TrimSpace(string(data)), `"`)
	if text == "null" || text == "" {
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n <= 0 {
		return fmt.Errorf("%s is not a process id", cut(string(data)))
	}
	*p = processID(n)
	return nil
}

// sourceMap is {"from": "to"}, or [["from", "to"]].
type sourceMap []session.SourceMapping

func (m *sourceMap) UnmarshalJSON(data []byte) error {
	var pairs [][2]string
	if json.Unmarshal(data, &pairs) == nil {
		for _, p := range pairs {
			*m = append(*m, session.SourceMapping{From: p[0], To: p[1]})
		}
		return nil
	}
	var object map[string]string
	if err := json.Unmarshal(data, &object); err != nil {
		return errors.New("the source map must be an object of strings or a list of pairs")
	}
	for from, to := range object {
		*m = append(*m, session.SourceMapping{From: from, To: to})
	}
	return nil
}
