// Package form answers one question: how is a value encoded (DWARF 5, section 7.5.6, table 7.6)?
//
// It lists the forms, reads one value ([Value.Read]) and gives its size ([Sizes.Of]). It does not
// follow a number to the string, address or list that it stands for: that needs the unit and other
// sections. Package dwarf reads attributes with it, package linetable the lists of files, and
// package nameindex the entries of name indexes.
//
// It has no state. Any number of goroutines may use it.
package form
