package natvis

import (
	"fmt"
	"reflect"
	"strings"
)

// dump writes a model as indented text: one field on a line, without those that are zero.
func dump(f *File, problems []Problem) string {
	var b strings.Builder
	for _, p := range problems {
		fmt.Fprintln(&b, p.Error())
	}
	dumpValue(&b, "", "File", reflect.ValueOf(f).Elem())
	return b.String()
}

func dumpValue(b *strings.Builder, indent, name string, v reflect.Value) {
	switch x := v.Interface().(type) {
	case Expr:
		fmt.Fprintf(b, "%s%s: `%s`%s @%s\n", indent, name, x.Text, dumpSpec(x.Spec), x.Pos)
		return
	case Pos:
		fmt.Fprintf(b, "%s%s: %s\n", indent, name, x)
		return
	case *TypeName:
		fmt.Fprintf(b, "%s%s: %s\n", indent, name, x)
		return
	case fmt.Stringer:
		fmt.Fprintf(b, "%s%s: %s\n", indent, name, x)
		return
	case []string:
		fmt.Fprintf(b, "%s%s: %q\n", indent, name, x)
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		e := v.Elem()
		if v.Kind() == reflect.Interface {
			e = e.Elem()
			name += " " + e.Type().Name()
		}
		dumpValue(b, indent, name, e)
	case reflect.Struct:
		fmt.Fprintf(b, "%s%s\n", indent, name)
		dumpFields(b, indent+"  ", v)
	case reflect.Slice:
		for i := range v.Len() {
			dumpValue(b, indent, fmt.Sprintf("%s[%d]", name, i), v.Index(i))
		}
	case reflect.String:
		fmt.Fprintf(b, "%s%s: %q\n", indent, name, v.String())
	default:
		fmt.Fprintf(b, "%s%s: %v\n", indent, name, v.Interface())
	}
}

func dumpFields(b *strings.Builder, indent string, v reflect.Value) {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		// File leads back to the top.
		_, named := v.Field(i).Interface().(fmt.Stringer) // a Priority or a Usage
		if v.Field(i).IsZero() && (!named || field.Type.Kind() != reflect.Uint8) || field.Name == "File" {
			continue
		}
		if field.Anonymous {
			dumpFields(b, indent, v.Field(i))
			continue
		}
		dumpValue(b, indent, field.Name, v.Field(i))
	}
}

// dumpSpec writes a specifier as ",Format +flags [size] ...".
func dumpSpec(s Spec) string {
	if s.IsZero() {
		return ""
	}
	word := ""
	for w, f := range formats {
		if f == s.Format && (word == "" || w < word) {
			word = w // of several for one format, the first in the alphabet
		}
	}
	text := " ," + word
	for _, f := range flags {
		if s.Has(f.flag) {
			text += " +" + f.name
		}
	}
	if s.Size != nil {
		text += fmt.Sprintf(" [%s]@%s", s.Size.Text, s.Size.Pos)
	}
	if s.Index != nil {
		text += fmt.Sprintf(" expand(%s)", s.Index.Text)
	}
	if s.View != "" {
		text += fmt.Sprintf(" view(%s)", s.View)
	}
	return text
}
