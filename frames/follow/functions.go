package follow

// Limits of reading from a function's start.
const (
	startInstructions = 10_000
	maxPaths          = 256
)

// MaxFunction is the maximum size of a function that is followed, in bytes.
const MaxFunction = 1 << 20

// Limits of the cache of functions that were read from their starts.
const (
	maxStarts     = 128
	maxStartsSize = 64 << 10
)

// Functions caches functions that were read from their starts: the recently used ones, and older
// ones. Its zero value is empty. It belongs to one goroutine.
type Functions struct {
	recent, older map[startKey]*forward
	size          int // size of recent
}

// startKey identifies a function in a file.
type startKey struct {
	file          File
	start, lo, hi uint64
}

// Rule returns the rule at pc from the code from a function's start, and the number of
// instructions that it takes. It follows the code between lo and hi only. All are addresses in the
// process; start is odd for Thumb code. slots reports whether the rule depends on a slot of the
// global offset table.
//
// It assumes that the code of a file does not change. Other code, and code after jumps through
// slots in memory, is read again if epoch has another value than the last time.
func (c *Functions) Rule(r Reader, start, lo, hi, pc, epoch uint64) (rule *Rule, read int, slots bool) {
	key := startKey{r.File, start, lo, hi}
	f := c.recent[key]
	if f.stale(epoch) {
		f = c.older[key]
		if f.stale(epoch) {
			f = newForward(r, start, lo, hi)
		}
		if f.epoch = epoch; c.recent == nil || len(c.recent) >= maxStarts || c.size >= maxStartsSize {
			c.older, c.recent, c.size = c.recent, map[startKey]*forward{}, 0
		}
		c.recent[key] = f
		c.size += f.size()
	}
	size := f.size()
	rule, read = f.ruleAt(pc)
	c.size += f.size() - size
	return rule, read, f.sim.slots
}

// stale reports whether f must be read again, because it depends on memory that may have changed.
func (f *forward) stale(epoch uint64) bool {
	return f == nil || (f.sim.File == nil || f.sim.slots) && f.epoch != epoch
}
