package unwindtable

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"dbg/cfi"
	"dbg/image"
)

// Sources are the tables that may be asked for, by the names of the command line.
var Sources = []string{"eh_frame", "debug_frame", "compact", "exidx", "pdata", "orc", "sframe"}

// Options says what is printed, and how.
type Options struct {
	PC     *uint64 // only the entry that covers this address of the file
	Func   string  // only the entries of functions of this name
	Source string  // only this one of Sources; "": all that there are
	JSON   bool
	Raw    bool // the entries themselves instead of rows; always text
}

// Print writes the unwind information of a file. A reader of w that goes away is not an error.
func Print(ctx context.Context, w io.Writer, path string, opt Options) error {
	img, err := image.Open(path)
	if err != nil {
		return err
	}
	defer img.Close()
	return printImage(ctx, w, img, opt)
}

func printImage(ctx context.Context, w io.Writer, img *image.File, opt Options) error {
	path := img.Path()
	f, err := open(img, opt.Source)
	if err != nil {
		return err
	}
	defer f.close()
	wanted, err := f.selection(opt)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 1<<16)
	p := printer{out: out, f: f, wanted: wanted}
	switch {
	case opt.Raw:
		p.style = &raw{}
	case opt.JSON:
		p.style = &jsonStyle{}
	default:
		p.style = &text{}
	}
	for i := range f.tables {
		if err = p.table(ctx, &f.tables[i]); err != nil {
			break
		}
	}
	if ferr := out.Flush(); err == nil {
		err = ferr
	}
	switch {
	case errors.Is(err, syscall.EPIPE):
		return nil
	case err != nil:
		return err
	case p.printed > 0:
		return nil
	case p.bad > 0:
		return fmt.Errorf("%s: no entry of its unwind tables can be read", path)
	case opt.PC != nil:
		return fmt.Errorf("%s: no entry covers 0x%x", path, *opt.PC)
	case opt.Func != "":
		return fmt.Errorf("%s: no entry covers function %s", path, opt.Func)
	}
	return fmt.Errorf("%s: its unwind tables (%s) have no entries", path, f.names())
}

// style is a form of output. An error of it is one of writing, which bufio keeps: it
// is looked at once for each entry.
type style interface {
	begin(p *printer, s *source)
	entry(p *printer, s *source, e *cfi.Entry)
	defect(p *printer, s *source, e *cfi.Entry, err error)
}

// printer is one run.
type printer struct {
	out     *bufio.Writer
	f       *file
	wanted  *selection // nil: everything
	style   style
	printed int // entries
	bad     int // entries that can't be read
}

// table prints one section.
func (p *printer) table(ctx context.Context, s *source) error {
	p.style.begin(p, s)
	for e, err := range s.table.Section() {
		if cerr := ctx.Err(); cerr != nil {
			return cerr
		}
		switch {
		case err != nil:
			p.bad++
			if p.wanted == nil {
				p.style.defect(p, s, e, err)
			}
		case !p.wanted.has(e):
			continue
		default:
			if e.Kind == cfi.IsFDE {
				p.printed++
			}
			p.style.entry(p, s, e)
		}
		// What was written so far may not have been sent yet; an error of it is kept.
		if _, err := p.out.Write(nil); err != nil {
			return err
		}
	}
	return nil
}

// names lists the sections.
func (f *file) names() string {
	var names []string
	for i := range f.tables {
		names = append(names, f.tables[i].section)
	}
	return strings.Join(names, ", ")
}
