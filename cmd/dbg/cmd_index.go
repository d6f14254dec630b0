package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"dbg/image"
	"dbg/symbols"
	"dbg/symbols/names"
)

// indexDir is where indexes of names are kept: DBG_INDEX_DIR, in which "none" turns them off, or else the user's cache.
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
		Short: "keep an index of a file's names, so that questions about large programs are answered at once",
		Long: `Makes an index of the names in each FILE's debug information and keeps it, by build id, in the user's cache directory, or in
$DBG_INDEX_DIR. dbg makes the index of a large program by itself when a question first needs one; this is for those who do not want to
wait even then. A FILE whose index is there already is left alone.`,
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
	c.Flags().StringSliceVar(&dirs, "debug-dir", nil, "`DIR` with separate debug files; several can be given")
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
