package eval

// Wanted by session/: whoever writes eval/ replaces these two and deletes this file.

// Check says whether text is a well-formed expression, without evaluating it.
func Check(text string) error { return nil }

// Assign stores rhs in the place of lhs (a variable, a member, a register) and returns the new value.
func Assign(lhs, rhs Value, env Env) (Value, error) { return Value{}, errNotYet }
