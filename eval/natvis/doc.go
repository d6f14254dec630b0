// Package natvis reads Natvis, Microsoft's XML language for views of C++ objects: bytes in, model
// out.
//
// Parse returns the model of a file: which types it describes, their display strings, children,
// intrinsics and smart pointers. Set finds the views of a type by its name.
//
// It needs the bytes of a file and, for Set.Match, the name of a concrete type as debug information
// writes it. Package eval/view evaluates the expressions: here they stay text with a position.
//
// It implements two documents of Microsoft. The comments cite them by section.
//
//   - Natvis: "Create custom views of C++ objects in the debugger using the Natvis framework",
//     https://learn.microsoft.com/visualstudio/debugger/create-custom-views-of-native-objects,
//     and the schema natvis.xsd, which Visual Studio Code's page "Natvis" reproduces.
//   - Specifiers: "Format specifiers for C++ in the Visual Studio debugger",
//     https://learn.microsoft.com/visualstudio/debugger/format-specifiers-in-cpp
//
// What belongs to Visual Studio is accepted and reported as a warning: HResult, UIVisualizer,
// CustomVisualizer, LocalizedStrings, legacy add-ins, and Version, which constrains a view to the
// version of a DLL. A view with a Version is kept: the version is unknown here.
//
// Every problem has a file, a line, a column and a message. A broken element is dropped and the
// rest of the file is used. The input is untrusted: its size, depth and number of everything are
// limited (limits.go). No XML entity is expanded except the five of the XML standard and
// characters by number.
//
// Set costs one map lookup for a type that has no view, because patterns have wildcards only as
// template arguments: the name without its arguments is the key.
package natvis
