package repl

import (
	"fmt"
	"strconv"
	"strings"

	"dbg/eval"
)

// printSetting is one of "set print NAME": how values are formatted.
type printSetting struct {
	name string
	says string                    // the sentence of "show", which gdb's scripts may read; %s is the value
	flag func(*printOptions) *bool // a switch
	not  bool                      // the switch means the opposite
	size func(*printOptions) *int  // a number; "unlimited" and, if zero is set, 0 mean no limit
	zero bool
	word *wordSetting // one of some words
}

// printOptions are the values of "set print".
type printOptions struct {
	eval.Options
	frame frameSettings
}

func defaultPrint() printOptions { return printOptions{Options: eval.DefaultOptions()} }

// unlimited stands for no limit in eval.Options.
const unlimited = 1 << 30

var printSettings = append(wordPrintSettings(), []printSetting{
	{name: "address", says: "Printing of addresses is %s.", flag: func(o *printOptions) *bool { return &o.NoAddresses }, not: true},
	{name: "array", says: "Pretty formatting of arrays is %s.", flag: func(o *printOptions) *bool { return &o.PrettyArrays }},
	{name: "array-indexes", says: "Printing of array indexes is %s.", flag: func(o *printOptions) *bool { return &o.Indexes }},
	{name: "elements", says: "Limit on string chars or array elements to print is %s.",
		size: func(o *printOptions) *int { return &o.MaxElements }, zero: true},
	{name: "max-depth", says: "Maximum print depth is %s.", size: func(o *printOptions) *int { return &o.MaxDepth }},
	{name: "null-stop", says: "Printing of char arrays to stop at first null char is %s.", flag: func(o *printOptions) *bool { return &o.StopAtNull }},
	{name: "object", says: "Printing of object's derived types is %s.",
		flag: func(o *printOptions) *bool { return &o.Objects }},
	{name: "pretty", says: "Pretty formatting of structures is %s.", flag: func(o *printOptions) *bool { return &o.Pretty }},
	{name: "raw-values", says: "Whether to print values in raw form is %s.", flag: func(o *printOptions) *bool { return &o.Raw }},
	{name: "repeats", says: "Threshold for repeated print elements is %s.", size: func(o *printOptions) *int { return &o.Repeats }, zero: true},
	{name: "static-members", says: "Printing of C++ static members is %s.", flag: func(o *printOptions) *bool { return &o.NoStatics }, not: true},
	{name: "symbol", says: "Printing of symbol names when printing pointers is %s.", flag: func(o *printOptions) *bool { return &o.NoSymbols }, not: true},
	{name: "vtbl", says: "Printing of C++ virtual function tables is %s.",
		flag: func(o *printOptions) *bool { return &o.Vtables }},
	{name: "symbol-filename", says: "Printing of source filename and line number with <symbol> is %s.",
		flag: func(o *printOptions) *bool { return &o.SymbolFiles }},
	{name: "union", says: "Printing of unions interior to structures is %s.", flag: func(o *printOptions) *bool { return &o.NoUnions }, not: true},
}...)

// wordPrintSettings returns the settings whose value is one of some words.
func wordPrintSettings() []printSetting {
	var out []printSetting
	for _, name := range []string{"entry-values", "frame-arguments"} {
		w := wordSettings[name]
		out = append(out, printSetting{name: name, says: w.says, word: &w})
	}
	return out
}

// findPrintSetting finds a setting by its name or an unambiguous beginning of it.
func findPrintSetting(name string) *printSetting {
	var found *printSetting
	for i := range printSettings {
		s := &printSettings[i]
		if s.name == name {
			return s
		}
		if name != "" && strings.HasPrefix(s.name, name) {
			if found != nil {
				return nil
			}
			found = s
		}
	}
	return found
}

