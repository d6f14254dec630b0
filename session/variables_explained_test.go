package session_test

import (
	"regexp"
	"strconv"
	"strings"
)

// explained says why dbg and gdb may differ so: see docs/variables.md.
func explained(got, want string) string {
	for _, e := range explanations {
		if g, w := e.apply(got, want); g == w {
			return e.why
		}
	}
	return ""
}

// explanation is a difference between dbg and gdb that is meant. apply takes it out of both texts.
type explanation struct {
	why   string
	apply func(got, want string) (string, string)
}

var explanations = []explanation{
	{"both say that it can't be read, in other words", func(got, want string) (string, string) {
		if strings.HasPrefix(got, "<error") && strings.HasPrefix(want, "<error") {
			return "", ""
		}
		return unreadable.ReplaceAllString(got, "<invalid address>"), unreadable.ReplaceAllString(want, "<invalid address>")
	}},
	{"nullptr_t has a value", func(got, want string) (string, string) {
		return nullPointer.ReplaceAllString(got, "np = <incomplete type>,"), want
	}},
	{"gdb takes Go's names for Pascal's", func(got, want string) (string, string) {
		return got, goName.ReplaceAllString(want, "$1.$2")
	}},
	{"dbg writes Go's values as Go does", func(got, want string) (string, string) {
		return goValue(got), goValue(goName.ReplaceAllString(want, "$1.$2"))
	}},
	{"dbg shows the elements of Rust's Vec and String", func(got, want string) (string, string) {
		if strings.Contains(want, "alloc::vec::Vec<") && (strings.Contains(got, "Vec(size=") || strings.Contains(got, `"`)) {
			return "", ""
		}
		return got, want
	}},
	{"dbg says how long a Rust slice is", func(got, want string) (string, string) {
		if m := rustSliceWhole.FindStringSubmatch(got); m != nil {
			got = m[1] + " [" + m[2] + "]"
		}
		return rustSliceSize.ReplaceAllString(got, "$1 [$2]"), want
	}},
	{"dbg shows the known parts of a Rust slice", func(got, want string) (string, string) {
		return rustSlice.ReplaceAllString(got, "<lost>"), lostSlice.ReplaceAllString(want, "<lost>")
	}},
	{"gdb takes a discriminant that is lost for zero", func(got, want string) (string, string) {
		if got == "<optimized out>" && rustNone.MatchString(want) {
			return "", ""
		}
		return got, want
	}},
	{"gdb takes the length of a slice that is lost for zero", func(got, want string) (string, string) {
		return lostLength.ReplaceAllString(got, "$1 []"), want
	}},
	{"gdb takes the length of a Go string that is lost for zero", func(got, want string) (string, string) {
		if m := goEmpty.FindStringSubmatch(want); m != nil && strings.HasPrefix(got, "{str = "+m[1]) && strings.HasSuffix(got, ", len = <optimized out>}") {
			return "", ""
		}
		return got, want
	}},
	{"dbg shows where a reference is that can't be read", func(got, want string) (string, string) {
		if m := brokenReference.FindStringSubmatch(got); m != nil && want == "<error: Cannot access memory at address "+m[1]+">" {
			return "", ""
		}
		return got, want
	}},
	{"clang's pieces end before the value does: gdb takes the rest of a pointer to member for zero", func(got, want string) (string, string) {
		if got == "<optimized out>" && strings.HasPrefix(want, "&virtual ") {
			return "", ""
		}
		return got, want
	}},
	{"gdb reads what a reference refers to that is not there", func(got, want string) (string, string) {
		if strings.HasSuffix(got, "::None") && want == "<error: Cannot access memory at address 0x0>" {
			return "", ""
		}
		return got, want
	}},
	{"the pieces end before the value does: gdb takes the rest of a member for zero, and the next members for pointers without a value", func(got, want string) (string, string) {
		const lost = ", c = <optimized out>, d = <optimized out>}"
		return got, strings.ReplaceAll(pieceEnd.ReplaceAllString(want, lost), "<synthetic pointer>", "<optimized out>")
	}},
	{"the pieces end before the value does: gdb takes the rest of a member for a number, and the next ones for pointers without a value", func(got, want string) (string, string) {
		return got, sipEnd.ReplaceAllString(want, "tail: <optimized out>, ntail: <optimized out>,")
	}},
	{"the pieces end before the imaginary part", func(got, want string) (string, string) {
		if got == "<optimized out>" && realOnly.MatchString(want) {
			return "", ""
		}
		return got, want
	}},
	{"gdb prints a warning of its own into the value", func(got, want string) (string, string) {
		w, _, found := strings.Cut(want, "warning: (Internal error")
		if found && strings.HasPrefix(got, w) {
			return "", ""
		}
		return got, want
	}},
	{"gdb reads a dynamic part of what is optimised out", func(got, want string) (string, string) {
		if got == "<optimized out>" && strings.HasPrefix(want, "<error") {
			return "", ""
		}
		return got, want
	}},
	{"gdb does not read an array that is too large", func(got, want string) (string, string) {
		if strings.HasPrefix(got, "&[i32] {data_ptr: 0x") && strings.HasPrefix(want, "&[i32] <error") && strings.HasSuffix(want, "more than max-value-size>") {
			return "", ""
		}
		if strings.HasSuffix(got, "...}") && tooLarge.MatchString(want) {
			return "", ""
		}
		return got, want
	}},
	{"gdb leaves out the character before an incomplete sequence", func(got, want string) (string, string) {
		return incomplete.ReplaceAllString(got, `", <incomplete sequence`), want
	}},
	{"gdb makes up names for entries of the global offset table", func(got, want string) (string, string) {
		return inGOT.ReplaceAllString(got, ""), gotEntry.ReplaceAllString(want, "")
	}},
	{"gdb writes the arguments of templates anew", func(got, want string) (string, string) {
		return templateArguments(got), templateArguments(want)
	}},
	{"gdb counts the bytes of a string of Go that it shows, dbg the characters", func(got, want string) (string, string) {
		return sameStrings(goValue(spelledOut(got)), goValue(spelledOut(goName.ReplaceAllString(want, "$1.$2"))))
	}},
	{"gdb does not read what is defined in a function of which there are only inlined calls", func(got, want string) (string, string) {
		if guard.MatchString(got) && want == "{<No data fields>}" {
			return "", ""
		}
		return got, want
	}},
	{"gdb names no data by a symbol without a size", func(got, want string) (string, string) {
		return goType.ReplaceAllString(got, ""), want
	}},
}

