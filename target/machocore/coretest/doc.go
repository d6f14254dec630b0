// Package coretest writes Mach-O core files, for tests: from segments, thread
// states and notes, in the layouts that macOS's kernel and lldb write.
package coretest
