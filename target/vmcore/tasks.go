package vmcore

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"dbg/arch"
	"dbg/target"
)

// task is one task of the kernel.
type task struct {
	id        target.ThreadID
	at        uint64 // its struct task_struct
	name      string
	state     string
	sp        uint64 // thread.sp: its stack pointer when it was switched away
	stack     uint64 // the lowest address of its stack, or 0 if that was freed
	processor int    // on which it runs, or -1
}

// maxTasks bounds the tasks, and maxSteps the elements of all lists together. A system with more than a million tasks
// is shown in part.
const (
	maxTasks = 1 << 20
	maxSteps = 4 << 20
)

// layout has the offsets that reading tasks needs.
type layout struct {
	tasks, pid, comm, sp, stack, signal, node, state, exit uint64

	head     uint64 // thread_head of signal_struct
	hasState bool
}

func (c *Core) taskLayout() (l layout, err error) {
	t, err := c.offsets("task_struct", "tasks", "pid", "comm", "thread.sp", "signal", "thread_node",
		"exit_state", "stack")
	if err != nil {
		return l, err
	}
	h, err := c.offsets("signal_struct", "thread_head")
	if err != nil {
		return l, err
	}
	l = layout{tasks: t[0], pid: t[1], comm: t[2], sp: t[3], signal: t[4], node: t[5], exit: t[6], stack: t[7],
		head: h[0]}
	if l.state, l.hasState = c.types.Offset("task_struct", "__state"); !l.hasState { // before Linux 5.14
		l.state, l.hasState = c.types.Offset("task_struct", "state")
	}
	return l, nil
}

// loadTasks lists all tasks: each process in the list of init_task, its threads, and the idle tasks of the processors.
func (c *Core) loadTasks() error {
	first := c.names["init_task"]
	if first == 0 {
		return errors.New("the kernel's symbols have no init_task")
	}
	l, err := c.taskLayout()
	if err != nil {
		return err
	}
	running := c.running(&l)
	seen := map[uint64]bool{}
	add := func(at uint64) bool {
		if seen[at] || len(c.tasks) >= maxTasks {
			return false
		}
		seen[at] = true
		if t, err := c.readTask(&l, at, running); err != nil {
			c.base.Warnf("the task at 0x%x can't be read: %v", at, err)
		} else {
			c.tasks = append(c.tasks, t)
		}
		return true
	}
	c.each(first+l.tasks, "tasks", func(at uint64) bool {
		leader := at - l.tasks
		if !add(leader) {
			return false
		}
		if signal, err := c.word(leader + l.signal); err == nil && signal != 0 {
			c.each(signal+l.head, "a process's threads", func(at uint64) bool {
				add(at - l.node)
				return true
			})
		}
		return true
	})
	for at := range running { // the idle tasks are in no list
		add(at)
	}
	add(first)
	c.number()
	return nil
}

// each follows a struct list_head from its head: f gets the address of each element's list_head.
func (c *Core) each(head uint64, what string, f func(at uint64) bool) {
	at, err := c.word(head)
	seen := map[uint64]bool{}
	for ; ; c.steps++ {
		switch {
		case err != nil:
			c.base.Warnf("the list of %s is cut off: %v", what, err)
			return
		case at == head:
			return
		case c.steps >= maxSteps:
			c.base.Warnf("the lists of the kernel are too long: that of %s is cut off", what)
			return
		case seen[at] || !f(at):
			c.base.Warnf("the list of %s is damaged: it comes back to 0x%x", what, at)
			return
		}
		seen[at] = true
		at, err = c.word(at)
	}
}

// running returns the processors by the task that runs there, and by the idle task, if that does not, as -1.
func (c *Core) running(l *layout) map[uint64]int {
	list := map[uint64]int{}
	queues, offsets := c.names["runqueues"], c.names["__per_cpu_offset"]
	members, err := c.offsets("rq", "curr", "idle")
	if err != nil || offsets == 0 {
		c.base.Warnf("it is not known which tasks run")
		return list
	}
	for i := range c.processors {
		base, err := c.word(offsets + 8*uint64(i))
		if err != nil {
			break
		}
		if idle, err := c.word(base + queues + members[1]); err == nil && idle != 0 {
			if _, known := list[idle]; !known {
				list[idle] = -1
			}
		}
		if curr, err := c.word(base + queues + members[0]); err == nil && curr != 0 {
			list[curr] = i
		}
	}
	return list
}

