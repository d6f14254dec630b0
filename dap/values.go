package dap

import (
	"fmt"
	"strconv"
	"strings"

	"dbg/eval"
	"dbg/session"

	godap "github.com/google/go-dap"
)

// part is one value in a container, with the name that the client uses.
type part struct {
	name  string
	value session.Value
	path  string // an expression for it in its frame, or ""
	index int    // its index in the container
	// attributes holds the protocol's attributes of the value.
	attributes []string
}

// Limits for the text of one value. Clients show it on one line, and can request the parts.
const (
	shownElements = 100
	shownDepth    = 3
)

// viewOptions returns the format of values in a list.
func viewOptions(format *godap.ValueFormat) eval.Options {
	opt := valueOptions(format)
	opt.MaxElements, opt.MaxDepth = shownElements, shownDepth
	return opt
}

// variablesOf converts the parts of parent to variables for the client.
func (s *server) variablesOf(parent int, frame frameKey, parts []part, format *godap.ValueFormat) ([]godap.Variable, error) {
	values := make([]session.Value, len(parts))
	for i := range parts {
		values[i] = parts[i].value
	}
	described, err := s.query.Describe(frame.thread, frame.level, values, viewOptions(format))
	if err != nil {
		return nil, err
	}
	out := make([]godap.Variable, len(parts))
	for i, p := range parts {
		shown := s.show(childKey{parent, p.name, p.index}, frame, p.value, p.path, described[i])
		out[i] = godap.Variable{
			Name: p.name, Value: shown.text, Type: shown.typ, EvaluateName: p.path, MemoryReference: shown.memory,
			VariablesReference: shown.reference, NamedVariables: shown.named, IndexedVariables: shown.indexed,
		}
		if len(p.attributes) > 0 {
			out[i].PresentationHint = &godap.VariablePresentationHint{Attributes: p.attributes}
		}
	}
	return out, nil
}

// shown is a value in the client's form.
type shown struct {
	text, typ, memory         string
	reference, named, indexed int
}

// show converts a value, and gives it a reference if it has parts.
func (s *server) show(key childKey, frame frameKey, v session.Value, path string, d session.Description) shown {
	out := shown{text: strings.ToValidUTF8(d.Text, "\uFFFD")}
	if s.client.types {
		out.typ = d.Type
	}
	if s.client.memory && d.HasMemory {
		out.memory = memoryReference(d.Memory)
	}
	if d.Parts > 0 || d.Uncounted {
		ref := valueRef{frame: frame, value: v, path: path, arrow: d.Pointer && d.Items == 0, indexed: d.Indexed, items: d.Items}
		if v.HasAddr && v.Avail == eval.Available {
			ref.value.Bytes = nil // read again when it is opened: it may have been changed
		}
		out.reference = s.refs.child(key, ref)
		if d.Indexed {
			out.indexed = d.Parts
		} else {
			out.indexed, out.named = d.Items, d.Parts-d.Items
		}
	}
	return out
}

// showOne is show for a single value.
func (s *server) showOne(key childKey, frame frameKey, v session.Value, path string, opt eval.Options) (shown, error) {
	d, err := s.query.Describe(frame.thread, frame.level, []session.Value{v}, opt)
	if err != nil {
		return shown{}, err
	}
	return s.show(key, frame, v, path, d[0]), nil
}

// partsOf lists count parts of a value from start on; a count of 0 means all.
func (s *server) partsOf(v valueRef, start, count int) ([]part, error) {
	list, err := s.query.Children(v.frame.thread, v.frame.level, v.value, start, count)
	if err != nil {
		return nil, err
	}
	out := make([]part, len(list))
	for i, c := range list {
		out[i] = part{name: c.Name, value: c, path: v.childPath(c.Name), index: start + i}
	}
	return out, nil
}

