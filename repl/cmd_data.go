package repl

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"dbg/eval"
	"dbg/session"
	"dbg/target"
)

func dataCommands() []*command {
	const g = "data"
	return []*command{
		{name: "print", aliases: []string{"p", "inspect"}, usage: "[/FMT] EXPR", group: g, help: "print a value; EXPR may assign", run: printValue},
		{name: "call", usage: "EXPR", group: g, help: "evaluate an expression and print its value unless it is void", run: callValue},
		{name: "output", usage: "[/FMT] EXPR", group: g, help: "print a value without $N, =, and newline", run: outputValue},
		{name: "x", usage: "[/NFU] ADDRESS", group: g, help: "show memory: N units of size b, h, w or g in format x, d, u, o, t, c, a, s or i", run: examine},
		{name: "whatis", usage: "EXPR", group: g, help: "print an expression's type", run: whatis},
		{name: "ptype", usage: "[/FLAGS] EXPR | TYPE", group: g, run: ptype,
			help: "print the definition of a type; flags: o offsets and sizes, x and d their base, r raw, m and t without methods and typedefs"},
		{name: "explore", usage: "[value | type] EXPR | TYPE", group: g, run: explore,
			help: "walk through a value or a type by questions"},
		{name: "display", usage: "[[/FMT] EXPR]", group: g, help: "print a value at each stop", run: addDisplay},
		{name: "undisplay", usage: "[N...]", group: g, help: "remove displays, or all if no N is given", run: undisplay},
	}
}

var decimal = eval.Options{Format: 'd'}

// formatOption reads the letters of "print/x". The letter r shows values as they are in memory.
func formatOption(opt eval.Options, text string) (eval.Options, error) {
	if rest := strings.Replace(text, "r", "", 1); rest != text {
		opt.Raw, text = true, rest
	}
	switch {
	case text == "":
	case len(text) == 1 && strings.Contains("xduotcasfz", text):
		opt.Format = text[0]
	case strings.Trim(text, "0123456789") != text:
		return opt, userErrorf("Item count other than 1 is meaningless in \"print\" command.")
	default:
		return opt, userErrorf("Undefined output format \"%s\".", text)
	}
	return opt, nil
}

func printValue(sh *shell, args string) error {
	base, args, err := sh.cutPrintOptions(args)
	if err != nil {
		return err
	}
	format, expr := cutFormat(args)
	opt, err := formatOption(base.Options, format)
	if err != nil {
		return err
	}
	if expr == "" {
		expr = "$"
	}
	v, n, err := sh.sess.Print(expr)
	if err != nil {
		return err
	}
	text := sh.sess.Format(v, opt)
	if n > 0 {
		fmt.Fprintf(sh.out, "$%d = %s\n", n, text)
	} else {
		fmt.Fprintln(sh.out, text)
	}
	return nil
}

func callValue(sh *shell, args string) error {
	v, n, err := sh.sess.Call(args)
	if err == nil && n > 0 {
		fmt.Fprintf(sh.out, "$%d = %s\n", n, sh.sess.Format(v, sh.settings.print.Options))
	}
	return err
}

func outputValue(sh *shell, args string) error {
	format, expr := cutFormat(args)
	opt, err := formatOption(sh.settings.print.Options, format)
	if err != nil {
		return err
	}
	v, err := sh.evaluate(expr)
	if err == nil {
		fmt.Fprint(sh.out, sh.sess.Format(v, opt))
	}
	return err
}

func (sh *shell) evaluate(expr string) (session.Value, error) {
	t, level := sh.sess.Selected()
	return sh.sess.Evaluate(t, level, expr)
}

// examineState holds where and how the next x continues.
type examineState struct {
	format, unit byte
	next         target.Addr
	hasNext      bool
	continued    bool // the last command was x: an empty line continues it
}

// examine is the x command.
func examine(sh *shell, args string) error {
	st := &sh.examine
	if st.format == 0 {
		st.format, st.unit = 'x', 'w'
	}
	spec, expr := cutFormat(args)
	n, format, unit, err := examineFormat(spec, st.format, st.unit)
	if err != nil {
		return err
	}
	a := st.next
	switch {
	case sh.repeated && st.continued:
		n = 1
	case expr != "":
		if a, err = sh.sess.ParseAddress(expr); err != nil {
			return err
		}
	case !st.hasNext:
		return userErrorf("Argument required (starting display address).")
	}
	st.format, st.unit = format, unit
	if format == 's' {
		st.unit = 'b'
	}
	if n == 0 {
		return nil
	}
	back := n < 0
	if back {
		return errors.New("x can't show memory before an address yet; give a lower address")
	}
	var next target.Addr
	if format == 'i' {
		next, err = sh.examineCode(a, n)
		st.format, st.unit = 'i', unit
	} else {
		var lines []string
		lines, next, err = sh.sess.Examine(a, format, st.unit, n)
		for _, l := range lines {
			fmt.Fprintln(sh.out, l)
		}
	}
	st.next, st.hasNext, st.continued = next, true, true
	return err
}

