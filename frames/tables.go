package frames

// tables is what is derived from a module's sections.
type tables struct{}
