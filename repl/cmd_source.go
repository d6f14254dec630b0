package repl

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"dbg/session"
	"dbg/target"
)

func sourceCommands() []*command {
	const g = "source"
	return []*command{
		{name: "list", aliases: []string{"l"}, usage: "[LINE | FUNCTION | FILE:LINE | A,B | -]", group: g, help: "show source lines; repeat to show the next ones", words: functionWords, run: list},
		{name: "disassemble", aliases: []string{"disas"}, usage: "[/r /s] [FUNCTION | ADDRESS | A,B | A,+N]", group: g, help: "show machine code", words: functionWords, run: disassemble},
	}
}

// listState holds what list showed last.
type listState struct {
	file        string
	first, last int
	centre      int  // a line that was printed; the next list is centred on it
	continued   bool // list was the last command
}

func (l *listState) reset() { *l = listState{} }

// around centres the next list on a line.
func (l *listState) around(file string, line int) { *l = listState{file: file, centre: line} }

// list shows source lines.
func list(sh *shell, args string) error {
	l := &sh.list
	size := sh.settings.listSize
	if sh.repeated && l.last > 0 {
		if args == "-" {
			return sh.listBefore(size)
		}
		args = ""
	}
	switch {
	case args == "-" && l.last > 0:
		return sh.listBefore(size)
	case args == "" || args == "+" || args == "-":
		if l.last > 0 {
			return sh.listLines(l.file, l.last+1, l.last+size)
		}
		file, line, err := sh.sess.ListPosition()
		if l.centre > 0 {
			file, line, err = l.file, l.centre, nil
		}
		if err != nil {
			return err
		}
		return sh.listAround(file, line)
	}
	if a, b, ok := strings.Cut(args, ","); ok {
		return sh.listRange(strings.TrimSpace(a), strings.TrimSpace(b))
	}
	file, line, err := sh.lineOf(args)
	if err != nil {
		return err
	}
	return sh.listAround(file, line)
}

func (sh *shell) listAround(file string, line int) error {
	first := max(1, line-sh.settings.listSize/2)
	return sh.listLines(file, first, first+sh.settings.listSize-1)
}

func (sh *shell) listBefore(size int) error {
	l := &sh.list
	if l.first <= 1 {
		return userErrorf("Already at the start of %s.", sh.names().source(l.file))
	}
	return sh.listLines(l.file, max(1, l.first-size), l.first-1)
}

func (sh *shell) listRange(a, b string) error {
	size := sh.settings.listSize
	switch {
	case a == "" && b == "":
		return userErrorf("Argument to `list' must have a line.")
	case a == "":
		file, line, err := sh.lineOf(b)
		if err != nil {
			return err
		}
		return sh.listLines(file, max(1, line-size+1), line)
	}
	file, first, err := sh.lineOf(a)
	if err != nil {
		return err
	}
	last := first + size - 1
	if b != "" {
		if n, err := strconv.Atoi(b); err == nil {
			last = n
			if b[0] == '+' {
				last = first + n
			}
		} else if _, last, err = sh.lineOf(b); err != nil {
			return err
		}
	}
	return sh.listLines(file, first, last)
}

// lineOf finds the line of a location.
func (sh *shell) lineOf(text string) (string, int, error) {
	spec, err := sh.sess.ParseLocation(text)
	if err != nil {
		return "", 0, err
	}
	if spec.Line != 0 && spec.File != "" {
		for _, f := range sh.sess.SourceFiles() {
			if f == spec.File || strings.HasSuffix(f, "/"+spec.File) {
				return f, spec.Line, nil
			}
		}
		return "", 0, userErrorf("No source file named %s.", spec.File)
	}
	places, err := sh.sess.FindLocation(spec)
	if err != nil {
		return "", 0, err
	}
	for _, p := range places {
		pos := p.Position
		if spec.Function != "" {
			// The breakpoint's place is after the prologue; the function starts before it.
			if _, code, err := sh.sess.DisassembleFunction(p.Addr); err == nil && len(code) > 0 && code[0].Position.Line > 0 {
				pos = code[0].Position
			}
		}
		if pos.Line > 0 {
			return pos.File, pos.Line, nil
		}
	}
	return "", 0, userErrorf("Function \"%s\" has no line number information.", text)
}

// listLines prints lines of a file.
func (sh *shell) listLines(file string, first, last int) error {
	lines, err := sh.sess.Source(file)
	name := sh.names().source(file)
	if err != nil {
		return userErrorf("%d\t%s: No such file or directory.", first, name)
	}
	if first > len(lines) {
		return userErrorf("Line number %d out of range; \"%s\" has %d lines.", first, name, len(lines))
	}
	last = min(last, len(lines))
	for n := first; n <= last; n++ {
		fmt.Fprintf(sh.out, "%d\t%s\n", n, lines[n-1])
	}
	sh.list = listState{file: file, first: first, last: last, continued: true}
	return nil
}

