// Package coretest writes Mach-O core files for tests, from segments, thread states and notes, in
// the layouts of macOS's kernel and lldb.
package coretest
