"""`make demo` as a person sees it: the build in one line, then a picture.

    demo_test.py TOOLS-FOLDER BUILD-FOLDER [unittest arguments]
"""

import os
import pathlib
import pty
import re
import subprocess
import sys
import unittest

TOOLS = pathlib.Path(sys.argv.pop(1))
BUILD = pathlib.Path(sys.argv.pop(1))
LIMIT = 90  # seconds


def on_terminal(*command):
    """(status, text) of a command that writes to a pseudo-terminal."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvpe(command[0], [str(word) for word in command], {**os.environ, "TERM": "xterm"})
    text = b""
    try:
        while data := os.read(terminal, 65536):
            text += data
    except OSError:  # the other side is closed
        pass
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), text.decode().replace("\r\n", "\n")


class Picture(unittest.TestCase):
    def demo(self, store):
        status, text = on_terminal(TOOLS / "demo", "--build", BUILD, "--store", store)
        self.assertEqual(status, 0, text)
        text = re.sub(r"\x1b\[[0-9;]*m", "", text)
        times = [float(found) for found in re.findall(r"^ *(-?[0-9.]+) s  ", text, re.MULTILINE)]
        self.assertGreater(len(times), 20, text)
        self.assertGreaterEqual(min(times), 0, text)
        self.assertNotRegex(text, r"-[0-9.]+ m?s", "a time is negative")
        tokens = [int(found) for found in re.findall(r"token (\d+)", text)]
        self.assertEqual((min(tokens), len(str(max(tokens)))), (1, 2), text)
        self.assertEqual(text.count("\nWRONG"), 0, text)
        return text

    def test_on_a_file(self):
        text = self.demo("file")
        self.assertRegex(text, r"\n  teller 2 .*x")
        self.assertRegex(text, r"\n  teller 3 .*s+!")

    def test_on_redis(self):
        text = self.demo("redis")
        self.assertRegex(text, r"the server +KILLED")
        self.assertRegex(text, r"\n  the server +=+x+=+\n")
        self.assertRegex(text, r"ok +the server was down for 0\.\d s, and the lock went on")


class BuildLine(unittest.TestCase):
    STEPS = "for i in 1 2 3; do echo [$i/3] Building x$i; done; echo some warning >&2; exit "

    def build(self, status):
        return TOOLS / "build_line", "sh", "-c", f"{self.STEPS}{status}"

    def test_on_a_terminal(self):
        status, text = on_terminal(*self.build(0))
        self.assertEqual(status, 0)
        self.assertEqual(text, "".join(f"\r\x1b[Kbuilding … {i}/3" for i in (1, 2, 3)) + "\r\x1b[K")

    def test_elsewhere(self):
        done = subprocess.run(self.build(0), capture_output=True, text=True, timeout=LIMIT, check=True)
        self.assertEqual((done.stdout, done.stderr), ("building … 3/3\n", ""))

    def test_a_build_that_fails(self):
        done = subprocess.run(self.build(7), capture_output=True, text=True, timeout=LIMIT, check=False)
        self.assertEqual(done.returncode, 7)
        self.assertIn("some warning", done.stdout)
        self.assertIn("[2/3] Building x2", done.stdout)

    def test_nothing_to_do(self):
        done = subprocess.run([TOOLS / "build_line", "echo", "ninja: no work to do."], capture_output=True, text=True,
                              timeout=LIMIT, check=True)
        self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    unittest.main(verbosity=2)
