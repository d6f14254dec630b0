// Hello is a program whose .debug_frame is Go's.
package main

func main() { println("hello") }
