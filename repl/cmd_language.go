package repl

import (
	"errors"
	"fmt"
	"strings"

	"dbg/symbols/lang"
)

// languages are the languages that dbg evaluates, by gdb's names.
var languages = []struct {
	name string
	lang lang.Lang
}{{"c", lang.C}, {"c++", lang.CPlusPlus}, {"rust", lang.Rust}, {"go", lang.Go}, {"asm", lang.Asm}}

// setLanguage is "set language NAME".
func (sh *shell) setLanguage(name string) error {
	name = strings.ToLower(strings.TrimSpace(name))
	if name == "" {
		return userErrorf("Requires an argument. Valid arguments are auto, local, asm, c, c++, go, rust.")
	}
	if name == "auto" || name == "local" {
		sh.sess.SetLanguage(lang.Unknown)
		sh.settings.print.Language = lang.Unknown
		return nil
	}
	for _, l := range languages {
		if l.name == name {
			sh.sess.SetLanguage(l.lang)
			sh.settings.print.Language = l.lang
			sh.warnLanguage()
			return nil
		}
	}
	return userErrorf("Undefined item: \"%s\".", name)
}

// warnLanguage tells that the chosen language is not that of the frame.
func (sh *shell) warnLanguage() {
	now, auto := sh.sess.Language()
	if f := sh.sess.FrameLanguage(); !auto && f != lang.Unknown && f != now {
		fmt.Fprintln(sh.out, "Warning: the current language does not match this frame.")
	}
}

// showLanguage is "show language".
func (sh *shell) showLanguage() {
	now, auto := sh.sess.Language()
	name := "c" // as gdb has it where nothing tells
	for _, l := range languages {
		if l.lang == now {
			name = l.name
		}
	}
	if auto {
		name = "auto; currently " + name
	}
	fmt.Fprintf(sh.out, "The current source language is \"%s\".\n", name)
	if !auto {
		sh.warnLanguage()
	}
}

// setRadix is "set output-radix N", "set input-radix N" and "set radix N".
func (sh *shell) setRadix(name, value string) error {
	radix := map[string]int{"": 10, "8": 8, "010": 8, "10": 10, "0xa": 10, "16": 16, "0x10": 16}[value]
	if radix == 0 {
		return userErrorf("Unsupported output radix ``decimal %s''; output radix unchanged.", value)
	}
	if name != "output-radix" && radix != 10 {
		return errors.New("dbg reads numbers as the language does (0x10, 010); see also: set output-radix")
	}
	if name != "input-radix" {
		sh.settings.print.Radix = radix
		forms := map[int]string{8: "8, hex 8, octal 10", 10: "10, hex a, octal 12", 16: "16, hex 10, octal 20"}
		sh.announce("Output radix now set to decimal %s.\n", forms[radix])
	}
	return nil
}

// showRadix is "show output-radix" and "show input-radix".
func (sh *shell) showRadix(name string) {
	if name == "input-radix" {
		fmt.Fprintln(sh.out, "Default input radix for entering numbers is 10.")
		return
	}
	radix := 10
	if r := sh.settings.print.Radix; r != 0 {
		radix = r
	}
	fmt.Fprintf(sh.out, "Default output radix for printing of values is %d.\n", radix)
}
