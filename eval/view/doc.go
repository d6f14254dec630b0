// Package view shows values as people read them: a std::vector as its elements, a std::string as its
// text. It runs the views of .natvis files (package eval/natvis) on values, and answers methods that
// they define, without running the program.
//
// A Set (set.go) has the views: ours, which are embedded (libs/*.natvis), and those that a user adds.
// For each concrete type a class (class.go) is made once: which view applies, and its parsed
// expressions. An object (object.go) is one value with its class; it implements eval.View. Expressions
// are evaluated in a scope (scope.go). items.go has the kinds of children. builtin.go has what Natvis
// can't express, in Go.
//
// Its caller is the session, under its lane: nothing here may be used by two goroutines at once.
package view
