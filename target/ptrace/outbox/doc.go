// Package outbox delivers the events of a process to their receiver. It answers how the tracer
// reports an event without waiting for the client.
//
// Its caller is target/ptrace. Put and End are called on the tracer's goroutine, Deliver is a
// goroutine of its own, and Discard may be called on any goroutine.
package outbox
