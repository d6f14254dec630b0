package unwindcheck

import (
	"context"
	"fmt"
	"path/filepath"
	"sort"

	"dbg/unwindtable/compare"
)

// sourceOf has the sources that judge a table alone, by the name of its section.
var sourceOf = map[string]Source{".eh_frame": "eh_frame", ".debug_frame": "debug_frame", "__unwind_info": "compact", ".pdata": "pdata", ".gopclntab": "gopclntab"}

// WhoIsRight runs a program once for each of two tables, instruction by instruction, and counts where
// they are right and wrong at the differences between them. file is the path of the file that has the
// tables: the program, or a library of it. Differences must be by ascending address; those of the result
// correspond to them.
func WhoIsRight(ctx context.Context, argv []string, file, a, b string, list []compare.Difference, opts Options) ([]compare.Judged, error) {
	out := make([]compare.Judged, len(list))
	for i, table := range []string{a, b} {
		source, ok := sourceOf[table]
		if !ok {
			return nil, fmt.Errorf("%s can't be judged alone by running a program", table)
		}
		opts.Source, opts.Module = source, filepath.Base(file)
		opts.Counts = func(addr uint64, n compare.Counts) {
			k := sort.Search(len(list), func(k int) bool { return list[k].Hi > addr })
			if k == len(list) || addr < list[k].Lo {
				return
			}
			if i == 0 {
				out[k].A.Add(n)
			} else {
				out[k].B.Add(n)
			}
		}
		if err := runOnce(ctx, argv, opts); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func runOnce(ctx context.Context, argv []string, opts Options) error {
	p, err := Launch(argv[0], argv[1:])
	if err != nil {
		return err
	}
	defer p.Close()
	_, err = Run(ctx, p, opts)
	return err
}

// counts calls opts.Counts for every address that was judged.
func (c *checker) counts() {
	if c.opts.Counts == nil {
		return
	}
	for _, list := range c.places.pages {
		for _, pl := range list {
			if pl != nil && !pl.skip && pl.module != nil && pl.right+pl.wrong+pl.rejected+pl.nowhere > 0 {
				c.opts.Counts(pl.pc-pl.module.Bias, compare.Counts{Right: pl.right, Wrong: pl.wrong + pl.rejected, Nowhere: pl.nowhere})
			}
		}
	}
}
