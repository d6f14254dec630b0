package natvis

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
)

// TestHostile checks that an input that exceeds a limit is reported, and costs little.
func TestHostile(t *testing.T) {
	wrap := func(s string) string { return "<AutoVisualizer>" + s + "</AutoVisualizer>" }
	inType := func(s string) string { return wrap(`<Type Name="S">` + s + `</Type><Type Name="last"/>`) }
	for _, c := range []struct {
		name, data, want string
		types            int
	}{
		{"big file", strings.Repeat(" ", maxFile+1), "the file has more than 16777216 bytes", 0},
		{"deep", inType(strings.Repeat("<Loop>", 1000) + strings.Repeat("</Loop>", 1000)), "nested more than 64 deep", 2},
		{"deep and open", inType(strings.Repeat("<Loop>", 100_000)), "nested more than 64 deep", 0},
		{"many elements", inType(strings.Repeat("<a/>", maxElements+10)), "<Type> has more than 100000 elements", 1},
		{"many types", wrap(strings.Repeat(`<Type Name="S"/>`, maxTypes+10)), "more than 100000 types", maxTypes},
		{"long display string", inType(
			"<DisplayString>" + strings.Repeat("x", maxText+1) + "</DisplayString>"),
			"display string has more than 65536 bytes", 2},
		{"long expression", inType(
			"<StringView>" + strings.Repeat("x", maxText+1) + "</StringView>"),
			"expression has more than 65536 bytes", 2},
		{"long name", wrap(`<Type Name="` + strings.Repeat("x", maxText+1) + `"/>`), "name of the type has more than 65536 bytes", 0},
		{"many problems", wrap(strings.Repeat(`<b/>`, 2*maxProblems)), "too many problems", 0},
		{"entities", "<!DOCTYPE x [<!ENTITY a \"&b;&b;\"><!ENTITY b \"boom\">]>" + inType("<DisplayString>&a;</DisplayString>"),
			"unknown entity &a;", 2},
		{"external entity", "<!DOCTYPE x SYSTEM \"file:///etc/passwd\">" + inType(""), "entities are not expanded", 2},
		{"open comment", inType("<!--"), "this comment has no end", 0},
		{"open tag", wrap(`<Type Name="S`), "the value of the attribute Name has no end", 0},
		{"empty", "", "the file has no element", 0},
		{"not XML", "\x7fELF", "this is not an XML file", 0},
		{"other root", "<html/>", "the root of a .natvis file is <AutoVisualizer>, not <html>", 0},
		{"open braces", inType("<DisplayString>" + strings.Repeat("{a", 30_000) + "</DisplayString>"), "{ has no }", 2},
		{"commas", inType("<StringView>" + strings.Repeat("a,x", 20_000) + "</StringView>"), "", 2},
		{"brackets", inType("<StringView>a" + strings.Repeat("(&lt;", 12_000) + ",x</StringView>"), "", 2},
		{"quotes", inType("<StringView>" + strings.Repeat(",'", 30_000) + "</StringView>"), "", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			start := time.Now()
			f, problems := Parse("f", []byte(c.data))
			if took := time.Since(start); took > 3*time.Second {
				t.Errorf("it took %v", took)
			}
			if len(f.Types) != c.types {
				t.Errorf("%d types, want %d", len(f.Types), c.types)
			}
			found := c.want == "" && len(problems) == 0
			for _, p := range problems {
				found = found || c.want != "" && strings.Contains(p.Message, c.want)
			}
			if !found || len(problems) > maxProblems+1 {
				t.Errorf("%d problems, none is %q: %v", len(problems), c.want, problems[:min(3, len(problems))])
			}
		})
	}
}

// TestHostileNames checks that no name of a type takes long.
func TestHostileNames(t *testing.T) {
	const n = maxText / 4
	for _, piece := range []string{"<", ">", "a<", "a<b,", "(", "a(", "a(::", "a<a(", "[", "a[", "{", "`", "'", `"`, "::", "*",
		"const ",
		"operator", "operator<", "a::", "(lambda at ", "<lambda", "a::<lambda(", "long ", "-1", ",", "a<(", "a<b::c<"} {
		name := strings.Repeat(piece, n/len(piece))
		start := time.Now()
		ParseTypeName(name).Match(ParseTypeName("a<" + name + ">"))
		typeKey(name)
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("%q took %v", piece, took)
		}
	}
}