// childPath returns an expression for a part of a value, or "".
func (v *valueRef) childPath(name string) string {
	switch {
	case v.path == "" || name == "":
		return ""
	case name == eval.RawName:
		return v.path // its members belong to the object itself
	case name[0] == '[':
		if !isSubscript(name[1 : len(name)-1]) {
			return ""
		}
		return primary(v.path) + name
	case name[0] == '*':
		return "*" + primary(v.path)
	case name[0] == '<':
		// This is a base class or an anonymous member: its members belong to the object itself.
		return v.path
	case v.arrow:
		return primary(v.path) + "->" + name
	}
	return primary(v.path) + "." + name
}

// isSubscript reports whether the name of an item in brackets is an expression: a number, a string, or
// the name of an enumerator.
func isSubscript(s string) bool {
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return true
	}
	if n := len(s); n >= 2 && s[0] == '"' {
		return strings.IndexByte(strings.ReplaceAll(s[1:n-1], `\"`, ""), '"') < 0 && s[n-1] == '"'
	}
	return s != "" && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_:") == ""
}

// primary encloses an expression in parentheses if a following operator would apply only to a part
// of it.
func primary(path string) string {
	if strings.ContainsAny(path, " *&+-/%<>=!~?:,|^") && !plainPath(path) {
		return "(" + path + ")"
	}
	return path
}

// plainPath reports whether the only operators in path are postfix ones.
func plainPath(path string) bool {
	return !strings.ContainsAny(strings.ReplaceAll(path, "->", ""), " *&+-/%<>=!~?,|^:")
}

// scopeParts lists the variables of a frame. An outer variable that is hidden by an inner one with
// the same name is marked as hidden.
func (s *server) scopeParts(k scopeRef) ([]part, error) {
	list, err := s.query.Variables(k.frame.thread, k.frame.level, k.kind)
	if err != nil {
		return nil, err
	}
	last := map[string]int{}
	for i, v := range list {
		last[v.Name] = i
	}
	hidden := map[string]int{}
	out := make([]part, 0, len(list))
	for i, v := range list {
		p := part{name: v.Name, value: v, path: v.Name, index: i}
		if last[v.Name] != i {
			hidden[v.Name]++
			p.path = ""
			p.name += " (hidden)"
			if n := hidden[v.Name]; n > 1 {
				p.name = fmt.Sprintf("%s (hidden %d)", v.Name, n)
			}
		}
		out = append(out, p)
	}
	if st := s.lastStop; st != nil && st.HasReturnValue && k.kind == session.ScopeVariables && k.frame.level == 0 && st.Thread == k.frame.thread {
		p := part{name: "(return value)", value: st.ReturnValue, index: len(out), attributes: []string{"readOnly"}}
		if st.Returned != nil {
			p.name = "(" + st.Returned.Name + " returned)"
		}
		out = append(out, p)
	}
	return out, nil
}

// findPart finds a part of a container by its name.
func (s *server) findPart(container any, name string) (frameKey, part, error) {
	var list []part
	var frame frameKey
	var err error
	switch c := container.(type) {
	case scopeRef:
		frame = c.frame
		list, err = s.scopeParts(c)
	case valueRef:
		frame = c.frame
		start, count := 0, 0
		if n, ok := indexOf(name); ok {
			start, count = n, 1
		}
		list, err = s.partsOf(c, start, count)
	default:
		return frame, part{}, badArguments("the reference does not denote variables")
	}
	if err != nil {
		return frame, part{}, err
	}
	for _, p := range list {
		if p.name == name {
			return frame, p, nil
		}
	}
	if c, ok := container.(valueRef); ok && len(list) == 1 { // the keys of a map are not its items' numbers
		if list, err = s.partsOf(c, 0, maxVariables); err != nil {
			return frame, part{}, err
		}
		for _, p := range list {
			if p.name == name {
				return frame, p, nil
			}
		}
	}
	return frame, part{}, badArguments("there is no variable %q", cut(name))
}

// indexOf parses "[12]".
func indexOf(name string) (int, bool) {
	if len(name) < 3 || name[0] != '[' || name[len(name)-1] != ']' {
		return 0, false
	}
	n, err := strconv.Atoi(name[1 : len(name)-1])
	return n, err == nil && n >= 0
}
