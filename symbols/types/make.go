package types

// NewStruct makes a Struct or Union type. The slice becomes the type's own.
func NewStruct(kind Kind, name string, size int64, fields []Field) *Type {
	t := New(kind, name, size, false, nil)
	t.fields = func() []Field { return fields }
	return t
}

// NewEnum makes an enumeration. The slice becomes the type's own.
func NewEnum(name string, size int64, signed bool, names []Enumerator) *Type {
	t := New(Enum, name, size, signed, nil)
	t.enumerators = func() []Enumerator { return names }
	return t
}

// NewFunc makes the type of a function; a nil result is void. Nil params are those of a function
// without a prototype, "int ()"; an empty slice is "int (void)".
func NewFunc(result *Type, params []*Type) *Type {
	t := New(Func, "", 1, false, result)
	t.prototyped = params != nil
	t.params = func() []*Type { return params }
	return t
}
