package types

// NewMemberPointer makes the type of a pointer to a member of a class.
func NewMemberPointer(class, member *Type, size int64) *Type {
	t := New(MemberPointer, "", size, false, member)
	t.container = func() *Type { return class }
	t.Lang = class.Lang
	return t
}
