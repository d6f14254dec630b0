package eval

import "bytes"

// at returns the element for a key: a number or a string.
func (m *goMap) at(key Value, env Env) (out Value, err error) {
	text, isText := textOf(key, env)
	var n number
	if !isText {
		if n, err = numberOf(load(key, env)); err != nil {
			return Value{}, err
		}
	}
	found := false
	err = m.pairs(env, func(k, elem Value) bool {
		if isText {
			own, ok := textOf(k, env)
			found = ok && bytes.Equal(own, text)
		} else if own, err := numberOf(load(k, env)); err == nil {
			found = own.isFloat == n.isFloat && own.i == n.i && own.f == n.f
		}
		out = elem
		return !found
	})
	if !found {
		if err == nil {
			err = Error("The map has no such key.")
		}
		return Value{}, err
	}
	return out, nil
}

// textOf returns the text of a Go string, or of a literal in the expression.
func textOf(v Value, env Env) ([]byte, bool) {
	if s, ok := sequenceOf(v, env); ok {
		if !s.text || s.count > maxKeep {
			return nil, false
		}
		b := make([]byte, s.count)
		n, err := env.ReadMemory(s.addr, b)
		return b, s.count == 0 || err == nil && n == len(b)
	}
	if _, ok := charKind(elemOf(v.Type)); !ok || !isText(v) {
		return nil, false
	}
	v = load(v, env)
	return bytes.TrimSuffix(v.Bytes, []byte{0}), v.Avail == Available && v.Bytes != nil
}
