// Package names finds the entries of debug information that have a name.
//
// It gives a [Lookup], which answers for functions, variables, types and enumerators, and the whole
// [Index] for callers that go over all names.
//
// You bring a [Source]: the units of a module and the file that contains them.
//
// A name is asked for in this order: in the saved index, if there is one of the file's build id; in
// the tables of names in the file (.debug_names, DWARF 5, section 6.1.1; .gdb_index, versions 7 and
// 8); in an index that is built on all cores. Tables only tell which units may have a name: these
// are indexed one by one, and the answers are the same.
//
// It does not know what a user may mean by a name (spelling.Query), nor qualified names
// (entry.Scopes): callers compare those.
//
// It stays fast because an entry of the index is 16 bytes, which are searched where they are
// mapped; because the scan decodes only the attributes that it needs, without allocating
// (dwarf.Cursor); and because a name that the debug information does not contain never causes an
// index.
//
// Saved indexes and tables may be damaged or of another file: a look-up may then miss, but it finds
// nothing that is not there.
package names
