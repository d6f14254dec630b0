package eval

// Limits of one evaluation and of one text.
const (
	maxText     = 64 << 10 // bytes of an expression
	maxNodes    = 10_000   // parts of an expression
	maxWork     = 200_000  // constructs that are parsed, also those that are parsed twice
	maxNesting  = 200      // of parentheses, operators, declarators
	maxSteps    = 100_000  // operations of an evaluation
	maxFetch    = 1 << 20  // bytes of one value that is read as a whole
	maxKeep     = 64 << 10 // bytes of a result that is kept; gdb's max-value-size
	maxOutput   = 1 << 20  // bytes of formatted text
	maxChildren = 10_000   // of one call of Children
	maxDepth    = 20       // levels of aggregates, gdb's max-depth
	maxElements = 200      // of an array or a string, gdb's print elements
	maxExamine  = 1 << 16  // units of one Examine
	repeats     = 10       // gdb's print repeats
)
