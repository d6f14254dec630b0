# Runs a program to random places and prints, for each, the variables of every frame, for
# package gdbpeer; a core of each is left for the debugger that is held against it.
# dump-variables SEED STOPS DIRECTORY LEVELS MAIN
import os
import random

import gdb


def quiet(command):
    return gdb.execute(command, False, True)


class DumpVariables(gdb.Command):
    """Print the variables of all frames at random stops."""

    def __init__(self):
        super().__init__("dump-variables", gdb.COMMAND_STACK)

    def invoke(self, arg, from_tty):
        seed, stops, directory, levels, start = arg.split()
        self.random = random.Random(int(seed))
        self.levels = int(levels)
        quiet("set confirm off")
        quiet("set pagination off")
        quiet("set print pretty off")
        quiet("set breakpoint pending off")
        quiet("set print frame-arguments all")
        self.restart(start)
        places = self.places()
        failures = 0
        done = 0
        while done < int(stops) and failures < 40:
            if self.random.random() < 0.3:
                # From where it is, some instructions on: prologues, epilogues, libraries.
                try:
                    quiet("stepi %d" % self.random.randrange(1, 60))
                except gdb.error:
                    pass
            else:
                for _ in range(6):
                    gdb.Breakpoint("*0x%x" % self.place(places), temporary=True, internal=True)
                try:
                    quiet("continue")
                except gdb.error:
                    pass
                for b in gdb.breakpoints() or []:
                    b.delete()
                quiet("delete")
            if not gdb.selected_inferior().pid:
                failures += 1
                self.restart(start)
                continue
            core = os.path.join(directory, "core.%d" % done)
            quiet("generate-core-file " + core)
            # What gdb has written of its own may have no end of line.
            print("\nSTOP %d" % done)
            self.dump()
            done += 1
        quiet("kill")

    def restart(self, start):
        quiet("break " + start)
        quiet("run")
        quiet("disable pretty-printer")
        quiet("delete")

    def places(self):
        """The rows of the fixture's own source in the line table."""
        return sorted({item.pc for item in gdb.newest_frame().find_sal().symtab.linetable() if item.line > 0})

    def place(self, places):
        """An instruction at or soon behind a row."""
        some = gdb.newest_frame().architecture().disassemble(self.random.choice(places), count=self.random.choice((1, 1, 2, 4)))
        return some[-1]["addr"]

    def dump(self):
        kinds = {gdb.TAILCALL_FRAME: "tailcall", gdb.INLINE_FRAME: "inline", gdb.SIGTRAMP_FRAME: "signal"}
        frame = gdb.newest_frame()
        level = 0
        while frame is not None and level < self.levels:
            frame.select()
            print("\nFRAME %d|%d|%s|%s" % (level, frame.pc(), kinds.get(frame.type(), ""), frame.name() or ""))
            try:
                print("LINE " + quiet("frame").split("\n")[0])
            except gdb.error as e:
                print("LINE ERROR %s" % e)
            for command in ("args", "locals"):
                print("VARIABLES " + command)
                try:
                    print(quiet("info " + command).rstrip("\n"))
                except gdb.error as e:
                    print("ERROR %s" % e)
            print("\nEND")
            level += 1
            try:
                frame = frame.older()
            except gdb.error as e:
                print("ERROR %s" % e)
                break


DumpVariables()
