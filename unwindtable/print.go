package unwindtable

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"syscall"

	"dbg/cfi"
	"dbg/image"
	"dbg/row"
)

// Sources are the tables that may be asked for, by the names of the command line.
var Sources = []string{"eh_frame", "debug_frame", "compact", "exidx", "pdata", "eh_frame_entry", "orc", "sframe"}

// Options says what is printed, and how.
type Options struct {
	PC     *uint64 // only the entry that covers this address of the file
	Func   string  // only the entries of functions of this name
	Source string  // only this one of Sources; "": all that there are
	JSON   bool
	Raw    bool // the entries themselves instead of rows; always text

	// Summary prints counts of each table instead of entries.
	Summary bool

	member string // the name in an archive, for JSON
}

// Print writes the unwind information of a file, of each member of an archive (libx.a), or of one member of
// it (libx.a(member.o)). A reader of w that goes away is not an error.
func Print(ctx context.Context, w io.Writer, path string, opt Options) error {
	return printPath(ctx, w, path, opt)
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
		p.raw = &raw{}
	case opt.Summary:
		p.style = &summary{code: f.executable(), member: opt.member}
	case opt.JSON:
		p.style = newJSONStyle(opt.member)
	default:
		p.style = &text{}
	}
	for i := range f.tables {
		if err = p.table(ctx, &f.tables[i]); err != nil {
			break
		}
	}
	if s, ok := p.style.(*summary); ok && err == nil {
		s.end(&p, opt.JSON)
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
	function(p *printer, s *source, f *function)
	defect(p *printer, s *source, offset uint64, err error)
}

// function is an entry that has rows.
type function struct {
	lo, hi      uint64
	name        string
	offset      uint64 // of the entry in the section
	kind        string // what the format calls it: "FDE"
	signal      bool
	note        string                     // said in place of rows
	remark      string                     // said of all rows
	personality string                     // the personality routine, if the format has one for each function
	lsda        uint64                     // address of the language-specific data, or 0
	otherData   bool                       // they have another format than package lsda
	rows        iter.Seq2[*row.Row, error] // may be gone through several times
}

// printer is one run.
type printer struct {
	out     *bufio.Writer
	f       *file
	wanted  *selection // nil: everything
	style   style
	raw     *raw // instead of style
	printed int  // entries
	bad     int  // entries that can't be read
}

// table prints one section.
func (p *printer) table(ctx context.Context, s *source) error {
	if s.other != nil {
		return s.other.print(ctx, p, s)
	}
	if p.raw != nil {
		p.raw.begin(p, s)
	} else {
		p.style.begin(p, s)
	}
	for e, err := range s.table.Section() {
		if cerr := ctx.Err(); cerr != nil {
			return cerr
		}
		switch {
		case err != nil:
			p.bad++
			if p.wanted == nil {
				p.defect(s, e.Offset, err)
			}
		case !p.wanted.has(e):
			continue
		default:
			if e.Kind == cfi.IsFDE {
				p.printed++
			}
			p.entry(s, e)
		}
		// What was written so far may not have been sent yet; an error of it is kept.
		if _, err := p.out.Write(nil); err != nil {
			return err
		}
	}
	return nil
}

func (p *printer) defect(s *source, offset uint64, err error) {
	if p.raw != nil {
		p.raw.defect(p, offset, err)
	} else {
		p.style.defect(p, s, offset, err)
	}
}

func (p *printer) entry(s *source, e *cfi.Entry) {
	if p.raw != nil {
		p.raw.entry(p, s, e)
	} else if e.Kind == cfi.IsFDE {
		fn := function{lo: e.FDE.Lo, hi: e.FDE.Hi, name: p.f.function(s, e), offset: e.Offset, kind: "FDE", signal: e.CIE.Signal,
			rows: s.table.Rows(e.FDE)}
		p.exceptionsOf(s, e, &fn)
		p.style.function(p, s, &fn)
	}
}

// names lists the sections.
func (f *file) names() string {
	var names []string
	for i := range f.tables {
		names = append(names, f.tables[i].section)
	}
	return strings.Join(names, ", ")
}
