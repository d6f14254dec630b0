package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"dbg/session"
)

func execCommand() *cobra.Command {
	var s shared
	var keepASLR bool
	var dir string
	var env []string
	c := &cobra.Command{
		Use:   "exec [flags] PROG [ARGS...]",
		Short: "start a program under the debugger",
		Long: `Loads PROG. The command "run" starts it with ARGS. Flags of dbg come before PROG;
everything after PROG belongs to PROG.`,
		Args: args(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg := s.config()
			cfg.KeepASLR = keepASLR
			p := session.Program{Path: args[0], Args: args[1:], Dir: dir, Terminal: isTerminal(os.Stdin)}
			if len(env) > 0 {
				p.Env = os.Environ()
				for _, kv := range env {
					if i := strings.IndexByte(kv, '='); i < 1 {
						return usageError{fmt.Errorf("--env %s: expected NAME=VALUE", kv)}
					}
					p.Env = append(p.Env, kv)
				}
			}
			sess, err := s.open(cfg)
			if err != nil {
				return err
			}
			if err := sess.Load(p); err != nil {
				sess.Close()
				return err
			}
			return s.converse(cmd.Context(), sess)
		},
	}
	s.register(c.Flags())
	c.Flags().BoolVar(&keepASLR, "keep-aslr", false, "keep address-space randomisation on")
	c.Flags().StringVar(&dir, "cwd", "", "run the program in the directory `DIR`")
	c.Flags().StringArrayVar(&env, "env", nil, "add `NAME=VALUE` to the program's environment; repeatable")
	c.Flags().SetInterspersed(false)
	return c
}
