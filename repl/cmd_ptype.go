package repl

import (
	"fmt"
	"strconv"
	"strings"

	"dbg/symbols/types"
)

// whatis is "whatis EXPR": the name of an expression's type.
func whatis(sh *shell, args string) error {
	_, args, err := sh.typeFlags(args)
	if err != nil {
		return err
	}
	name, err := sh.sess.TypeOf(args)
	if err == nil {
		fmt.Fprintf(sh.out, "type = %s%s\n", sh.realType(args), name)
	}
	return err
}

// ptype is "ptype[/FLAGS] EXPR": the definition of a type.
func ptype(sh *shell, args string) error {
	opt, args, err := sh.typeFlags(args)
	if err != nil {
		return err
	}
	text, heading, err := sh.sess.Definition(args, opt)
	if err != nil {
		return err
	}
	if heading {
		fmt.Fprint(sh.out, types.LayoutHeading)
	}
	fmt.Fprintf(sh.out, "type = %s%s\n", sh.realType(args), text)
	return nil
}

// typeFlags reads the flags of ptype and whatis, with gdb's words for errors.
func (sh *shell) typeFlags(args string) (opt types.DefinitionOptions, expr string, err error) {
	opt = sh.settings.types
	flags, expr := cutFormat(args)
	if flags != "" && expr == "" || strings.HasPrefix(args, "/") && flags == "" {
		return opt, "", userErrorf("expected space after format")
	}
	for _, f := range flags {
		switch f {
		case 'r':
			opt.Raw = true
		case 'm', 'M':
			opt.NoMethods = f == 'm'
		case 't', 'T':
			opt.NoTypedefs = f == 't'
		case 'o':
			opt.Offsets, opt.NoMethods, opt.NoTypedefs = true, true, true
		case 'x', 'd':
			opt.Hex = f == 'x'
		default:
			return opt, "", userErrorf("unrecognized flag '%c'", f)
		}
	}
	if expr == "" {
		expr = "$"
	}
	return opt, expr, nil
}

// realType returns gdb's comment about the dynamic type of an expression, before its static type.
func (sh *shell) realType(expr string) string {
	if !sh.settings.print.Objects {
		return ""
	}
	if t := sh.sess.RealType(expr); t != "" {
		return "/* real type = " + t + " */\n"
	}
	return ""
}

// maxNested stands for no limit of nested types.
const maxNested = 16

// setPrintType is "set print type NAME VALUE".
func (sh *shell) setPrintType(args string) error {
	name, value := cutWord(args)
	opt := &sh.settings.types
	switch name {
	case "methods", "typedefs", "hex":
		on, err := onOff(value)
		if err != nil {
			return err
		}
		switch name {
		case "methods":
			opt.NoMethods = !on
		case "typedefs":
			opt.NoTypedefs = !on
		case "hex":
			opt.Hex = on
		}
		return nil
	case "nested-type-limit":
		if value == "unlimited" || value == "-1" {
			opt.Nested = maxNested
			return nil
		}
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 {
			return userErrorf("integer %s out of range", value)
		}
		opt.Nested = min(n, maxNested)
		return nil
	}
	return userErrorf("Undefined set print type command: \"%s\".  Try \"help set print type\".", args)
}

// showPrintType is "show print type [NAME]".
func (sh *shell) showPrintType(name string) error {
	opt := sh.settings.types
	limit := "Will not print nested types defined in a class\n"
	if opt.Nested >= maxNested {
		limit = "Will print unlimited nested types defined in a class\n"
	} else if opt.Nested > 0 {
		limit = fmt.Sprintf("Will print nested types defined in a class to a depth of %d\n", opt.Nested)
	}
	list := []struct{ name, text string }{
		{"hex", "Display of struct members offsets and sizes in hexadecimal is " + onOrOff(opt.Hex) + "\n"},
		{"methods", "Printing of methods defined in a class in " + onOrOff(!opt.NoMethods) + "\n"},
		{"nested-type-limit", limit},
		{"typedefs", "Printing of typedefs defined in a class in " + onOrOff(!opt.NoTypedefs) + "\n"},
	}
	found := false
	for _, s := range list {
		if name == s.name || name == "" {
			found = true
			if name == "" {
				fmt.Fprint(sh.out, s.name+":  ")
			}
			fmt.Fprint(sh.out, s.text)
		}
	}
	if !found {
		return userErrorf("Undefined show print type command: \"%s\".  Try \"help show print type\".", name)
	}
	return nil
}