// disassemble shows the machine code of a function or of a range.
func disassemble(sh *shell, args string) error {
	raw, source := false, false
	for strings.HasPrefix(args, "/") {
		var w string
		w, args = cutWord(args)
		for _, c := range w[1:] {
			switch c {
			case 'r', 'b':
				raw = true
			case 's', 'm':
				source = true
			default:
				return userErrorf("Invalid disassembly modifier.")
			}
		}
	}
	var code []session.Instruction
	var title string
	from, to, ranged := strings.Cut(args, ",")
	switch {
	case ranged:
		lo, hi, err := sh.addressRange(strings.TrimSpace(from), strings.TrimSpace(to))
		if err != nil {
			return err
		}
		for _, ins := range must(sh.sess.Disassemble(lo, int(min(uint64(hi-lo), 100_000)))) {
			if ins.Addr < hi {
				code = append(code, ins)
			}
		}
		if len(code) == 0 {
			return &target.MemoryError{Addr: lo}
		}
		title = fmt.Sprintf("from %s to %s", lo, hi)
	default:
		var at target.Addr
		var err error
		if args == "" {
			f, ferr := sh.sess.SelectedFrame()
			if ferr != nil {
				return userErrorf("No frame selected.")
			}
			at = f.PC
			if f.Machine.PCIsReturnAddress {
				at-- // a call may be a function's last instruction
			}
		} else if at, err = sh.sess.ParseAddress(args); err != nil {
			return err
		}
		var name string
		if name, code, err = sh.sess.DisassembleFunction(at); err != nil {
			return err
		}
		title = "for function " + name
	}
	sh.printCode(title, code, raw, source, !ranged)
	return nil
}

func must[T any](v T, _ error) T { return v }

func (sh *shell) addressRange(from, to string) (lo, hi target.Addr, err error) {
	if lo, err = sh.sess.ParseAddress(from); err != nil {
		return
	}
	plus := strings.HasPrefix(to, "+")
	if hi, err = sh.sess.ParseAddress(strings.TrimPrefix(to, "+")); err != nil {
		return
	}
	if plus {
		hi += lo
	}
	if hi < lo {
		err = errors.New("the range ends before it begins")
	}
	return
}

func (sh *shell) printCode(title string, code []session.Instruction, raw, source, function bool) {
	pc, _ := sh.currentPC()
	fmt.Fprintf(sh.out, "Dump of assembler code %s:\n", title)
	line, file := 0, ""
	for i, ins := range code {
		if sh.interrupted() {
			break
		}
		if pos := ins.Position; source && pos.Line > 0 && (pos.Line != line || pos.File != file) {
			if i > 0 {
				fmt.Fprintln(sh.out)
			}
			if pos.File != file {
				fmt.Fprintf(sh.out, "%s:\n", sh.names().source(pos.File))
			}
			line, file = pos.Line, pos.File
			if lines, err := sh.sess.Source(file); err == nil && line <= len(lines) {
				fmt.Fprintf(sh.out, "%d\t%s\n", line, lines[line-1])
			} else {
				fmt.Fprintf(sh.out, "%d\tin %s\n", line, sh.names().source(file))
			}
		}
		mark := "   "
		if ins.Addr == pc && pc != 0 {
			mark = "=> "
		}
		where := ""
		switch {
		case function:
			where = fmt.Sprintf(" <+%d>", ins.Addr-code[0].Addr)
		case ins.Function != "":
			where = fmt.Sprintf(" <%s+%d>", ins.Function, ins.Offset)
		}
		bytes := ""
		if raw {
			bytes = fmt.Sprintf("% x\t", ins.Bytes)
		}
		fmt.Fprintf(sh.out, "%s0x%016x%s:\t%s%s\n", mark, uint64(ins.Addr), where, bytes, columns(ins.Text))
	}
	fmt.Fprintln(sh.out, "End of assembler dump.")
}

// columns puts an instruction's operands in a column of their own, after its name. A prefix stays
// with the name.
func columns(text string) string {
	name, operands, ok := strings.Cut(text, " ")
	operands = strings.TrimSpace(operands)
	switch name {
	case "lock", "rep", "repz", "repe", "repnz", "repne", "bnd", "notrack", "data16", "cs", "ds", "es", "fs", "gs", "ss":
		return name + " " + operands
	}
	if !ok || operands == "" {
		return name
	}
	return fmt.Sprintf("%-6s %s", name, operands)
}
