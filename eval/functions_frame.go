package eval

import (
	"regexp"
	"strconv"

	"dbg/symbols/types"
)

// FunctionNamer is an Env that knows the callers of the selected frame.
type FunctionNamer interface {
	// FunctionAt returns the name of the function of the frame that is so many levels above the selected
	// one. ok is false if there is no such frame. The name is "" if it is not known.
	FunctionAt(levels int) (name string, ok bool)
}

// SettingReader is an Env that knows the settings of the face that asks.
type SettingReader interface {
	// Setting returns the value of a setting, such as "print elements", as "show" has it.
	Setting(name string) (text string, ok bool)
}

func init() {
	for name, any := range map[string]bool{"_caller": false, "_any_caller": true} {
		functions[name+"_is"] = convenience{1, 2, callerFunction(any, func(name, want string) (bool, error) {
			return name == want, nil
		})}
		functions[name+"_matches"] = convenience{1, 2, callerFunction(any, func(name, want string) (bool, error) {
			r, err := regexp.Compile(`^(?:` + want + `)`)
			return err == nil && r.MatchString(name), err
		})}
	}
	functions["_gdb_setting"] = convenience{1, 1, setting(false)}
	functions["_gdb_setting_str"] = convenience{1, 1, setting(true)}
	functions["_creal"] = convenience{1, 1, complexFunction(0)}
	functions["_cimag"] = convenience{1, 1, complexFunction(1)}
	functions["_as_string"] = convenience{1, 1, func(e *evaluator, a []Value) (Value, error) {
		if kindOf(a[0].Type) != types.Enum && !isNumeric(a[0].Type) {
			return Value{}, Error("Argument is not a number or an enumerator.")
		}
		return Text(Format(a[0], e.env, Options{})), nil
	}}
}

// Text returns a text as a string literal.
func Text(s string) Value { return stringValue(lettersOf(s), typeChar) }

// callerFunction is $_caller_is(name[, n]) and its relatives: any asks all frames up to the n-th caller.
func callerFunction(any bool, same func(name, want string) (bool, error)) func(*evaluator, []Value) (Value, error) {
	return func(e *evaluator, a []Value) (Value, error) {
		env, ok := e.env.(FunctionNamer)
		if !ok {
			return Value{}, Error("No frame selected.")
		}
		want, err := e.text(a[0])
		if err != nil {
			return Value{}, err
		}
		n := int64(1)
		if len(a) > 1 {
			if n, err = Number(a[1], e.env); err != nil {
				return Value{}, err
			}
		}
		if n < 0 {
			return Value{}, Error("nframes must be >= 0")
		}
		const most = 10_000
		n = min(n, most)
		from := n
		if any {
			from = 0
		}
		for level := from; level <= n; level++ {
			name, ok := env.FunctionAt(int(level))
			if !ok {
				break
			}
			if yes, err := same(name, string(want)); yes || err != nil {
				return Bool(yes), err
			}
		}
		return Bool(false), nil
	}
}

// setting is $_gdb_setting(name), a number where the setting is one, and $_gdb_setting_str(name).
func setting(text bool) func(*evaluator, []Value) (Value, error) {
	return func(e *evaluator, a []Value) (Value, error) {
		name, err := e.text(a[0])
		if err != nil {
			return Value{}, err
		}
		env, ok := e.env.(SettingReader)
		value := ""
		if ok {
			value, ok = env.Setting(string(name))
		}
		if !ok {
			return Value{}, errorf("First argument of $_gdb_setting must be a valid setting of the 'show' command: %s", name)
		}
		if text {
			return Text(value), nil
		}
		switch value {
		case "on":
			return intValue(typeInt, 1), nil
		case "off", "unlimited":
			return intValue(typeInt, 0), nil
		}
		if n, err := strconv.ParseInt(value, 10, 64); err == nil {
			return intValue(typeInt, uint64(n)), nil
		}
		return Text(value), nil
	}
}

// complexFunction returns a part of a complex number.
func complexFunction(part int) func(*evaluator, []Value) (Value, error) {
	return func(_ *evaluator, a []Value) (Value, error) {
		if kindOf(a[0].Type) != types.Complex {
			return Value{}, Error("expected a complex number")
		}
		re, im, err := complexParts(a[0])
		if err != nil {
			return Value{}, err
		}
		return newValue(complexElem(a[0].Type), []number{re, im}[part])
	}
}
