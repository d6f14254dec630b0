# Goes ways through a program for package gdbpeer: walk-steps FILE. The file has a line for each way:
# addresses to break at, separated by commas, then commands. Each stop is printed as
# AT pc|kind|function|file|line|sp|registers|end, each failed command as ERROR, the end of the program as END.
import gdb

REGISTERS = "rax rbx rcx rdx rsi rdi rbp r8 r9 r10 r11 r12 r13 r14 r15 eflags".split()


def run(command):
    try:
        gdb.execute(command, to_string=True)
        return True
    except gdb.error as e:
        print("ERROR " + str(e).replace("\n", " "))
        return False


def here():
    try:
        frame = gdb.newest_frame()
    except gdb.error:
        print("END")
        return False
    sal = frame.find_sal()
    file = sal.symtab.filename if sal.symtab else ""
    kind = "inline" if frame.type() == gdb.INLINE_FRAME else ""
    values = " ".join(str(int(frame.read_register(r)) & 0xFFFFFFFFFFFFFFFF) for r in REGISTERS)
    last = gdb.find_pc_line(frame.pc()).last
    end = last + 1 if last else 0
    sp = int(frame.read_register("rsp")) & 0xFFFFFFFFFFFFFFFF
    print("AT %d|%s|%s|%s|%d|%d|%s|%d" % (frame.pc(), kind, frame.name() or "", file, sal.line, sp, values, end))
    return True


class WalkSteps(gdb.Command):
    """Go the ways in a file."""

    def __init__(self):
        super().__init__("walk-steps", gdb.COMMAND_RUNNING)

    def invoke(self, arg, from_tty):
        for line in open(arg):
            words = line.split()
            print("WAY")
            made = []
            for a in words[0].split(","):
                made.append(gdb.Breakpoint("*" + a))
            run("run")
            for b in made:
                b.delete()
            # A way that begins in another thread is left out if $main_only is set.
            if gdb.convenience_variable("main_only") and gdb.selected_thread() and gdb.selected_thread().num != 1:
                pass
            elif here():
                for command in words[1:]:
                    run(command)
                    if not here():
                        break
            try:
                gdb.execute("kill", to_string=True)
            except gdb.error:
                pass


WalkSteps()
