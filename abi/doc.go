// Package abi tells where calling conventions put arguments and results.
//
// It gives a Layout for a call and a Place for each value: registers, an offset on the stack, or
// memory whose address is passed. The caller brings Types: trees of sizes, offsets and kinds,
// without names.
//
// sysv_amd64.go implements the System V ABI, AMD64 supplement, section 3.2.3 (parameter passing),
// which C and C++ use on Linux. go_amd64.go implements Go's ABIInternal ("Go internal ABI
// specification", sections "Function call argument and result passing" and "amd64
// architecture"). rust_amd64.go knows the few results of Rust's unspecified ABI that every version
// of rustc returns in the same place.
//
// Where a convention depends on something that a Type does not contain, the error is ErrUnknown. A
// missing value is better than a wrong one.
package abi