var (
	unreadable      = regexp.MustCompile(`<error: Cannot access memory at address 0x[0-9a-f]+>`)
	goName          = regexp.MustCompile(`([a-z]+)\[([A-Za-z0-9_.*()]+)\]`)
	goSlice         = regexp.MustCompile(`[\w.*\[\]]+ len: (\d+), cap: (\d+), \[[^\]]*\]|\{array = 0x[0-9a-f]+(?: <[^>]*>)?, len = (\d+), cap = (\d+)\}`)
	goText          = regexp.MustCompile(`0x[0-9a-f]+ (["'])`)
	goFunc          = regexp.MustCompile(`\{(?:func|void) ?\([^{}]*\}`)
	goChar          = regexp.MustCompile(`(\d) '[^']+'`)
	goType          = regexp.MustCompile(` <(?:(?:type|go):|runtime\.gcbits)[a-z.*]+(?:\+\d+)?>`)
	rustSlice       = regexp.MustCompile(`(&(?:mut )?(?:\[[^{]*\]|str)) \{data_ptr: <optimized out>, length: [^}]*\}`)
	rustSliceSize   = regexp.MustCompile(`(&(?:mut )?\[[^{]*\]|alloc::boxed::Box<\[[^{]*\][^{]*>)\(size=\d+\) \{([^}]*)\}`)
	rustNone        = regexp.MustCompile(`^core::option::Option<.*>::None$`)
	brokenReference = regexp.MustCompile(`^@(0x[0-9a-f]+): .*<error: Cannot access memory`)
	rustSliceWhole  = regexp.MustCompile(`^((?:&(?:mut )?|\*mut |\*const )\[[^{]*\]|alloc::boxed::Box<\[[^{]*\][^{]*>)\(size=\d+\) \{(.*)\}$`)
	goEmpty         = regexp.MustCompile(`^(0x[0-9a-f]+) (?:""|<error: Cannot access memory at address 0x[0-9a-f]+>)$`)
	lostSlice       = regexp.MustCompile(`(?:&(?:mut )?\[[^{]*\] )?<error(?: reading variable)?: value has been optimized out>`)
	gotEntry        = regexp.MustCompile(` <[^@={}]*@got(?:[.\[]plt\]?)?>`)
	inGOT           = regexp.MustCompile(` <_GLOBAL_OFFSET_TABLE_\+\d+>`)
	incomplete      = regexp.MustCompile(`(?:\\\d{3}|[^\\])", <incomplete sequence`)
	realOnly        = regexp.MustCompile(`^[-+.0-9e]+ \+ 0i$`)
	lostLength      = regexp.MustCompile(`([&*][a-z ]*\[[^{}]*\]) \{data_ptr: 0x[0-9a-f]+, length: <optimized out>\}`)
	repeated        = regexp.MustCompile(`(", )?'(\\\d{3}|[^'\\])' <repeats (\d+) times>(, "|\.\.\.|)`)
	nullPointer     = regexp.MustCompile(`np = 0x[0-9a-f]+(?: <[^<>,]*>)?,`) // without a value yet it is any
	tooLarge        = regexp.MustCompile(`^<error: value requires \d{6,} bytes, which is more than max-value-size>$`)
	sipEnd          = regexp.MustCompile(`tail: \d+, ntail: <synthetic pointer>,`)
	guard           = regexp.MustCompile(`^\{_M_guarded = 0x[0-9a-f]+\}$`)
	pieceEnd        = regexp.MustCompile(`, c = -?\d+, d = <synthetic pointer>\}$`)
)

