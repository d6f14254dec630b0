package symbols

import "dbg/image"

// Options says how debug information is to be found.
type Options struct {
	DebugDirs []string // where separate debug files are; nil: image.DefaultDebugDirs
}

// Module is the symbols of one file.
type Module struct {
	file *image.File
}

// function is what is known of a Function from debug information.
type function struct{}

// variable is what is known of a Variable from debug information.
type variable struct{}

// Load makes the module of a file.
func Load(f *image.File, opt Options) *Module { return &Module{file: f} }

func (m *Module) File() *image.File      { return m.file }
func (m *Module) DebugFile() *image.File { return nil }
func (m *Module) HasDebugInfo() bool     { return false }
func (m *Module) Origin() string         { return "" }
func (m *Module) Close() error           { return nil }

func (m *Module) FunctionAt(a image.Addr) *Function                           { return nil }
func (m *Module) SymbolAt(a image.Addr) (name string, offset uint64, ok bool) { return }
func (m *Module) ObjectAt(a image.Addr) (name string, offset uint64, ok bool) { return }
func (m *Module) CallsAt(a image.Addr) []Call                                 { return nil }
func (m *Module) LineAt(a image.Addr) (LineRange, bool)                       { return LineRange{}, false }
func (m *Module) FunctionsByName(name string) []*Function                     { return nil }
func (m *Module) FunctionNames(prefix string, max int) []string               { return nil }
func (m *Module) AfterPrologue(f *Function) Location                          { return Location{} }
func (m *Module) LinesByFile(file string, line int) []Location                { return nil }
func (m *Module) SourceFiles() []string                                       { return nil }
func (m *Module) Locals(a image.Addr) []*Variable                             { return nil }
func (m *Module) LocalsOf(c *Call, a image.Addr) []*Variable                  { return nil }
func (m *Module) Global(name string) []*Variable                              { return nil }
func (m *Module) Type(name string) *Type                                      { return nil }
func (v *Variable) Locate(a image.Addr) Located                               { return Located{} }
func (t *Type) String() string                                                { return t.Name }
