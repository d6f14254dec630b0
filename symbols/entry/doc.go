// Package entry reads the attributes of an entry of debug information that most questions need.
//
// It gives the name of an entry ([Name], [Linkage], [Scopes.Qualified]), its declaration
// ([Declaration]), the attributes that it inherits from other entries ([Inherited]), and
// [Location]: a DWARF expression with the context that it needs, to be evaluated later in a frame.
//
// You bring entries of package dwarf. Nothing here belongs to a module; only [Scopes] keeps
// state: the namespaces of the units that it was asked about.
//
// References between entries may be damaged and may form circles: [MaxHops], [MaxNesting] and
// [MaxUnitRanges] bound the work.
package entry
