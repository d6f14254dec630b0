package eval

import (
	"testing"

	"dbg/symbols/types"
	"dbg/target"
)

// impatientEnv is a world whose user loses interest.
type impatientEnv struct {
	*fakeEnv
	asked, patience int
}

func (e *impatientEnv) Interrupted() bool { e.asked++; return e.asked > e.patience }

// A huge value is not written to its end when nobody wants it any more.
func TestFormatInterrupted(t *testing.T) {
	t.Parallel()
	const count = 5000
	pair := types.NewStruct(types.Struct, "pair", 8, []types.Field{{Name: "a", Type: typeInt}, {Name: "b", Type: typeInt, Offset: 4}})
	data := make([]byte, 8*count)
	for i := range data {
		data[i] = byte(i * 7 / 5) // no two neighbours are the same
	}
	all := types.NewArray(pair, count)
	format := func(patience int) int {
		e := &impatientEnv{newFakeEnv(), 0, patience}
		e.memory[target.Addr(0x1000)] = data
		return len(Format(Value{Type: all, Addr: 0x1000, HasAddr: true}, e, Options{MaxElements: count}))
	}
	whole, part := format(1<<30), format(100)
	if whole < 10*count || part > whole/20 {
		t.Errorf("%d bytes of %d were written after the interruption", part, whole)
	}
}
