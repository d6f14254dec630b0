package unwindcheck

import (
	"bufio"
	"context"
	"encoding/hex"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"
)

// stub is a client of the gdb remote serial protocol, for programs of other machines that an emulator runs: what stepping needs and
// no more. Replies that are run-length encoded are not expanded.
type stub struct {
	conn net.Conn
	in   *bufio.Reader
	out  []byte
	ack  bool // the last reply has not been acknowledged; that goes with the next packet
}

// listening is how long a program may take until its stub listens.
const listening = 20 * time.Second

// dialStub connects to a socket as soon as somebody listens there. The connection ends with ctx, whose deadline is that of all
// requests together.
func dialStub(ctx context.Context, network, address string) (*stub, error) {
	var d net.Dialer
	late := time.After(listening)
	for {
		conn, err := d.DialContext(ctx, network, address)
		if err == nil {
			context.AfterFunc(ctx, func() { conn.Close() })
			return &stub{conn: conn, in: bufio.NewReader(conn)}, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-late:
			return nil, fmt.Errorf("nobody listens at %s: %w", address, err)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func (s *stub) close() { s.conn.Close() }

// ask sends a packet and returns the reply.
func (s *stub) ask(packet string) (string, error) {
	if err := s.send(packet); err != nil {
		return "", fmt.Errorf("%s: %w", packet, err)
	}
	reply, err := s.receive()
	if err != nil {
		return "", fmt.Errorf("the reply to %s: %w", packet, err)
	}
	if len(reply) == 3 && reply[0] == 'E' {
		return "", fmt.Errorf("%s: error %s", packet, reply[1:])
	}
	return reply, nil
}

// send writes "$packet#checksum".
func (s *stub) send(packet string) error {
	s.out = s.out[:0]
	if s.ack {
		s.out = append(s.out, '+')
	}
	s.ack = false
	s.out = append(append(append(s.out, '$'), packet...), '#')
	s.out = hex.AppendEncode(s.out, []byte{checksum(packet)})
	_, err := s.conn.Write(s.out)
	return err
}

func (s *stub) receive() (string, error) {
	for {
		c, err := s.in.ReadByte()
		switch {
		case err != nil:
			return "", err
		case c == '-':
			return "", fmt.Errorf("the packet came with a wrong checksum")
		case c != '$':
			continue // '+'
		}
		reply, err := s.in.ReadString('#')
		if err != nil {
			return "", err
		}
		reply = reply[:len(reply)-1]
		var sum [2]byte
		for i := range sum {
			if sum[i], err = s.in.ReadByte(); err != nil {
				return "", err
			}
		}
		if n, err := strconv.ParseUint(string(sum[:]), 16, 8); err != nil || byte(n) != checksum(reply) {
			return "", fmt.Errorf("%.80q has the checksum %02x, not %s", reply, checksum(reply), sum)
		}
		s.ack = true
		return reply, nil
	}
}

func checksum(packet string) (sum byte) {
	for _, c := range []byte(packet) {
		sum += c
	}
	return sum
}

// stopped is what a thread has stopped with.
type stopped struct {
	exited bool
	code   int // the signal by gdb's numbers, or the status it exited with
}

func (s *stub) resume(packet string) (stopped, error) {
	reply, err := s.ask(packet)
	for err == nil && reply != "" && reply[0] == 'O' { // what the program prints
		s.ack = true
		reply, err = s.receive()
	}
	if err != nil {
		return stopped{}, err
	}
	if len(reply) < 3 || !strings.ContainsRune("STWX", rune(reply[0])) {
		return stopped{}, fmt.Errorf("%q after %s is no stop", reply, packet)
	}
	n, err := strconv.ParseUint(reply[1:3], 16, 8)
	return stopped{exited: reply[0] == 'W' || reply[0] == 'X', code: int(n)}, err
}

func (s *stub) step() (stopped, error) { return s.resume("s") }
func (s *stub) cont() (stopped, error) { return s.resume("c") }

// registers returns the bytes of all registers that the stub sends in one piece.
func (s *stub) registers() ([]byte, error) { return s.bytes("g") }

// register returns the bytes of one, by the stub's number.
func (s *stub) register(n int) ([]byte, error) { return s.bytes(fmt.Sprintf("p%x", n)) }

func (s *stub) setRegister(n int, b []byte) error {
	return s.ok(fmt.Sprintf("P%x=%x", n, b))
}

func (s *stub) memory(addr uint64, n int) ([]byte, error) {
	b, err := s.bytes(fmt.Sprintf("m%x,%x", addr, n))
	if err == nil && len(b) != n {
		return nil, fmt.Errorf("%d of %d bytes at 0x%x", len(b), n, addr)
	}
	return b, err
}

// insert sets a software breakpoint on an instruction of size bytes.
func (s *stub) insert(addr uint64, size int) error { return s.ok(fmt.Sprintf("Z0,%x,%x", addr, size)) }

// detach lets the program run on alone, and closes the connection.
func (s *stub) detach() error {
	defer s.close()
	err := s.ok("D")
	if err == nil {
		_, err = s.conn.Write([]byte{'+'})
	}
	return err
}

func (s *stub) ok(packet string) error {
	reply, err := s.ask(packet)
	if err == nil && reply != "OK" {
		err = fmt.Errorf("%q after %s", reply, packet)
	}
	return err
}

func (s *stub) bytes(packet string) ([]byte, error) {
	reply, err := s.ask(packet)
	if err != nil {
		return nil, err
	}
	b, err := hex.DecodeString(reply)
	if err != nil {
		return nil, fmt.Errorf("%.80q after %s: %w", reply, packet, err)
	}
	return b, nil
}
