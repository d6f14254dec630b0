package repl

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"dbg/eval"
	"dbg/session"
	"dbg/symbols/types"
)

// maxExplore bounds how deep a value is explored: a list may lead to itself.
const maxExplore = 100

// errExplored ends a walk: there is nobody who chooses, or the input has ended.
var errExplored = errors.New("the walk has ended")

// explore is "explore [value|type] EXPR": a walk through a value, or a type, by questions. It has gdb's
// sentences. Without an answer, as in a batch, it shows the first step.
func explore(sh *shell, args string) error {
	word, rest := cutWord(args)
	kind := ""
	if word == "value" || word == "type" {
		kind, args = word, rest
	}
	if args == "" {
		return userErrorf("ERROR: '%s' requires an argument.", strings.TrimSpace("explore "+kind))
	}
	x := explorer{sh: sh}
	v, err := sh.evaluate(args)
	switch {
	case err == nil && kind != "type":
		err = x.value(args, v, 0)
	case kind == "value":
		return err
	default:
		if err = x.typeNamed(args); err != nil && !errors.Is(err, errExplored) {
			return userErrorf("'%s' neither evaluates to a value nor is a type in the current context.", args)
		}
	}
	if errors.Is(err, errExplored) {
		return nil
	}
	return err
}

type explorer struct{ sh *shell }

// ask asks a question. The answer is empty if the user wants to go back.
func (x *explorer) ask(question string) (string, error) {
	if x.sh.input == nil || x.sh.scripted {
		fmt.Fprintln(x.sh.out, question)
		return "", errExplored
	}
	if !x.sh.opts.Terminal {
		fmt.Fprint(x.sh.out, question)
	}
	x.sh.out.Flush()
	answer, err := x.sh.input.read(question)
	if !x.sh.opts.Terminal {
		fmt.Fprintln(x.sh.out)
	}
	if err != nil {
		return "", errExplored
	}
	return strings.TrimSpace(answer), nil
}

func (x *explorer) say(format string, args ...any) { fmt.Fprintf(x.sh.out, format, args...) }

// value explores a value by the kind of its type.
func (x *explorer) value(name string, v session.Value, depth int) error {
	if depth > maxExplore {
		return errExplored
	}
	if v.Type == nil {
		return x.scalar(name, v, depth)
	}
	switch t := v.Type.Strip(); t.Kind {
	case types.Pointer:
		if to := t.Elem(); to != nil && to.Strip().Kind != types.Void && to.Strip().Kind != types.Func {
			return x.pointer(name, v, to, depth)
		}
	case types.Array:
		return x.array(name, v, t, depth)
	case types.Struct, types.Union, types.Reference, types.RvalueReference:
		return x.fields(name, v, depth)
	}
	return x.scalar(name, v, depth)
}

func (x *explorer) format(v session.Value) string {
	return x.sh.sess.Format(v, x.sh.argumentFormat())
}

func (x *explorer) scalar(name string, v session.Value, depth int) error {
	x.say("'%s' is a scalar value of type '%s'.\n%s = %s\n", name, eval.TypeName(v), name, x.format(v))
	return x.goBack(depth)
}

func (x *explorer) goBack(depth int) error {
	if depth == 0 {
		return nil
	}
	_, err := x.ask("\nPress enter to return to parent value: ")
	return err
}

// pointer explores a pointer as one to a value, or as one to the first element of an array.
func (x *explorer) pointer(name string, v session.Value, to *types.Type, depth int) error {
	x.say("'%s' is a pointer to a value of type '%s'\n", name, to)
	for _, way := range []string{"a single value", "an array"} {
		answer, err := x.ask("Continue exploring it as a pointer to " + way + " [y/n]: ")
		if err != nil {
			return err
		}
		if answer != "y" && answer != "Y" {
			continue
		}
		if way == "an array" {
			return x.elements(name, depth)
		}
		target, err := x.sh.evaluate("*(" + name + ")")
		if err != nil {
			x.say("'%s' a pointer pointing to an invalid memory location.\n", name)
			return x.goBack(depth)
		}
		return x.value("(*"+name+")", target, depth+1)
	}
	return nil
}

