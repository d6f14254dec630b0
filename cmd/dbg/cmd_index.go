package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"dbg/image"
	"dbg/symbols"
	"dbg/symbols/names"
)

// indexDir returns the directory for indexes of names: $DBG_INDEX_DIR, where "none" disables
// indexes, or else a directory in the user's cache.
func indexDir() string {
	switch dir := os.Getenv("DBG_INDEX_DIR"); dir {
	case "":
		return names.DefaultDir()
	case "none":
		return ""
	default:
		return dir
	}
}

func indexCommand() *cobra.Command {
	var dirs []string
	c := &cobra.Command{
		Use:   "index [flags] FILE...",
		Short: "make an index of a file's names, so that lookups in large programs are fast",
		Long: `Makes an index of the names in each FILE's debug information. It is stored by build id in the user's cache directory, or in
$DBG_INDEX_DIR. dbg also makes the index of a large program by itself when it first needs one. Use this command to avoid
that wait. A FILE that already has an index is skipped.`,
		Args: args(1, -1),
		RunE: func(_ *cobra.Command, args []string) error {
			for _, path := range args {
				if err := makeIndex(path, dirs); err != nil {
					return fmt.Errorf("%s: %w", path, err)
				}
			}
			return nil
		},
	}
	c.Flags().StringSliceVar(&dirs, "debug-dir", nil, "look for separate debug files in `DIR`; repeatable")
	return c
}

func makeIndex(path string, dirs []string) error {
	f, err := image.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	m := symbols.Load(f, symbols.Options{DebugDirs: dirs, IndexDir: indexDir(), Progress: indexing()})
	defer m.Close()
	made, err := m.SaveIndex()
	if err != nil {
		return err
	}
	if made != "" {
		fmt.Println(made)
	}
	return nil
}