func TestEncodings(t *testing.T) {
	const text = `<AutoVisualizer><Type Name="S"><DisplayString>größe € 😀</DisplayString></Type></AutoVisualizer>`
	units := utf16.Encode([]rune(text))
	for name, data := range map[string][]byte{
		"UTF-8":       []byte(text),
		"UTF-8 BOM":   []byte("\xef\xbb\xbf" + text),
		"UTF-16 low":  utf16File(units, binary.LittleEndian),
		"UTF-16 high": utf16File(units, binary.BigEndian),
	} {
		f, problems := Parse(name, data)
		if len(problems) > 0 || len(f.Types) != 1 || f.Types[0].Displays[0].Parts[0].Text != "größe € 😀" {
			t.Errorf("%s: %s", name, dump(f, problems))
		}
	}
	f, problems := Parse("Latin-1", []byte("<AutoVisualizer><Type Name=\"S\"><DisplayString>gr\xf6\xdfe {x}"+
		"</DisplayString></Type></AutoVisualizer>"))
	if d := f.Types[0].Displays[0]; len(problems) > 0 || d.Parts[0].Text != "gr??e " || d.Parts[1].Expr.Pos.String() != "1:54" {
		t.Errorf("Latin-1: %s", dump(f, problems))
	}
}

func utf16File(units []uint16, order binary.ByteOrder) []byte {
	var b bytes.Buffer
	binary.Write(&b, order, append([]uint16{0xfeff}, units...))
	return b.Bytes()
}

// TestPositions checks the places of expressions after escapes, comments and CDATA.
func TestPositions(t *testing.T) {
	f, problems := Parse("f", []byte(strings.Join([]string{
		`<AutoVisualizer><Type Name="S">`,
		`<DisplayString>&lt;&#x41;{a}<!-- c -->{b}<![CDATA[{c}]]>`,
		` {d} {e,[n]}</DisplayString>`,
		`</Type></AutoVisualizer>`}, "\n")))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var got []string
	for _, p := range f.Types[0].Displays[0].Parts {
		if p.Expr != nil {
			got = append(got, fmt.Sprint(p.Expr.Text, " ", p.Expr.Pos))
			if s := p.Expr.Spec.Size; s != nil {
				got = append(got, fmt.Sprint(s.Text, " ", s.Pos))
			}
		}
	}
	if g, want := strings.Join(got, ", "), "a 2:27, b 2:40, c 2:52, d 3:3, e 3:7, n 3:10"; g != want {
		t.Errorf("got %s\nwant %s", g, want)
	}
}

// TestMissingEnds checks that an element without an end tag does not take others with it.
func TestMissingEnds(t *testing.T) {
	f, problems := Parse("f", []byte(`<AutoVisualizer>
<Type Name="A"><DisplayString>a</Type>
<Type Name="B"><Expand><Item Name="x">x</Item></Type>
<Type Name="C">
<Type Name="D"><DisplayString>d</DisplayString></Type>
<Type Name="E"><Expand><Item Name="x">x</Expand></Type>
<Type Name="F"></Typo></Type>
<Type Name="G"/>
</AutoVisualizer>`))
	var names []string
	for _, typ := range f.Types {
		names = append(names, typ.Patterns[0].Name.Text)
	}
	if got := strings.Join(names, " "); got != "A B D E G" {
		t.Errorf("got %s", got)
	}
	if len(f.Types[0].Displays) != 0 || f.Types[1].Expand != nil || len(f.Types[3].Expand.Items) != 0 {
		t.Error(dump(f, nil))
	}
	var got []string
	for _, p := range problems {
		got = append(got, p.Pos.String()+" "+p.Message)
	}
	want := "2:16 the element <DisplayString> is not closed, 3:16 the element <Expand> is not closed, " +
		"4:1 the element <Type> is not closed, 6:24 the element <Item> is not closed, 7:16 </Typo> closes no element"
	if g := strings.Join(got, ", "); g != want {
		t.Errorf("got %s\nwant %s", g, want)
	}
}
