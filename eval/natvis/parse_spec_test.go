package natvis

import (
	"fmt"
	"strings"
	"testing"
)

// TestSpec checks where an expression ends and what its specifier is, as dumpSpec writes it.
func TestSpec(t *testing.T) {
	for _, c := range []struct{ text, expr, spec string }{
		{"x", "x", ""},
		{" x ", "x", ""},
		{"x,d", "x", ",d"}, {"x,i", "x", ",d"}, {"x,u", "x", ",u"}, {"x,o", "x", ",o"},
		{"x,x", "x", ",h"}, {"x,h", "x", ",h"}, {"x,X", "x", ",H"}, {"x, xb", "x", ",hb"}, {"x,Xb", "x", ",Hb"},
		{"x,b", "x", ",b"}, {"x,bb", "x", ",bb"},
		{"x,f", "x", ",f"}, {"x,e", "x", ",e"}, {"x,g", "x", ",g"},
		{"x,c", "x", ",c"}, {"x,s", "x", ",s"}, {"x,sb", "x", ",sb"}, {"x,s8", "x", ",s8"}, {"x,s8b", "x", ",s8b"},
		{"x,su", "x", ",su"}, {"x,sub", "x", ",sub"}, {"x,s32", "x", ",s32"}, {"x,s32b", "x", ",s32b"},
		{"x,bstr", "x", ",bstr"}, {"x,env", "x", ",env"}, {"x,en", "x", ",en"}, {"x,hr", "x", ",hr"},
		{"x,wc", "x", ",wc"}, {"x,wm", "x", ",wm"},
		{"x,hv", "x", ", +hv"}, {"x,nvo", "x", ", +nvo"}, {"x,na", "x", ", +na"}, {"x,nd", "x", ", +nd"},
		{"x,nr", "x", ", +nr"}, {"x,!", "x", ", +!"}, {"x!", "x!", ""},
		{"p,[10]", "p", ", [10]@1:4"}, {"p,[0x20]x", "p", ",h [0x20]@1:4"},
		{"p,[_size]", "p", ", [_size]@1:4"}, {"p , [ a[b, c] ] su", "p", ",su [a[b, c]]@1:7"},
		{"p,[f(a,b)]na", "p", ", +na [f(a,b)]@1:4"},
		{"p,expand(2)", "p", ", expand(2)"},
		{"*this,view(simple)", "*this", ", view(simple)"},
		{"*this,view(simple)na", "*this", ", +na view(simple)"},
		{"*this,nd,view(a)", "*this", ", +nd view(a)"},
		{"p,s na", "p", ",s +na"}, {"p,na,s", "p", ",s +na"}, {"p,nasu", "p", ",su +na"}, {"p,sna", "p", ",s +na"},
		{"p,nand", "p", ", +na +nd"}, {"p,!,x", "p", ",h +!"}, {"p,na!", "p", ", +na +!"},

		// Commas that belong to the expression.
		{"f(a,x)", "f(a,x)", ""},
		{"f(a,x),x", "f(a,x)", ",h"},
		{"a[b,x]", "a[b,x]", ""},
		{"(T<a,b>*)p", "(T<a,b>*)p", ""},
		{"T<a,b>::v,d", "T<a,b>::v", ",d"},
		{"T<a,x>{}", "T<a,x>{}", ""},
		{"T<A<a,x>>::v", "T<A<a,x>>::v", ""},
		{"','", "','", ""}, {`","`, `","`, ""}, {`"\",x"`, `"\",x"`, ""},
		{"c == ',',d", "c == ','", ",d"},
		{"1'000,x", "1'000", ",h"},
		{"a < b,x", "a < b", ",h"},
		{"(a < b),x", "(a < b)", ",h"},
		{"1 << n,x", "1 << n", ",h"},
		{"a->b < c->d,x", "a->b < c->d", ",h"},
		{"a <= b,d", "a <= b", ",d"},
		{"a > b,d", "a > b", ",d"},
		{"a = 1, b = 2", "a = 1, b = 2", ""},
		{"a, b + 1,x", "a, b + 1", ",h"},
		{"p,[", "p,[", ""}, {"p,[]", "p,[]", ""}, {"p,view()", "p,view()", ""},
		{"p,", "p,", ""}, {",x", "", ",h"},
	} {
		l := newLog("f", nil)
		e, ok := l.expr(source{text: c.text, marks: []mark{{0, 0}}})
		spec := strings.TrimSpace(dumpSpec(e.Spec))
		if spec != "" && spec[1] == ' ' {
			spec = ", " + strings.TrimSpace(spec[1:])
		}
		if e.Text != c.expr || spec != c.spec || ok != (c.expr != "") || len(l.problems) > 0 {
			t.Errorf("%q: got %q %q %t %v, want %q %q", c.text, e.Text, spec, ok, l.problems, c.expr, c.spec)
		}
	}
}

func TestUnknownSpec(t *testing.T) {
	l := newLog("f", nil)
	e, _ := l.expr(source{text: "x,weird", marks: []mark{{0, 0}}})
	if e.Text != "x" || len(l.problems) != 1 || l.problems[0].Error() != `f:1:3: warning: unknown format specifier "weird"` {
		t.Errorf("got %q, %v", e.Text, l.problems)
	}
}

// TestDisplay checks the parts of a display string: text, and expressions in angle brackets.
func TestDisplay(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"plain", "plain"},
		{"{x}", "<x>"},
		{"{{x}}", "{x}"},
		{"{{{x}}}", "{<x>}"},
		{"{{x={x} y={y}}}", "{x=<x> y=<y>}"},
		{"{x,d}{y}", "<x ,d><y>"},
		{"{f('}')}", "<f('}')>"},
		{`{c ? "}" : "{"}`, `<c ? "}" : "{">`},
		{"{T{1,2}.x}", "<T{1,2}.x>"},
		{"{1'000} '", "<1'000> '"},
		{"a } b", "a } b"},
		{"{x", "error"},
		{"{ }", "error"},
		{"{,x}", "error"},
	} {
		parts, ok := newLog("f", nil).display(source{text: c.text, marks: []mark{{0, 0}}})
		var b strings.Builder
		for _, p := range parts {
			if p.Expr != nil {
				fmt.Fprintf(&b, "<%s%s>", p.Expr.Text, dumpSpec(p.Expr.Spec))
			} else {
				b.WriteString(p.Text)
			}
		}
		got := b.String()
		if !ok {
			got = "error"
		}
		if got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
}