func (x *explorer) array(name string, v session.Value, t *types.Type, depth int) error {
	x.say("'%s' is an array of '%s'.\n", name, t.Elem())
	return x.elements(name, depth)
}

// elements explores elements by their indices, until an answer is no index.
func (x *explorer) elements(name string, depth int) error {
	question := fmt.Sprintf("Enter the index of the element you want to explore in '%s': ", name)
	for {
		answer, err := x.ask(question)
		if err != nil {
			return err
		}
		if _, err := strconv.Atoi(answer); err != nil {
			return nil // back to the parent
		}
		element := fmt.Sprintf("(%s)[%s]", name, answer)
		v, err := x.sh.evaluate(element)
		if err != nil {
			x.say("Cannot read value at index %s.\n", answer)
			continue
		}
		if err := x.value(element, v, depth+1); err != nil {
			return err
		}
	}
}

// fields shows the members of a structure, and explores the chosen ones.
func (x *explorer) fields(name string, v session.Value, depth int) error {
	thread, level := x.sh.sess.Selected()
	const most = 1000
	list, err := x.sh.sess.Children(thread, level, v, 0, most)
	if err != nil {
		return err
	}
	what := "struct/class"
	t := v.Type.Strip()
	if t.Kind == types.Reference || t.Kind == types.RvalueReference {
		t = t.Elem().Strip()
	}
	if t.Kind != types.Struct && t.Kind != types.Union {
		return x.scalar(name, v, depth)
	}
	if t.Kind == types.Union {
		what = "union"
	}
	for {
		x.say("The value of '%s' is a %s of type '%s' with the following fields:\n\n", name, what, t)
		choices := x.listFields(list)
		if len(choices) == 0 {
			return x.goBack(depth)
		}
		answer, err := x.ask("\nEnter the field number of choice: ")
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(answer)
		if err != nil || n < 0 || n >= len(choices) {
			return nil
		}
		c := list[choices[n]]
		if err := x.value(childName(name, c.Name), c, depth+1); err != nil {
			return err
		}
	}
}

// childName returns an expression for a member, as far as there is one.
func childName(name, child string) string {
	switch {
	case strings.HasPrefix(child, "<"): // a base, or an anonymous member: its members belong to the object
		return name
	case strings.HasPrefix(child, "["):
		return "(" + name + ")" + child
	}
	return name + "." + child
}

// isVtablePointer reports whether a member is the compiler's own: see "info vtbl".
func isVtablePointer(name string) bool { return strings.HasPrefix(name, "_vptr") }

// listFields prints the members, and returns the indices of those that can be explored.
func (x *explorer) listFields(list []session.Value) (choices []int) {
	thread, level := x.sh.sess.Selected()
	width := 0
	for _, c := range list {
		if isVtablePointer(c.Name) {
			continue
		}
		width = max(width, len(strings.Trim(c.Name, "<>")))
	}
	for i, c := range list {
		label := strings.Trim(c.Name, "<>")
		if isVtablePointer(c.Name) {
			continue
		}
		if x.sh.sess.NumChildren(thread, level, c) == 0 {
			x.say("  %*s = %s .. (Value of type '%s')\n", width, label, x.format(c), eval.TypeName(c))
			continue
		}
		part := "field"
		if label != c.Name && !strings.HasPrefix(label, "anonymous") {
			part = "base class"
		}
		x.say("  %*s = <Enter %d to explore this %s of type '%s'>\n",
			width, label, len(choices), part, eval.TypeName(c))
		choices = append(choices, i)
	}
	return choices
}

// typeNamed shows a type: its members, or that it has none.
func (x *explorer) typeNamed(name string) error {
	text, _, err := x.sh.sess.Definition(name, types.DefinitionOptions{})
	if err != nil {
		return err
	}
	if strings.Contains(text, "{") {
		x.say("'%s' is the type\n%s\n", name, text)
		return nil
	}
	x.say("'%s' is a scalar type.\n", name)
	return nil
}
