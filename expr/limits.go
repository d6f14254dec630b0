package expr

// The limits of one evaluation. Real expressions are a few dozen steps;
// these only end what would not end by itself.
const (
	maxSteps  = 100_000
	maxStack  = 1024
	maxCalls  = 16      // nested DW_OP_call*, each of which uses Go's stack
	maxReads  = 4096    // of memory
	maxPieces = 4096    // of one composite location
	maxBytes  = 1 << 20 // of all implicit values of one location
)
