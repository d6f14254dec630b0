package expr

// The limits of one evaluation. Real expressions have a few dozen steps; the limits stop endless
// ones.
const (
	maxSteps  = 100_000
	maxStack  = 1024
	maxCalls  = 16      // nested DW_OP_call*, each uses Go's stack
	maxReads  = 4096    // memory reads
	maxPieces = 4096    // pieces of one composite location
	maxBytes  = 1 << 20 // bytes of all implicit values of one location
)
