package symbols

// NewStruct makes a Struct or Union type. The slice becomes the type's own.
func NewStruct(kind Kind, name string, size int64, fields []Field) *Type {
	t := NewType(kind, name, size, false, nil)
	t.fields = func() []Field { return fields }
	return t
}

// NewEnum makes an enumeration. The slice becomes the type's own.
func NewEnum(name string, size int64, signed bool, names []Enumerator) *Type {
	t := NewType(Enum, name, size, signed, nil)
	t.enumerators = func() []Enumerator { return names }
	return t
}
