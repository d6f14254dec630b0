package repl

import "fmt"

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