// goValue takes out of the text of a value of Go what dbg and gdb write in different ways: gdb writes slices as structures, shows where the text of
// a string is, takes bytes for characters, functions for C's, and puts arrays into braces.
func goValue(text string) string {
	text = goSlice.ReplaceAllString(text, "len $1$3 cap $2$4")
	text = goText.ReplaceAllString(text, "$1")
	text = goFunc.ReplaceAllString(text, "func")
	text = goChar.ReplaceAllString(text, "$1")
	text = goType.ReplaceAllString(text, "")
	return strings.NewReplacer("[", "{", "]", "}").Replace(text)
}

// spelledOut writes repeated characters of strings one by one.
func spelledOut(text string) string {
	text = repeated.ReplaceAllStringFunc(text, func(s string) string {
		m := repeated.FindStringSubmatch(s)
		n, _ := strconv.Atoi(m[3])
		begin, end := `"`, `"`
		if m[1] != "" {
			begin = ""
		}
		if m[4] == `, "` {
			m[4], end = "", ""
		}
		return begin + strings.Repeat(m[2], min(n, 1000)) + end + m[4]
	})
	return text
}

// sameStrings cuts the first string that goes on in both texts to where the shorter ends.
func sameStrings(got, want string) (string, string) {
	n := 0
	for n < len(got) && n < len(want) && got[n] == want[n] {
		n++
	}
	const more = `"...`
	if rest, ok := strings.CutPrefix(want[n:], more); ok {
		if cut, own, ok := strings.Cut(got[n:], more); ok && !strings.Contains(strings.ReplaceAll(cut, `\"`, ""), `"`) {
			return got[:n] + own, want[:n] + rest
		}
	}
	return got, want
}

// templateArguments writes the numbers and pointers between angle brackets as gdb does.
func templateArguments(text string) string {
	return strings.NewReplacer("UL,", "ul,", "UL>", "ul>", " *,", "*,", " *>", "*>").Replace(text)
}

// lostRegister reports whether two values differ only in parts of which dbg says that their register is not saved.
func lostRegister(got, want string) bool {
	parts := strings.Split(got, "<not saved>")
	if len(parts) == 1 {
		return false
	}
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	if len(parts) == 2 && parts[0] == "" && parts[1] == "" {
		return true
	}
	return regexp.MustCompile("^" + strings.Join(parts, "[^,{}()]+") + "$").MatchString(want)
}