// set changes the setting in o.
func (s *printSetting) set(o *printOptions, value string) error {
	value = strings.TrimSpace(value)
	switch {
	case s.word != nil:
		return s.word.set(o, value)
	case s.flag != nil:
		on, err := onOff(value)
		if err == nil {
			*s.flag(o) = on != s.not
			o.frame.noAddress = o.NoAddresses
		}
		return err
	default:
		n := unlimited
		if value != "unlimited" && value != "-1" {
			var err error
			if n, err = strconv.Atoi(value); err != nil || n < 0 {
				return userErrorf("integer %s out of range", value)
			}
			switch {
			case n == 0 && s.zero:
				n = unlimited
			case n == 0:
				n = 0
			}
		}
		if n == unlimited && s.name == "repeats" {
			n = -1
		}
		*s.size(o) = n
		return nil
	}
}

// value returns the setting as "show" writes it.
func (s *printSetting) value(o *printOptions) string {
	if s.word != nil {
		return s.word.value(o)
	}
	if s.flag != nil {
		return onOrOff(*s.flag(o) != s.not)
	}
	switch n := *s.size(o); {
	case n >= unlimited || n < 0:
		return "unlimited"
	case n == 0 && s.name == "elements":
		return "200"
	case n == 0 && s.name == "repeats":
		return "10"
	case n == 0 && s.name == "max-depth":
		return "20"
	default:
		return strconv.Itoa(n)
	}
}

// setPrint is "set print NAME VALUE".
func (sh *shell) setPrint(args string) error {
	name, value := cutWord(args)
	if name == "type" {
		return sh.setPrintType(value)
	}
	switch name {
	case "demangle", "asm-demangle":
		if on, err := onOff(value); err != nil || on {
			return err
		}
		return fmt.Errorf("dbg always shows demangled names; \"set print %s on\" is accepted", name)
	}
	s := findPrintSetting(name)
	if s == nil {
		return userErrorf("Undefined set print command: \"%s\".  Try \"help set print\".", args)
	}
	if err := s.set(&sh.settings.print, value); err != nil {
		return err
	}
	sh.sess.SetPrintObject(sh.settings.print.Objects)
	return nil
}

// showPrint is "show print [NAME]".
func (sh *shell) showPrint(name string) error {
	if name == "" {
		for i := range printSettings {
			s := &printSettings[i]
			fmt.Fprintf(sh.out, "%s:  "+s.says+"\n", s.name, s.value(&sh.settings.print))
		}
		return nil
	}
	if what, ok := strings.CutPrefix(name, "type"); ok && (what == "" || what[0] == ' ') {
		return sh.showPrintType(strings.TrimSpace(what))
	}
	s := findPrintSetting(name)
	if s == nil {
		return userErrorf("Undefined show print command: \"%s\".  Try \"help show print\".", name)
	}
	fmt.Fprintf(sh.out, s.says+"\n", s.value(&sh.settings.print))
	return nil
}

// cutPrintOptions reads the options of print: "-pretty -elements 3 -- EXPR". An expression that begins
// with a minus needs no "--" unless an option comes before it.
func (sh *shell) cutPrintOptions(args string) (opt printOptions, rest string, err error) {
	opt, rest = sh.settings.print, args
	for strings.HasPrefix(rest, "-") {
		word, after := cutWord(rest)
		if word == "--" {
			return opt, after, nil
		}
		s := findPrintSetting(strings.TrimPrefix(word, "-"))
		if s == nil || s.word != nil { // frames have those, values do not
			if rest == args {
				return sh.settings.print, args, nil // an expression: -x
			}
			return opt, "", userErrorf("Undefined print option: \"%s\".", word)
		}
		value, next := cutWord(after)
		if s.flag != nil {
			if _, e := onOff(value); e != nil || value == "" {
				value, next = "on", after
			}
		}
		if err := s.set(&opt, value); err != nil {
			return opt, "", err
		}
		rest = strings.TrimSpace(next)
	}
	return opt, rest, nil
}
