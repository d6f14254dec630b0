package repl_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"dbg/internal/fixture"
	"dbg/repl"
	"dbg/session"
)

// TestAnyOrderOfCommands: the answer to a command does not depend on what was asked before, nor by whom. Clients of one
// session ask in random orders, one after the other and at the same time, about the threads of programs that have died.
// Each answer must be that of a session which is asked this question alone. So many orders share a session.
// DBG_ORDERS is the number of orders for each program. DBG_ORDER ends with this order and asks only what its session was asked.
func TestAnyOrderOfCommands(t *testing.T) {
	const share = 16
	first, orders, questions := 0, 64, 24
	if fixture.All() {
		orders, questions = 2500, 400 // 10,000 orders of four programs
	}
	if n, err := strconv.Atoi(os.Getenv("DBG_ORDERS")); err == nil {
		orders = n
	}
	if n, err := strconv.Atoi(os.Getenv("DBG_ORDER")); err == nil {
		first, orders = n/share*share, n+1
	}
	for name, dump := range map[string]func(t *testing.T) dead{
		"threads": func(t *testing.T) dead {
			return deadFixture(t, "order/threads.c", []string{"-O2", "-g"})
		},
		"no tables": func(t *testing.T) dead {
			return deadFixture(t, "order/threads.c", []string{"-O1", "-g", "-fno-asynchronous-unwind-tables"})
		},
		"frames of every shape": func(t *testing.T) dead {
			return deadFixture(t, "torture/chain.c", []string{"-O1", "-g"}, "thread")
		},
		"python": deadPython,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newInquiry(t, dump(t), questions)
			defer c.close()
			for i := first; i < orders; i++ {
				if i%share == 0 {
					c.close()
					c.clients = c.newClients(t)
				}
				if c.order(t, i); t.Failed() {
					t.Fatalf("DBG_ORDER=%d shows it", i)
				}
			}
			t.Logf("%d orders, %d answers to %d different questions", orders, c.asked, len(c.fresh))
		})
	}
}

// dead is a program that has died.
type dead struct{ core, exe string }

func deadFixture(t *testing.T, source string, flags []string, args ...string) dead {
	exe := fixture.Build(t, source, flags...)
	return dead{fixture.Core(t, exe, args...), exe}
}

// deadPython is an interpreter that has died while its threads were at work: a program that we did not write.
func deadPython(t *testing.T) dead {
	fixture.Need(t, "python3")
	return dead{core: fixture.Core(t, "python3", "-c", `
import os, re, threading
def deep(n, f): return f() if n == 0 else max([deep(n - 1, f)])
here, never = threading.Barrier(4), threading.Event()
def waits(): here.wait(); never.wait()
def sorts(): sorted([1, 2], key=lambda x: waits())
def matches(): re.sub('a', lambda m: waits(), 'a')
for i, f in enumerate([waits, sorts, matches]):
    threading.Thread(target=deep, args=(i * 3, f), daemon=True).start()
here.wait()
deep(5, os.abort)
`)}
}

// inquiry is what can be asked about a dead program, and what is answered.
type inquiry struct {
	dead      dead
	questions []question
	fresh     map[question]string // the answers of sessions that were asked nothing else
	asked     int
	clients   []*session.Session
}

// question is a command with a thread and a frame selected.
type question struct {
	thread, level int
	json          bool
	command       string
}

// commands are what is asked about a frame. %s is the name of a variable of it.
var commands = []string{
	"info locals", "info args", "info registers", "info frame", "frame why", "info symbol $pc", "output %s", "output/x %s", "whatis %s",
	"output $sp", "output $_siginfo", "x/2i $pc", "info source", "info line", "info threads", "bt", "bt 3", "bt -2", "bt full", "bt 7", "up",
	"down", "up 3", "thread apply all bt 4", "thread apply all info locals", "list",
}

