package view

import "dbg/eval"

func init() { functions["__list_end"] = listEnd }

// What __list_end returns.
const (
	listElement = iota
	listIsEnd
	listUnknown
)

// maxListEnd limits the nodes that are visited to tell the end of a list.
const maxListEnd = 1 << 14

// listEnd is __list_end(node): whether an iterator of a std::list points to an element (0), to the end (1), or one
// can't tell (2). The end is a node in the std::list itself, after whose two links the number of elements is: so one
// node of the ring has the number of the others behind its links. If only the node itself has, it is the end, and if
// only another one has, it is an element. Lists of the old ABI of libstdc++ have no number.
func listEnd(s *scope, args []eval.Value) (eval.Value, error) {
	n, err := numbers(s, "__list_end", args, 1)
	if err != nil {
		return eval.Value{}, err
	}
	node := addr(n[0])
	counts := map[addr]addr{}
	for at := node; len(counts) == 0 || at != node; {
		if _, again := counts[at]; again || len(counts) >= maxListEnd {
			return eval.FromInt(listUnknown), nil
		}
		var next addr
		if counts[at], err = readPointer(at+16, s); err == nil {
			next, err = readPointer(at, s)
		}
		if err != nil {
			return eval.Value{}, err
		}
		at = next
	}
	others, found := addr(len(counts)-1), 0
	for _, count := range counts {
		if count == others {
			found++
		}
	}
	switch {
	case found == 0 || found > 1 && counts[node] == others:
		return eval.FromInt(listUnknown), nil
	case counts[node] == others:
		return eval.FromInt(listIsEnd), nil
	}
	return eval.FromInt(listElement), nil
}
