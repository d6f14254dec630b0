package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"dbg/image"
	"dbg/internal/plain"
	"dbg/symbols"
)

func lookupCommand() *cobra.Command {
	var dirs []string
	format := "text"
	c := &cobra.Command{
		Use:   "lookup [flags] FILE WHAT...",
		Short: "show what is at an address of a file, or where a function or line is, without a process",
		Long: `Answers questions about FILE from its debug information and symbols. WHAT is an address of the file (0x...),
the name of a function as for a breakpoint, or FILE:LINE. "-" reads them from standard input, one per line.

For an address, it prints the innermost inlined call first and the enclosing function last. For a name or a line, it prints each place where a
breakpoint would be set. The exit status is 1 if nothing was found for one of them.`,
		Args: args(2, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := image.Open(args[0])
			if err != nil {
				return err
			}
			defer f.Close()
			l := lookup{m: symbols.Load(f, symbols.Options{DebugDirs: dirs, IndexDir: indexDir(), Progress: indexing()}), out: bufio.NewWriter(os.Stdout), json: format == "json"}
			defer l.m.Close()
			for _, what := range args[1:] {
				if what != "-" {
					l.answer(what)
					continue
				}
				in := bufio.NewScanner(os.Stdin)
				for in.Scan() {
					if what := strings.TrimSpace(in.Text()); what != "" {
						l.answer(what)
					}
				}
				if err := in.Err(); err != nil {
					return err
				}
			}
			if err := l.out.Flush(); err != nil {
				return err
			}
			if len(l.missing) > 0 {
				return fmt.Errorf("nothing found for %s (%s)", strings.Join(l.missing, ", "), l.m.Origin())
			}
			return nil
		},
	}
	c.Flags().StringSliceVar(&dirs, "debug-dir", nil, "look for separate debug files in `DIR`; repeatable")
	c.Flags().Var(choiceFlag{&format, []string{"text", "json"}}, "format", "form of the output: text or json")
	return c
}

// lookup answers questions about a file, one after the other.
type lookup struct {
	m       *symbols.Module
	out     *bufio.Writer
	json    bool
	missing []string // the first few questions without an answer
}

// place is a function, or a point in one.
type place struct {
	Addr     string `json:"addr,omitempty"`
	Function string `json:"function,omitempty"`
	Linkage  string `json:"linkage,omitempty"`
	Offset   uint64 `json:"offset,omitempty"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Column   int    `json:"column,omitempty"`
	Inlined  bool   `json:"inlined,omitempty"`
}

func (l *lookup) answer(what string) {
	var list []place
	if addr, err := strconv.ParseUint(what, 0, 64); err == nil {
		list = l.address(image.Addr(addr))
	} else if file, line, ok := cutLine(what); ok {
		list = places(l.m.LinesByFile(file, line))
	} else {
		list = places(l.m.BreakLocations(what))
	}
	if len(list) == 0 && len(l.missing) < 10 {
		l.missing = append(l.missing, what)
	}
	if l.json {
		b, _ := json.Marshal(struct {
			What   string  `json:"what"`
			Places []place `json:"places"`
		}{what, list})
		l.out.Write(append(b, '\n'))
		return
	}
	for i := range list {
		list[i].print(plain.Writer(l.out))
	}
	if len(list) == 0 {
		fmt.Fprintf(plain.Writer(l.out), "%s ??\n", what)
	}
}

// cutLine splits FILE:LINE.
func cutLine(what string) (file string, line int, ok bool) {
	i := strings.LastIndexByte(what, ':')
	if i <= 0 || what[i-1] == ':' {
		return "", 0, false
	}
	n, err := strconv.Atoi(what[i+1:])
	return what[:i], n, err == nil && n > 0
}

func (l *lookup) address(a image.Addr) []place {
	var list []place
	for _, c := range l.m.CallsAt(a) {
		p := place{Function: c.Function.Name, Linkage: c.Function.Linkage, File: c.Position.File, Line: c.Position.Line, Column: c.Position.Column, Inlined: c.Inlined}
		if !c.Inlined {
			p.Addr, p.Offset = a.String(), uint64(a-c.Function.Lo)
		}
		list = append(list, p)
	}
	if name, off, ok := l.m.ObjectAt(a); ok && len(list) == 0 {
		list = append(list, place{Addr: a.String(), Function: name, Offset: off})
	}
	return list
}

func places(locs []symbols.Location) []place {
	var list []place
	for i := range locs {
		locs[i].Describe()
		loc := &locs[i]
		p := place{Addr: loc.Addr.String(), File: loc.File, Line: loc.Line, Column: loc.Column}
		if loc.Function != nil {
			p.Function, p.Linkage = loc.Function.Name, loc.Function.Linkage
			p.Offset = uint64(loc.Addr - loc.Function.Lo)
		}
		list = append(list, p)
	}
	return list
}

func (p *place) print(w io.Writer) {
	at := p.Addr
	if p.Inlined {
		at = "inlined"
	}
	name := p.Function
	if name == "" {
		name = "??"
	}
	if p.Offset != 0 {
		name += fmt.Sprintf("+%d", p.Offset)
	}
	fmt.Fprintf(w, "%s in %s", at, name)
	if p.File != "" && p.Line > 0 {
		fmt.Fprintf(w, " at %s:%d", p.File, p.Line)
		if p.Column > 0 {
			fmt.Fprintf(w, ":%d", p.Column)
		}
	}
	fmt.Fprintln(w)
}
