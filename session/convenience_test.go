package session_test

import "testing"

// gdb's convenience variables and functions.
func TestConvenience(t *testing.T) {
	c := newCaller(t)
	for _, x := range [][2]string{
		{"$_thread", "1"}, {"$_inferior", "1"}, {"$_exitcode", "void"}, {"$nothing", "void"},
		{`$_streq("a", "a")`, "true"}, {`$_streq("a", "b")`, "false"}, {`$_strlen("four")`, "4"},
		{`$_regex("abc", "a.c")`, "true"}, {`$_regex("xabc", "a.c")`, "false"}, {`$_regex("a", "(")`, "error parsing regexp: missing closing ): `^(?:()`"},
		{"$_isvoid($nothing)", "1"}, {"$_isvoid(1)", "0"}, {"$_memeq(&v, &v, 4)", "true"}, {"$_memeq(&v, &v, -1)", "Invalid length -1."},
		{`$_streq("a")`, "You must provide 2 arguments to $_streq."}, {"$_strlen(v)", "Argument is not a string."},
		{"alignof(long)", "8"}, {"alignof(p)", "4"},
	} {
		c.expect(x[0], x[1])
	}
}