// newInquiry draws questions.
func newInquiry(t *testing.T, d dead, n int) *inquiry {
	c := &inquiry{dead: d, fresh: map[question]string{}}
	s := c.open(t)
	defer s.Close()
	threads, err := s.Threads()
	if err != nil || len(threads) < 2 {
		t.Fatalf("%d threads, %v", len(threads), err)
	}
	r := rand.New(rand.NewPCG(1, 15))
	for range n {
		th := threads[r.IntN(len(threads))]
		bt, err := s.Backtrace(th.ID, 0, 60)
		if err != nil {
			t.Fatal(err)
		}
		q := question{th.Number, r.IntN(len(bt.Frames) + 1), r.IntN(3) == 0, commands[r.IntN(len(commands))]}
		if strings.Contains(q.command, "%s") {
			q.command = fmt.Sprintf(q.command, []string{"n", "p", "s", "*p", "p->a + n", "r", "a", "k", "depth", "x"}[r.IntN(10)])
		}
		c.questions = append(c.questions, q)
	}
	return c
}

func (c *inquiry) open(t *testing.T) *session.Session {
	t.Helper()
	var config session.Config
	if !fixture.All() {
		config.DebugDirs = []string{} // to inflate libc's debug information takes most of the time
	}
	s := session.New(config)
	if err := s.OpenCore(c.dead.core, c.dead.exe); err != nil {
		t.Fatal(err)
	}
	return s
}

// ask gives all that is written.
func ask(s *session.Session, q question) string {
	var out bytes.Buffer
	lines := []string{fmt.Sprint("thread ", q.thread), fmt.Sprint("frame ", q.level), q.command}
	if q.json {
		lines = lines[2:] // the thread and the frame are selected without words
		threads, _ := s.Threads()
		for _, th := range threads {
			if th.Number == q.thread {
				_ = s.SelectThread(th.ID)
			}
		}
		_, _ = s.SelectFrame(q.level) // if there is no such frame it is the innermost
	}
	opts := repl.Options{Batch: true, JSON: q.json, Out: &out, Err: &out}
	for _, l := range lines {
		opts.Commands = append(opts.Commands, repl.Command{Text: l})
	}
	if err := repl.Run(context.Background(), s, opts); err != nil {
		fmt.Fprintln(&out, err)
	}
	return out.String()
}

// want is the answer of a session that is asked nothing else.
func (c *inquiry) want(t *testing.T, q question) string {
	answer, ok := c.fresh[q]
	if !ok {
		s := c.open(t)
		defer s.Close()
		answer = ask(s, q)
		c.fresh[q] = answer
	}
	return answer
}

// order asks in one random order.
func (c *inquiry) order(t *testing.T, number int) {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(number), 4))
	clients := c.clients
	var said []string
	for range 1 + r.IntN(8) {
		// Each client asks a few questions, at the same time as the others or alone.
		lists := make([][]question, len(clients))
		if at := r.IntN(2 * len(clients)); at < len(clients) {
			lists[at] = c.draw(r)
		} else {
			for i := range lists {
				lists[i] = c.draw(r)
			}
		}
		answers := make([][]string, len(clients))
		var wait sync.WaitGroup
		for i, list := range lists {
			said = append(said, fmt.Sprintf("client %d: %v", i, list))
			wait.Go(func() {
				for _, q := range list {
					answers[i] = append(answers[i], ask(clients[i], q))
				}
			})
		}
		wait.Wait()
		for i, list := range lists {
			for j, q := range list {
				c.asked++
				if got, want := answers[i][j], c.want(t, q); got != want {
					t.Errorf("order %d, after\n%s\nclient %d asked %+v:\n%s", number, strings.Join(said, "\n"), i, q, firstDifference(got, want))
					return
				}
			}
		}
	}
}

// close ends the session that all clients share.
func (c *inquiry) close() {
	if len(c.clients) > 0 {
		c.clients[0].Close()
	}
}

// newClients opens the core for three who ask.
func (c *inquiry) newClients(t *testing.T) []*session.Session {
	s := c.open(t)
	clients := []*session.Session{s}
	for range 2 {
		client, _ := s.NewClient()
		clients = append(clients, client)
	}
	return clients
}

// draw gives a few questions.
func (c *inquiry) draw(r *rand.Rand) (list []question) {
	for range 1 + r.IntN(3) {
		list = append(list, c.questions[r.IntN(len(c.questions))])
	}
	return list
}

// firstDifference shows where two texts part.
func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range g {
		if i >= len(w) || g[i] != w[i] {
			return fmt.Sprintf("line %d is\n%s\nasked alone it is\n%s", i+1, g[i], strings.Join(w[min(i, len(w)):min(i+1, len(w))], ""))
		}
	}
	return fmt.Sprintf("%d lines; asked alone %d:\n%s", len(g), len(w), want)
}
