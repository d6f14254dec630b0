package pdata

import (
	"bufio"
	"fmt"
	"io"

	"dbg/arch"
)

// Print writes the table like llvm-readobj --unwind. The tool stops at a record that it can't read;
// Print writes an error and goes on.
func (t *Table) Print(to io.Writer) error {
	w := bufio.NewWriter(to)
	t.PrintBegin(w)
	for i := range t.Entries() {
		e := t.Entry(i)
		t.PrintEntry(w, &e)
	}
	t.PrintEnd(w)
	return w.Flush()
}

// PrintBegin writes what comes before the entries.
func (t *Table) PrintBegin(w io.Writer) { fmt.Fprintln(w, "UnwindInformation [") }

// PrintEnd writes what comes after the entries.
func (t *Table) PrintEnd(w io.Writer) { fmt.Fprintln(w, "]") }

// PrintEntry writes one entry.
func (t *Table) PrintEntry(w io.Writer, e *Entry) {
	fmt.Fprintln(w, "  RuntimeFunction {")
	var err error
	if t.config.Arch == arch.ARM64 {
		err = t.printARM64(w, e)
	} else {
		err = t.printAMD64(w, e)
	}
	if err != nil {
		fmt.Fprintf(w, "    Error: %v\n", &Error{e.Offset, err.Error()})
	}
	fmt.Fprintln(w, "  }")
}
