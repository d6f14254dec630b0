package repl

import (
	"strconv"
	"strings"
)

// setting returns the value of a setting, for $_gdb_setting.
func (sh *shell) setting(name string) (text string, ok bool) {
	word, rest, _ := strings.Cut(name, " ")
	if word == "print" || word == "p" || word == "pr" {
		s := findPrintSetting(rest)
		if s == nil {
			return "", false
		}
		return s.value(&sh.settings.print), true
	}
	switch name {
	case "confirm":
		return onOrOff(sh.settings.confirm), true
	case "listsize":
		return strconv.Itoa(sh.settings.listSize), true
	case "step-mode":
		return onOrOff(sh.sess.StepMode()), true
	case "unwindonsignal", "unwind-on-signal":
		return onOrOff(sh.sess.UnwindOnSignal()), true
	case "disassembly-flavor":
		if sh.sess.IntelSyntax() {
			return "intel", true
		}
		return "att", true
	}
	return "", false
}
