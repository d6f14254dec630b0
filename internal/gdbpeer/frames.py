# Prints the selected thread's frames for package gdbpeer, one a line:
# FRAME level|pc|kind|function|file|line
import gdb


class DumpFrames(gdb.Command):
    """Print the frames of the selected thread."""

    def __init__(self):
        super().__init__("dump-frames", gdb.COMMAND_STACK)

    def invoke(self, arg, from_tty):
        kinds = {gdb.TAILCALL_FRAME: "tailcall", gdb.INLINE_FRAME: "inline", gdb.SIGTRAMP_FRAME: "signal"}
        frame = gdb.newest_frame()
        level = 0
        print("BEGIN")
        while frame is not None:
            sal = frame.find_sal()
            file = sal.symtab.filename if sal.symtab else ""
            print("FRAME %d|%d|%s|%s|%s|%d" % (level, frame.pc(), kinds.get(frame.type(), ""), frame.name() or "", file, sal.line))
            frame = frame.older()
            level += 1


DumpFrames()
