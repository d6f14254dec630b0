package repl

import (
	"cmp"
	"fmt"
	"slices"

	"dbg/symbols"
)

// infoSearch lists the symbols whose name matches a regular expression, as gdb does.
func infoSearch(what string, kind symbols.SearchKind) func(*shell, string) error {
	return func(sh *shell, args string) error {
		const most = 10000
		plain, quiet := false, false // -n: without non-debugging symbols; -q: nothing if there is nothing
		for more := true; more; {
			word, rest := cutWord(args)
			switch more = true; word {
			case "-n":
				plain = true
			case "-q":
				quiet = true
			case "--":
				args, more = rest, false
				continue
			default:
				more = false
				continue
			}
			args = rest
		}
		list, more, err := sh.sess.Search(kind, args, most)
		if err != nil {
			return err
		}
		if plain {
			list = slices.DeleteFunc(list, func(f symbols.Found) bool { return f.Symbol })
		}
		if quiet && len(list) == 0 {
			return nil
		}
		if args == "" {
			fmt.Fprintf(sh.out, "All defined %s:\n", what)
		} else {
			fmt.Fprintf(sh.out, "All %s matching regular expression \"%s\":\n", what, args)
		}
		if kind == symbols.SearchTypes {
			slices.SortStableFunc(list, typesOrder)
		}
		file, symbol := "", false
		for i, f := range list {
			switch {
			case f.Symbol && !symbol:
				fmt.Fprint(sh.out, "\nNon-debugging symbols:\n")
				symbol = true
			case !f.Symbol && (i == 0 || f.File != file):
				file, symbol = f.File, false
				if file != "" {
					fmt.Fprintf(sh.out, "\nFile %s:\n", sh.names().source(file))
				} else {
					fmt.Fprintln(sh.out)
				}
			}
			switch {
			case f.Symbol:
				fmt.Fprintf(sh.out, "0x%016x  %s\n", uint64(f.Addr), f.Text)
			case f.Line > 0:
				fmt.Fprintf(sh.out, "%d:\t%s\n", f.Line, f.Text)
			default:
				fmt.Fprintf(sh.out, "\t%s\n", f.Text)
			}
		}
		if more {
			fmt.Fprintf(sh.out, "(more than %d matches; give a longer name)\n", most)
		}
		return nil
	}
}

// typesOrder puts types that no file declares last, by their names: gdb's order.
func typesOrder(a, b symbols.Found) int {
	switch {
	case a.File == "" && b.File == "":
		return cmp.Compare(a.Text, b.Text)
	case a.File == "":
		return 1
	case b.File == "":
		return -1
	}
	return 0
}

// infoScope lists the variables that are visible at a place.
func infoScope(sh *shell, args string) error {
	if args == "" {
		return userErrorf("requires an argument (an expression or variable): a linespec")
	}
	spec, err := sh.sess.ParseLocation(args)
	if err != nil {
		return err
	}
	places, err := sh.sess.FindLocation(spec)
	if err != nil {
		return err
	}
	list, err := sh.sess.Scope(places[0].Addr)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		fmt.Fprintf(sh.out, "Scope for %s: there are no variables.\n", args)
		return nil
	}
	fmt.Fprintf(sh.out, "Scope for %s:\n", args)
	for _, v := range list {
		fmt.Fprintf(sh.out, "Symbol %s is %s", v.Name, v.Where)
		if v.Size >= 0 {
			fmt.Fprintf(sh.out, ", length %d", v.Size)
		}
		fmt.Fprintln(sh.out, ".")
	}
	return nil
}