func (c *Core) readTask(l *layout, at uint64, running map[uint64]int) (t task, err error) {
	t = task{at: at, processor: -1}
	pid, err := c.half(at + l.pid)
	if err != nil {
		return t, err
	}
	t.id = target.ThreadID(int32(pid))
	comm, err := c.bytesAt(at+l.comm, 16)
	if err != nil {
		return t, err
	}
	comm, _, _ = bytes.Cut(comm, []byte{0})
	t.name = string(comm)
	if t.sp, err = c.word(at + l.sp); err != nil {
		return t, err
	}
	if t.stack, err = c.word(at + l.stack); err != nil {
		return t, err
	}
	if i, ok := running[at]; ok {
		t.processor = i
	}
	exit, _ := c.half(at + l.exit)
	if state, err := c.half(at + l.state); err == nil && l.hasState {
		t.state = stateText(state, exit, t.processor >= 0)
	}
	return t, nil
}

// stateText describes __state and exit_state (include/linux/sched.h).
func stateText(state, exit uint32, running bool) string {
	switch {
	case exit&0x20 != 0:
		return "zombie"
	case exit&0x10 != 0:
		return "dead"
	case state == 0 && running:
		return "running"
	case state == 0:
		return "runnable"
	case state&1 != 0:
		return "sleeping"
	case state&0x402 == 0x402:
		return "idle"
	case state&2 != 0:
		return "uninterruptible"
	case state&4 != 0:
		return "stopped"
	case state&8 != 0:
		return "traced"
	}
	return fmt.Sprintf("state 0x%x", state)
}

// number gives each task an id of its own, and sorts the tasks: those that run first, by processor.
func (c *Core) number() {
	idle := 0
	slices.SortStableFunc(c.tasks, func(a, b task) int {
		ra, rb := a.processor, b.processor
		if ra < 0 {
			ra = maxProcessors
		}
		if rb < 0 {
			rb = maxProcessors
		}
		return cmp.Or(cmp.Compare(ra, rb), cmp.Compare(a.id, b.id), cmp.Compare(a.at, b.at))
	})
	kept := c.tasks[:0]
	for _, t := range c.tasks {
		if t.id == 0 {
			if t.processor >= 0 {
				t.id = target.ThreadID(-1 - t.processor)
			} else {
				idle++
				t.id = target.ThreadID(-1 - maxProcessors - idle)
			}
		}
		if _, twice := c.byID[t.id]; twice {
			c.base.Warnf("several tasks have the pid %d: one is shown", t.id)
			continue
		}
		c.byID[t.id] = len(kept)
		kept = append(kept, t)
	}
	c.tasks = kept
}

// Threads implements target.Target. A name is that of the task and its state: "kswapd0 (sleeping)".
func (c *Core) Threads() []target.Thread {
	list := make([]target.Thread, 0, len(c.tasks))
	for _, t := range c.tasks {
		name := t.name
		if t.state != "" {
			name += " (" + t.state + ")"
		}
		list = append(list, target.Thread{ID: t.id, Name: name})
	}
	return list
}

// maxStack is the size of the largest stacks (THREAD_SIZE: 16 KB, or 32 KB with KASAN).
const maxStack = 32 << 10

// inactive lists the registers of struct inactive_task_frame (arch/x86/include/asm/switch_to.h), which
// __switch_to_asm leaves at a waiting task's stack pointer. The address to which it returns follows.
var inactive = [...]arch.Reg{arch.R15, arch.R14, arch.R13, arch.R12, arch.RBX, arch.RBP, arch.RIP}

// Registers implements target.Target.
func (c *Core) Registers(id target.ThreadID) (arch.Registers, error) {
	c.base.RLock()
	defer c.base.RUnlock()
	r := arch.Registers{Arch: arch.AMD64}
	i, ok := c.byID[id]
	if !ok || c.base.Closed() {
		return r, target.ErrNoThread
	}
	t := &c.tasks[i]
	if t.processor >= 0 && t.processor < len(c.processors) {
		return target.DecodeUser(arch.AMD64, c.processors[t.processor]), nil
	}
	switch {
	case t.stack == 0: // of a zombie; thread.sp may point into the stack that another task has now
		return r, fmt.Errorf("%s (pid %d) has ended, and its stack was freed", t.name, t.id)
	case t.sp < t.stack || t.sp-t.stack >= maxStack:
		return r, fmt.Errorf("the stack pointer 0x%x of %s (pid %d) is not in its stack at 0x%x",
			t.sp, t.name, t.id, t.stack)
	}
	for i, reg := range inactive {
		v, err := c.word(t.sp + 8*uint64(i))
		if err != nil {
			return r, fmt.Errorf("the stack of %s (pid %d) can't be read: %w", t.name, t.id, err)
		}
		r.Set(reg, v)
	}
	r.Set(arch.RSP, t.sp+8*uint64(len(inactive)))
	return r, nil
}
