package natvis

const (
	maxFile     = 16 << 20 // bytes of a file
	maxDepth    = 64       // nesting of elements, of template arguments and of statements
	maxTypes    = 100_000  // Type elements of a file
	maxElements = 100_000  // elements inside one child of AutoVisualizer
	maxText     = 64 << 10 // bytes of a display string, of an expression and of a type's name
	maxProblems = 1000     // problems of a file
)
