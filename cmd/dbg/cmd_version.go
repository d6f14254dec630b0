package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "print version, Go version, supported architectures and formats",
		Args:  args(0, 0),
		Run: func(cmd *cobra.Command, args []string) {
			fmt.Printf("dbg %s\n", version())
			fmt.Printf("built with %s for %s/%s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH)
			fmt.Print(`live programs: amd64 (Linux)
cores: Linux (amd64, 386, arm64, arm, riscv64), macOS (amd64, arm64), the Linux kernel (amd64)
minidumps: Microsoft, Breakpad and Crashpad (amd64, 386, arm64, arm)
files: ELF, Mach-O, PE, static libraries, compressed kernels and modules
debug information: DWARF 2 to 5, Go's own tables
unwinding: .eh_frame, .debug_frame, .gnu_debugdata, .gopclntab, __unwind_info, .ARM.exidx, .pdata, ORC, SFrame,
  libunwind's dynamic information, JIT symbol files, frame pointers, shadow call stacks, instruction analysis, stack scan
`)
		},
	}
}

// version returns the module's version, or the commit from which it was built.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown version)"
	}
	v := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && (v == "" || v == "(devel)") && len(s.Value) >= 12 {
			return "commit " + s.Value[:12]
		}
	}
	return v
}
