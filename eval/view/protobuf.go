package view

import (
	"errors"
	"fmt"
	"strings"

	"dbg/eval"
	"dbg/symbols/types"
)

// Functions that the views of protobuf call. The fields of a message are members of the class that protoc has
// generated, and since 3.21 members of its member _impl_.
func init() {
	for name, f := range map[string]viewFunction{
		"__message_class": messageClass,
		"__message_size":  messageSize,
		"__message_name":  messageName,
		"__message_field": messageField,
		"__unread":        unread,
	} {
		functions[name] = f
	}
}

const messageBase = "google::protobuf::MessageLite"

// maxMessageFields limits the fields of a message that are shown.
const maxMessageFields = 1 << 12

// message is an object of a generated class.
type message struct {
	v      eval.Value // the message, or its member _impl_
	class  *types.Type
	fields []messagePart
}

// messagePart is a member for a field, or for a oneof.
type messagePart struct {
	field *types.Field
	in    eval.Value // the object whose member it is
	oneof int        // for a union: how many unions are before it; -1: no union
}

// messageAt returns the message at the address that is the first argument, as its table of virtual functions tells
// its class. The result is nil if the class has no debug information.
func messageAt(s *scope, args []eval.Value) (*message, error) {
	n, err := numbers(s, "a function of messages", args[:min(len(args), 1)], 1)
	if err != nil {
		return nil, err
	}
	name, err := dynamicName(addr(n[0]), s)
	if err != nil {
		return nil, err
	}
	t := s.Env.Type(name)
	if t == nil || t.Strip().Kind != types.Struct {
		return nil, nil
	}
	t = t.Strip()
	m := &message{v: at(t, addr(n[0]), ""), class: t}
	if in, ok := eval.Member(m.v, "_impl_", s); ok {
		m.v = in
	}
	m.collect(m.v, s, 0)
	return m, nil
}

// collect lists the members for fields, those of base classes first. The caches of sizes are no fields.
func (m *message) collect(v eval.Value, s *scope, depth int) {
	fields := v.Type.Strip().Fields()
	for i := range fields {
		f := &fields[i]
		switch {
		case f.Type == nil || f.Static || len(m.fields) >= maxMessageFields:
		case f.Base:
			if depth < maxHookDepth && !f.Virtual && !isMessageBase(f.Type.Strip().Name) {
				m.collect(eval.FieldOf(v, f, s), s, depth+1)
			}
		case strings.HasSuffix(f.Name, "_cached_size_"), strings.HasSuffix(f.Name, "_cached_byte_size_"),
			f.Name == "_internal_metadata_", f.Name == "_arena_":
		default:
			m.fields = append(m.fields, messagePart{f, v, m.unionsBefore(f)})
		}
	}
}

// isMessageBase reports whether a class is one that all messages derive from.
func isMessageBase(name string) bool {
	return name == messageBase || name == "google::protobuf::Message"
}

// unionsBefore returns the number of a oneof, or -1 for a member that is not one.
func (m *message) unionsBefore(f *types.Field) int {
	if f.Type.Strip().Kind != types.Union {
		return -1
	}
	n := 0
	for i := range m.fields {
		if m.fields[i].oneof >= 0 {
			n++
		}
	}
	return n
}

// messagePartOf returns the message and the member that the second argument numbers.
func messagePartOf(s *scope, args []eval.Value) (*message, *messagePart, error) {
	n, err := numbers(s, "a function of members of messages", args, 2)
	if err != nil {
		return nil, nil, err
	}
	m, err := messageAt(s, args)
	if err != nil {
		return nil, nil, err
	}
	if m == nil || n[1] < 0 || n[1] >= int64(len(m.fields)) {
		return nil, nil, fmt.Errorf("the message has no member %d", n[1])
	}
	return m, &m.fields[n[1]], nil
}

// messageClass is __message_class(p): the name of the class of the message at p.
func messageClass(s *scope, args []eval.Value) (eval.Value, error) {
	n, err := numbers(s, "__message_class", args, 1)
	if err != nil {
		return eval.Value{}, err
	}
	name, err := dynamicName(addr(n[0]), s)
	return eval.Words("", ShortName(name)), err
}

