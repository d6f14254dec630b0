package repl

import (
	"fmt"
	"strings"

	"dbg/session"
)

func skipCommands() []*command {
	return []*command{
		{name: "skip", usage: "[FUNCTION] | function [NAME] | file [NAME] | -fi FILE | -gfi PATTERN | -fu FUNCTION | -rfu REGEX | delete|enable|disable [N...]", group: "running", help: "step does not enter a function, or the functions of a file", words: functionWords, run: skip},
	}
}

// skipWords are the subcommands of skip.
func skipWords() []*command {
	return []*command{
		{name: "delete", run: skipDelete},
		{name: "disable", run: skipEnable(false)},
		{name: "enable", run: skipEnable(true)},
		{name: "file", run: skipFile},
		{name: "function", run: skipFunction},
	}
}

func skip(sh *shell, args string) error {
	if strings.HasPrefix(args, "-") {
		return skipOptions(sh, args)
	}
	word, rest := cutWord(args)
	if word == "" {
		return skipFunction(sh, "")
	}
	all := skipWords()
	for _, c := range all {
		if strings.HasPrefix(c.name, word) {
			c, err := lookup(all, word, "skip ")
			if err != nil {
				return err
			}
			return c.run(sh, rest)
		}
	}
	return skipFunction(sh, args)
}

func skipFunction(sh *shell, name string) error {
	if name == "" {
		if name, _ = sh.sess.FunctionHere(); name == "" {
			return userErrorf("No default function now.")
		}
	}
	return sh.addSkip(session.SkipSpec{Function: name})
}

func skipFile(sh *shell, name string) error {
	if name == "" {
		if _, name = sh.sess.FunctionHere(); name == "" {
			return userErrorf("No default file now.")
		}
	}
	return sh.addSkip(session.SkipSpec{File: name})
}

// skipOptions handles the form of skip with options.
func skipOptions(sh *shell, args string) error {
	words, err := splitWords(args)
	if err != nil {
		return err
	}
	var spec session.SkipSpec
	for i := 0; i < len(words); i += 2 {
		option := words[i]
		known := map[string]bool{"-fi": true, "-file": true, "-gfi": true, "-gfile": true, "-fu": true, "-function": true, "-rfu": true, "-rfunction": true}
		switch {
		case !known[option] && strings.HasPrefix(option, "-"):
			return userErrorf("Invalid skip option: %s", option)
		case !known[option]:
			return userErrorf("Invalid argument: %s", option)
		case i+1 == len(words):
			return userErrorf("Missing value for %s option.", option)
		}
		value := words[i+1]
		switch option {
		case "-fi", "-file", "-gfi", "-gfile":
			if spec.File != "" {
				return userErrorf("Cannot specify both -file and -gfile.")
			}
			spec.File, spec.FileGlob = value, option[1] == 'g'
		default:
			if spec.Function != "" {
				return userErrorf("Cannot specify both -function and -rfunction.")
			}
			spec.Function, spec.FunctionRegex = value, option[1] == 'r'
		}
	}
	return sh.addSkip(spec)
}

// addSkip adds an entry and reports it.
func (sh *shell) addSkip(spec session.SkipSpec) error {
	if _, err := sh.sess.AddSkip(spec); err != nil {
		return err
	}
	function, file := "Function", "File"
	if spec.FunctionRegex {
		function = "Function(s)"
	}
	if spec.FileGlob {
		file = "File(s)"
	}
	switch {
	case spec.File == "":
		fmt.Fprintf(sh.out, "%s %s will be skipped when stepping.\n", function, spec.Function)
	case spec.Function == "":
		fmt.Fprintf(sh.out, "%s %s will be skipped when stepping.\n", file, spec.File)
	default:
		fmt.Fprintf(sh.out, "%s %s in %s %s will be skipped when stepping.\n", function, spec.Function, strings.ToLower(file), spec.File)
	}
	return nil
}

// eachSkip calls do for the listed entries, or for all if args is empty.
func (sh *shell) eachSkip(args string, do func(int) bool) error {
	ids, err := numbers(args)
	if err != nil {
		return err
	}
	if args == "" {
		for _, k := range sh.sess.Skips() {
			ids = append(ids, k.Number)
		}
		if len(ids) == 0 {
			return userErrorf("No skiplist entries found.")
		}
	}
	found := false
	for _, id := range ids {
		if do(id) {
			found = true
		}
	}
	if !found {
		return userErrorf("No skiplist entries found with number %s.", args)
	}
	return nil
}

func skipDelete(sh *shell, args string) error { return sh.eachSkip(args, sh.sess.DeleteSkip) }

func skipEnable(on bool) func(*shell, string) error {
	return func(sh *shell, args string) error {
		return sh.eachSkip(args, func(n int) bool { return sh.sess.EnableSkip(n, on) })
	}
}

// infoSkip prints the table of skips.
func infoSkip(sh *shell, args string) error {
	wanted := map[int]bool{}
	ids, err := numbers(args)
	if err != nil {
		return err
	}
	for _, n := range ids {
		wanted[n] = true
	}
	var list []session.Skip
	for _, k := range sh.sess.Skips() {
		if args == "" || wanted[k.Number] {
			list = append(list, k)
		}
	}
	if len(list) == 0 {
		if args != "" {
			fmt.Fprintf(sh.out, "No skiplist entries found with number %s.\n", args)
		} else {
			fmt.Fprintln(sh.out, "Not skipping any files or functions.")
		}
		return nil
	}
	letter := func(yes bool) string {
		if yes {
			return "y"
		}
		return "n"
	}
	orNone := func(s string) string {
		if s == "" {
			return "<none>"
		}
		return s
	}
	fmt.Fprintf(sh.out, "%-5s %-3s %4s %-20s %2s %s\n", "Num", "Enb", "Glob", "File", "RE", "Function")
	for _, k := range list {
		fmt.Fprintf(sh.out, "%-5d %-3s %4s %-20s %2s %s\n", k.Number, letter(k.Enabled), letter(k.FileGlob), orNone(k.File), letter(k.FunctionRegex), orNone(k.Function))
	}
	return nil
}
