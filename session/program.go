package session

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dbg/target/kinds"
)

// ShellSettings says how a shell starts the program. A shell expands wildcards and variables in the
// arguments, and opens redirections. What it does before it executes the program is not debugged.
type ShellSettings struct {
	// Line has the arguments as the user typed them. If it is "", no shell is used, unless Wrapper is
	// set.
	Line    string
	Wrapper string // commands that execute the program, with their arguments: "env LD_PRELOAD=x.so"
}

// SetShell changes how the next Run starts the program.
func (s *Session) SetShell(set ShellSettings) error {
	return s.try(func() error { s.shell = set; return nil })
}

// SetDir changes the working directory of the next Run; "" is dbg's own.
func (s *Session) SetDir(dir string) error {
	return s.try(func() error { s.program.Dir = dir; return nil })
}

// MakePathAbsolute makes the program's path independent of the working directory, which is about to
// change.
func (s *Session) MakePathAbsolute() error {
	return s.try(func() error {
		if s.program.Path == "" {
			return nil
		}
		path, err := filepath.Abs(s.program.Path)
		if err == nil {
			s.program.Path = path
		}
		return err
	})
}

// SetEnvironment changes a variable of the program's environment in the next Run, or removes it.
func (s *Session) SetEnvironment(name, value string, remove bool) error {
	if name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(value, "\x00") {
		return errors.New("the name of an environment variable is not valid")
	}
	return s.try(func() error {
		env := s.environment()
		env = slices.DeleteFunc(env, func(e string) bool { return strings.HasPrefix(e, name+"=") })
		if !remove {
			env = append(env, name+"="+value)
		}
		s.program.Env = env
		return nil
	})
}

// ClearEnvironment removes all variables.
func (s *Session) ClearEnvironment() error {
	return s.try(func() error { s.program.Env = []string{}; return nil })
}

// Environment returns the environment of the next Run.
func (s *Session) Environment() []string {
	env, _ := ask(s, func() ([]string, error) { return s.environment(), nil })
	return env
}

// environment returns a copy of the program's environment.
func (s *Session) environment() []string {
	if s.program.Env == nil {
		return os.Environ()
	}
	return slices.Clone(s.program.Env)
}

// SetRandomization sets whether addresses of the next Run are randomised.
func (s *Session) SetRandomization(on bool) error {
	return s.try(func() error { s.cfg.KeepASLR = on; return nil })
}

// SetTerminal makes a terminal, or another file, the program's standard input and output in the
// next Run. The session closes it.
func (s *Session) SetTerminal(f *os.File) error {
	return s.try(func() error {
		if s.terminal != nil {
			s.terminal.Close()
		}
		s.terminal = f
		s.program.Stdin, s.program.Stdout, s.program.Stderr, s.program.Terminal = f, f, f, false
		return nil
	})
}

// byShell adds the shell to what is launched, if one is needed.
func (s *Session) byShell(l *kinds.Launch) {
	if s.shell.Line == "" && s.shell.Wrapper == "" {
		return
	}
	shell := os.Getenv("SHELL")
	if shell == "" || strings.HasSuffix(shell, "nologin") || strings.HasSuffix(shell, "/false") {
		shell = "/bin/sh"
	}
	line := "exec "
	execs := 1
	if s.shell.Wrapper != "" {
		line += s.shell.Wrapper + " "
		execs++
	}
	path := l.Path
	if abs, err := filepath.Abs(path); err == nil { // the shell runs in the program's folder
		path = abs
	}
	line += quoteForShell(path)
	if s.shell.Line != "" {
		line += " " + s.shell.Line
	} else {
		for _, a := range l.Args {
			line += " " + quoteForShell(a)
		}
	}
	l.Before, l.Execs = []string{shell, "-c", line}, execs
}

// quoteForShell quotes a word so that a shell leaves it as it is.
func quoteForShell(w string) string {
	if w != "" && strings.Trim(w, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+=:,@%") == "" {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// NeedsShell reports whether arguments have something that a shell would expand or open.
func NeedsShell(args string) bool {
	quote := byte(0)
	for i := 0; i < len(args); i++ {
		c := args[i]
		switch {
		case quote == '\'':
			if c == '\'' {
				quote = 0
			}
		case c == '\\':
			i++
		case c == '$' || c == '`':
			return true
		case quote == '"':
			if c == '"' {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case strings.IndexByte("*?[]<>|&;(){}~!#", c) >= 0:
			return true
		}
	}
	return false
}
