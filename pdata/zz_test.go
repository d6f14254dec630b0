package pdata_test

import (
	"dbg/image"
	"dbg/pdata"
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestZZ(t *testing.T) {
	errs := map[string]int{}
	for _, p := range strings.Fields(os.Getenv("FILES")) {
		f, err := image.Open(p)
		if err != nil {
			t.Fatal(err)
		}
		views := []string{f.Arch().Name}
		for i, v := range f.Views() {
			if i > 0 {
				views = append(views, v.Name)
			}
		}
		for _, v := range views {
			g, err := image.OpenArch(p, v)
			if err != nil {
				t.Fatal(err)
			}
			data, addr, ok := g.FunctionTable()
			if !ok {
				fmt.Println("no table", p, v)
				continue
			}
			tab, err := pdata.New(pdata.Config{Arch: g.Arch(), Data: data, Addr: uint64(addr), Base: uint64(g.ImageBase()), Read: func(a uint64, n int) []byte { return g.Bytes(image.Addr(a), n) }})
			if err != nil {
				t.Fatal(err)
			}
			rows, bad, exp := 0, 0, 0
			for i := range tab.Entries() {
				e := tab.Entry(i)
				l, err := tab.Rows(&e)
				if err != nil {
					bad++
					s := err.Error()
					s = s[strings.Index(s, ": ")+2:]
					if errs[s] == 0 {
						fmt.Printf("%s %x %s\n", p, e.Lo, err)
					}
					errs[s]++
					continue
				}
				rows += len(l)
				for j := range l {
					for k := range l[j].Regs {
						if l[j].Regs[k].Expr != nil {
							exp++
						}
					}
				}
			}
			fmt.Println(v, tab.Entries(), "entries", rows, "rows", bad, "bad", exp, "exprs", p)
		}
	}
	fmt.Println(errs)
}
