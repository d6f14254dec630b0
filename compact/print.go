package compact

import (
	"bufio"
	"fmt"
	"io"
)

// Print writes the section like llvm-objdump --unwind-info. It also prints pages that this tool
// leaves out (after a gap or without a sentinel), and continues after data that can't be read,
// where the tool stops.
func (t *Table) Print(to io.Writer) error {
	w := bufio.NewWriter(to)
	fmt.Fprintf(w, "Contents of __unwind_info section:\n")
	for i, name := range []string{
		"Version:                                   ",
		"Common encodings array section offset:     ",
		"Number of common encodings in array:       ",
		"Personality function array section offset: ",
		"Number of personality functions in array:  ",
		"Index array section offset:                ",
		"Number of indices in array:                ",
	} {
		fmt.Fprintf(w, "  %s0x%x\n", name, word(t.data, 4*i))
	}
	fmt.Fprintf(w, "  Common encodings: (count = %d)\n", t.common.count)
	for i := range t.common.count {
		fmt.Fprintf(w, "    encoding[%d]: 0x%08x\n", i, word(t.common.data, 4*i))
	}
	fmt.Fprintf(w, "  Personality functions: (count = %d)\n", t.personalities.count)
	for i := range t.personalities.count {
		fmt.Fprintf(w, "    personality[%d]: 0x%08x\n", i+1, word(t.personalities.data, 4*i))
	}
	fmt.Fprintf(w, "  Top level indices: (count = %d)\n", t.index.count)
	for i := range t.index.count {
		fmt.Fprintf(w, "    [%d]: function offset=0x%08x, 2nd level page offset=0x%08x, LSDA offset=0x%08x\n",
			i, t.first(i), t.pageAt(i), t.lsdaAt(i))
	}
	fmt.Fprintf(w, "  LSDA descriptors:\n")
	i := 0
	for l, err := range t.LSDAs() {
		if err != nil {
			fmt.Fprintf(w, "    %v\n", err)
			continue
		}
		fmt.Fprintf(w, "    [%d]: function offset=0x%08x, LSDA offset=0x%08x\n", i, l.Function-t.base, l.Addr-t.base)
		i++
	}
	fmt.Fprintf(w, "  Second level indices:\n")
	page := -1
	for e, err := range t.Raw() {
		for page < e.Page {
			page++
			t.printPage(w, page)
		}
		t.printEntry(w, e, err)
	}
	for page++; page < t.index.count; page++ {
		t.printPage(w, page)
	}
	return w.Flush()
}

func (t *Table) printPage(w io.Writer, i int) {
	if t.pageAt(i) == 0 {
		return
	}
	fmt.Fprintf(w, "    Second level index[%d]: offset in section=0x%08x, base function offset=0x%08x\n", i, t.pageAt(i), t.first(i))
	var p page
	if t.page(i, &p) != nil || p.local.count == 0 {
		return
	}
	fmt.Fprintf(w, "      Page encodings: (count = %d)\n", p.local.count)
	for k := range p.local.count {
		fmt.Fprintf(w, "        encoding[%d]: 0x%08x\n", t.common.count+k, word(p.local.data, 4*k))
	}
}

func (t *Table) printEntry(w io.Writer, e *Entry, err error) {
	var p page
	if t.page(e.Page, &p) != nil || err != nil && e.Hi == 0 {
		fmt.Fprintf(w, "      %v\n", err)
		return
	}
	fmt.Fprintf(w, "      [%d]: function offset=0x%08x, encoding", e.Index, e.Lo-t.base)
	if p.kind == Compressed {
		fmt.Fprintf(w, "[%d]", p.entries.data[4*e.Index+3])
	}
	fmt.Fprintf(w, "=0x%08x", uint32(e.Opcode))
	if err != nil {
		fmt.Fprintf(w, ", %v", err)
	}
	fmt.Fprintln(w)
}
