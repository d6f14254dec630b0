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
			fmt.Println("programs: amd64 (Linux, ELF); live processes and core files")
			fmt.Println("debug information: DWARF 2 to 5; unwinding: .eh_frame, .debug_frame, frame pointers, instruction analysis, stack scan")
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
