"""A shell in a pseudo-terminal, typed at and read from as a person would."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

import sandbox

CTRL_C = "\x03"
CTRL_D = "\x04"
CTRL_Z = "\x1a"
PROMPT = "ready> "


class Shell:
    """An interactive bash with job control. Reads are kept, so that a failed test can show them."""

    def __init__(self, environment, columns=100):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.execvpe("bash", ["bash", "--norc", "--noprofile", "--noediting", "-i"],
                       {**environment, "PS1": PROMPT, "TERM": "xterm", "HISTFILE": ""})
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        self.text = ""
        self.read_from = 0  # what was expected and found lies before
        self.expect(re.escape(PROMPT))
        self.type("stty -echo\n")
        self.expect(re.escape(PROMPT))

    def type(self, text):
        os.write(self.terminal, text.encode())

    def expect(self, pattern, patience=sandbox.PATIENCE):
        """Reads on until the pattern has come; returns its match."""
        end = time.monotonic() + patience
        while True:
            found = re.compile(pattern).search(self.text, self.read_from)
            if found:
                self.read_from = found.end()
                return found
            left = end - time.monotonic()
            if left <= 0 or not self._read(left):
                raise AssertionError(f"{pattern!r} did not come; the terminal shows:\n{self.text[self.read_from:]!r}\n"
                                     f"before that:\n{self.text[:self.read_from][-2000:]!r}")

    def _read(self, patience):
        if not select.select([self.terminal], [], [], patience)[0]:
            return False
        try:
            data = os.read(self.terminal, 65536)
        except OSError:  # the other side is closed
            return False
        self.text += data.decode(errors="replace")
        return bool(data)

    def run(self, command):
        """Types a command that ends by itself; returns what it wrote and its status."""
        self.type(command + "\n")
        begin = self.read_from
        self.expect(re.escape(PROMPT))
        output = self.text[begin:self.read_from - len(PROMPT)]
        return output, self.status()

    def status(self):
        """$?, at a prompt."""
        self.type("echo status=$?.\n")
        found = int(self.expect(r"status=(\d+)\.").group(1))
        self.expect(re.escape(PROMPT))
        return found

    def prompt(self):
        self.expect(re.escape(PROMPT))

    def foreground(self):
        return os.tcgetpgrp(self.terminal)

    def close(self):
        os.close(self.terminal)
        for number in (signal.SIGHUP, signal.SIGKILL):
            try:
                os.kill(self.pid, number)
            except ProcessLookupError:
                break
        os.waitpid(self.pid, 0)
