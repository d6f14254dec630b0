package session

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// SyscallName returns the name of a system call of x86-64, or false if the number is unknown.
func SyscallName(n int) (string, bool) {
	c, ok := systemCalls[uint64(n)]
	return c.name, ok && n >= 0
}

// maxSyscall is the largest number that can be caught.
const maxSyscall = 511

// ParseSyscalls finds the numbers of system calls: "write", "1", "group:signal", "g:signal". The
// numbers of a group rise.
func ParseSyscalls(words []string) ([]int, error) {
	var out []int
	for _, w := range words {
		group, ok := strings.CutPrefix(w, "group:")
		if !ok {
			group, ok = strings.CutPrefix(w, "g:")
		}
		if ok {
			list := syscallGroup(group)
			if len(list) == 0 {
				return nil, fmt.Errorf("Unknown syscall group '%s'.", group) //lint:ignore ST1005 gdb's words
			}
			out = append(out, list...)
			continue
		}
		if n, err := strconv.Atoi(w); err == nil {
			if n < 0 || n > maxSyscall {
				return nil, fmt.Errorf("the number of a system call must be between 0 and %d, not %s", maxSyscall, w)
			}
			out = append(out, n)
			continue
		}
		n := syscallNumber(w)
		if n < 0 {
			return nil, fmt.Errorf("Unknown syscall name '%s'.", w) //lint:ignore ST1005 gdb's words
		}
		out = append(out, n)
	}
	return out, nil
}

// syscallNumber returns the number of a system call, or -1.
func syscallNumber(name string) int {
	for n, c := range systemCalls {
		if c.name == name {
			return int(n)
		}
	}
	return -1
}

// syscallGroups lists the members of the groups that the arguments do not tell.
var syscallGroups = map[string]string{
	"network": "accept accept4 bind connect getpeername getsockname getsockopt listen recvfrom recvmmsg recvmsg sendfile sendmmsg sendmsg sendto setsockopt shutdown socket socketpair",
	"ipc":     "msgctl msgget msgrcv msgsnd semctl semget semop semtimedop shmat shmctl shmdt shmget",
	"memory":  "brk get_mempolicy madvise mbind migrate_pages mincore mlock mlock2 mlockall mmap move_pages mprotect mremap msync munlock munlockall munmap pkey_mprotect remap_file_pages set_mempolicy shmat shmdt",
	"process": "clone clone3 execve execveat exit exit_group fork kill pidfd_open pidfd_send_signal rt_sigqueueinfo rt_tgsigqueueinfo tgkill tkill unshare vfork wait4 waitid",
	"signal":  "kill pause pidfd_send_signal rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend rt_sigtimedwait rt_tgsigqueueinfo sigaltstack signalfd signalfd4 tgkill tkill",
}

// syscallGroup lists the system calls of a group. The groups file and descriptor have the calls
// with such an argument.
func syscallGroup(group string) (out []int) {
	kind := map[string]string{"file": "p", "descriptor": "f"}[group]
	for n, c := range systemCalls {
		if kind != "" && strings.Contains(c.args, kind) {
			out = append(out, int(n))
		}
	}
	for _, name := range strings.Fields(syscallGroups[group]) {
		if n := syscallNumber(name); n >= 0 {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}