// examineFormat reads NFU: a count, a format and a unit in any order.
func examineFormat(spec string, format, unit byte) (int, byte, byte, error) {
	n := 1
	digits := 0
	for digits < len(spec) && (spec[digits] >= '0' && spec[digits] <= '9' || digits == 0 && spec[0] == '-') {
		digits++
	}
	if digits > 0 {
		if _, err := fmt.Sscanf(spec[:digits], "%d", &n); err != nil {
			return 0, 0, 0, fmt.Errorf("expected a count, not %q", spec[:digits])
		}
	}
	given := false
	for _, c := range []byte(spec[digits:]) {
		switch c {
		case 'b', 'h', 'w', 'g':
			unit, given = c, true
		case 'x', 'd', 'u', 'o', 't', 'c', 'a', 's', 'i', 'f', 'z':
			format = c
		default:
			return 0, 0, 0, userErrorf("Undefined output format \"%c\".", c)
		}
	}
	if !given {
		switch format {
		case 'a':
			unit = 'g'
		case 'c', 's':
			unit = 'b'
		case 'f':
			if unit != 'w' && unit != 'g' {
				unit = 'g'
			}
		}
	}
	return n, format, unit, nil
}

// examineCode is x/i.
func (sh *shell) examineCode(a target.Addr, n int) (target.Addr, error) {
	list, err := sh.sess.Disassemble(a, n)
	if err != nil {
		return a, err
	}
	pc, _ := sh.currentPC()
	for _, ins := range list {
		mark := "   "
		if pc == ins.Addr && pc != 0 {
			mark = "=> "
		}
		where := ""
		if s := sh.symbol(ins.Addr); s != "" {
			where = " " + s
		}
		fmt.Fprintf(sh.out, "%s%s%s:\t%s\n", mark, ins.Addr, where, columns(ins.Text))
		a = ins.Addr + target.Addr(len(ins.Bytes))
	}
	return a, nil
}

// symbol returns an address's symbol as "<main+4>", or "".
func (sh *shell) symbol(a target.Addr) string {
	name, off, ok := sh.sess.Symbolize(a)
	switch {
	case !ok:
		return ""
	case off == 0:
		return "<" + name + ">"
	}
	return fmt.Sprintf("<%s+%d>", name, off)
}

func (sh *shell) currentPC() (target.Addr, bool) {
	f, err := sh.sess.SelectedFrame()
	return f.PC, err == nil
}

// display is an expression whose value is printed at each stop.
type display struct {
	number int
	format string
	expr   string
	off    bool
}

func addDisplay(sh *shell, args string) error {
	if args == "" {
		sh.showDisplays()
		return nil
	}
	format, expr := cutFormat(args)
	if _, err := formatOption(sh.settings.print.Options, format); err != nil {
		return err
	}
	if err := eval.Check(expr); err != nil {
		return err
	}
	d := display{number: 1, format: format, expr: expr}
	if n := len(sh.displays); n > 0 {
		d.number = sh.displays[n-1].number + 1
	}
	sh.displays = append(sh.displays, d)
	sh.showDisplay(d)
	return nil
}

func undisplay(sh *shell, args string) error {
	if args == "" {
		sh.displays = nil
		return nil
	}
	ids, err := numbers(args)
	if err != nil {
		return err
	}
	for _, id := range ids {
		for i, d := range sh.displays {
			if d.number == id {
				sh.displays = append(sh.displays[:i:i], sh.displays[i+1:]...)
				break
			}
		}
	}
	return nil
}

// enableDisplay is enable display and disable display.
func enableDisplay(sh *shell, args string, on bool) error {
	ids, err := numbers(args)
	if err != nil {
		return err
	}
	for i := range sh.displays {
		if d := &sh.displays[i]; args == "" || slices.Contains(ids, d.number) {
			d.off = !on
		}
	}
	return nil
}

func (sh *shell) showDisplays() {
	for _, d := range sh.displays {
		if d.off {
			continue
		}
		sh.showDisplay(d)
	}
}

// showDisplay prints one display. It prints nothing if the expression has no value here, as gdb
// does.
func (sh *shell) showDisplay(d display) {
	v, err := sh.evaluate(d.expr)
	if err != nil {
		return
	}
	opt, _ := formatOption(sh.settings.print.Options, d.format)
	slash := ""
	if d.format != "" {
		slash = "/" + d.format + " "
	}
	fmt.Fprintf(sh.out, "%d: %s%s = %s\n", d.number, slash, d.expr, sh.sess.Format(v, opt))
}
