package repl

import "fmt"

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

// infoVtbl is "info vtbl EXPR": the tables of virtual functions of an object.
func infoVtbl(sh *shell, args string) error {
	if args == "" {
		args = "$"
	}
	tables, err := sh.sess.Vtables(args)
	if err != nil {
		return err
	}
	for i, t := range tables {
		if i > 0 {
			fmt.Fprintln(sh.out)
		}
		fmt.Fprintf(sh.out, "vtable for '%s' @ %s (subobject @ %s):\n", t.Class, t.Addr, t.Object)
		for n, f := range t.Functions {
			switch {
			case f.Err != nil:
				fmt.Fprintf(sh.out, "[%d]: <error: %v>\n", n, f.Err)
			case f.Symbol != "":
				fmt.Fprintf(sh.out, "[%d]: %s %s\n", n, f.Addr, f.Symbol)
			default:
				fmt.Fprintf(sh.out, "[%d]: %s\n", n, f.Addr)
			}
		}
	}
	return nil
}
