// Package signals keeps the signals that a thread has received and the program has not. It answers
// what happens to a signal that can't be delivered now: it is held back during a step, sent to the
// thread again, and recognised when it arrives.
//
// Only a signal-delivery-stop takes a signal, and only one: ptrace(2), "Signal injection and
// suppression". Every other signal must be sent again.
//
// Its caller is target/ptrace, on the tracer's goroutine. The package also has the client's
// policies for signals.
package signals
