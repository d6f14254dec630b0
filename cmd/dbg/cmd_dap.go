package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"dbg/dap"
)

func dapCommand() *cobra.Command {
	var s shared
	var listen string
	var listenAny, multi, keepASLR bool
	c := &cobra.Command{
		Use:   "dap [flags]",
		Short: "Debug Adapter Protocol server, for editors",
		Long:  "Serves the Debug Adapter Protocol on standard input and output, or, with --listen, on a socket.",
		Args:  args(0, 0),
		RunE: interruptible(func(cmd *cobra.Command, args []string) error {
			opts := dap.Options{Session: s.config(), Multi: multi, ListenAny: listenAny}
			opts.Session.KeepASLR = keepASLR
			opts.Log = func(format string, args ...any) { fmt.Fprintf(os.Stderr, "dbg: "+format+"\n", args...) }
			if listen == "" {
				return dap.Serve(cmd.Context(), stdio{}, opts)
			}
			return dap.ListenAndServe(cmd.Context(), listen, opts)
		}),
	}
	c.Flags().StringVar(&listen, "listen", "", "serve on a socket instead: `ADDRESS` is unix:PATH, or HOST:PORT with a loopback host; port 0 means any free port")
	c.Flags().BoolVar(&listenAny, "listen-any", false, "let --listen accept an address that other machines can reach; they can then run programs as you")
	c.Flags().BoolVar(&multi, "multi", false, "with --listen: wait for the next client after one has disconnected")
	c.Flags().BoolVar(&keepASLR, "keep-aslr", false, "keep address-space randomisation on for launched programs")
	s.files(c.Flags())
	return c
}

// stdio is standard input and output as one stream.
type stdio struct{}

func (stdio) Read(p []byte) (int, error)  { return os.Stdin.Read(p) }
func (stdio) Write(p []byte) (int, error) { return os.Stdout.Write(p) }
func (stdio) Close() error {
	err := os.Stdin.Close()
	if oerr := os.Stdout.Close(); err == nil {
		err = oerr
	}
	return err
}