// messageSize is __message_size(p): how many members the message at p has for its fields; -1 if its class is not
// known.
func messageSize(s *scope, args []eval.Value) (eval.Value, error) {
	m, err := messageAt(s, args)
	if err != nil || m == nil {
		return eval.FromInt(-1), err
	}
	return eval.FromInt(int64(len(m.fields))), nil
}

// messageName is __message_name(p, i): the name of member i.
func messageName(s *scope, args []eval.Value) (eval.Value, error) {
	_, part, err := messagePartOf(s, args)
	if err != nil {
		return eval.Value{}, err
	}
	return eval.Words("", part.field.Name), nil
}

// messageField is __message_field(p, i): member i. A pointer to a message that is there is the message. A oneof is the
// member that is set, where debug information tells which one.
func messageField(s *scope, args []eval.Value) (eval.Value, error) {
	m, part, err := messagePartOf(s, args)
	if err != nil {
		return eval.Value{}, err
	}
	v := eval.FieldOf(part.in, part.field, s)
	if part.oneof >= 0 {
		return m.chosen(v, part, s)
	}
	return pointedMessage(v, s)
}

// pointedMessage returns the message that a pointer points to, or any other value as it is.
func pointedMessage(v eval.Value, s *scope) (eval.Value, error) {
	t := v.Type.Strip()
	if t.Kind != types.Pointer || t.Elem() == nil || !derivesFromMessage(t.Elem().Strip(), 0) {
		return v, nil
	}
	n, err := eval.Number(v, s)
	if err != nil || n == 0 {
		return v, err
	}
	return at(t.Elem(), addr(n), ""), nil
}

func derivesFromMessage(t *types.Type, depth int) bool {
	if isMessageBase(t.Name) {
		return true
	}
	for _, f := range t.Fields() {
		if f.Base && f.Type != nil && depth < maxHookDepth && derivesFromMessage(f.Type.Strip(), depth+1) {
			return true
		}
	}
	return false
}

// chosen returns the member of a oneof that is set. _oneof_case_ has the number of its field, and the enumeration
// XCase of the oneof x_ gives numbers their names: kSpotX for the member spot_x_. If this is not known, the result is
// the whole union.
func (m *message) chosen(v eval.Value, part *messagePart, s *scope) (eval.Value, error) {
	cases, ok := eval.Member(m.v, "_oneof_case_", s)
	enum := caseEnum(m.class, part.field.Name)
	if !ok || enum == nil || cases.Type.Strip().Elem() == nil {
		return v, nil
	}
	elem := cases.Type.Strip().Elem()
	number, err := eval.Number(at(elem, cases.Addr+addr(int64(part.oneof)*elem.Strip().Size), ""), s)
	if err != nil {
		return v, err
	}
	if number == 0 {
		return eval.Words("", "not set"), nil
	}
	for _, e := range enum.Enumerators() {
		if e.Value != number {
			continue
		}
		fields := v.Type.Strip().Fields()
		for i := range fields {
			if name := fields[i].Name; name != "" && plainName(name) == plainName(strings.TrimPrefix(e.Name, "k")) {
				return pointedMessage(eval.FieldOf(v, &fields[i], s), s)
			}
		}
		return v, nil
	}
	return eval.Value{}, fmt.Errorf("its _oneof_case_ is %d, which is no field of it", number)
}

// caseEnum returns the enumeration of a oneof: ChoiceCase for the member choice_.
func caseEnum(class *types.Type, member string) *types.Type {
	var camel strings.Builder
	for _, word := range strings.Split(member, "_") {
		if word != "" {
			camel.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	t := class.Inner(camel.String() + "Case")
	if t == nil || t.Strip().Kind != types.Enum {
		return nil
	}
	return t.Strip()
}

// plainName is a name without what is different between a member and its enumerator.
func plainName(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// unread is __unread("why"): it has no value, for the reason.
func unread(_ *scope, args []eval.Value) (eval.Value, error) {
	why := "it can't be read"
	if len(args) == 1 {
		if text, _, ok := eval.TextOf(args[0]); ok {
			why = string(text)
		}
	}
	return eval.Value{}, errors.New(why)
}
