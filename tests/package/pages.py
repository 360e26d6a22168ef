"""Runs what the pages for newcomers show, line by line, as a reader would type it.

    pages.py PREFIX         an installation of holdfast

In a block ```console a line that begins with `$ ` is typed into a shell, and what follows is what it must write: an ellipsis
stands for anything. Commands that only look are repeated until they show it. A block ```python is run. 6379 is replaced with
a port that is free.
"""

import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/process/command"))

import sandbox  # noqa: E402 pylint: disable=wrong-import-position

PREFIX = pathlib.Path(sys.argv[1]).resolve()
BLOCK = re.compile(r"^```(console|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LOOKS = re.compile(r"holdfast (list|show|leader)\b")
END = "--- end of what it wrote, status "


class Page(sandbox.Sandbox):
    def setUp(self):
        super().setUp()
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = str(probe.getsockname()[1])
        # A reader has installed it to ~/.local, and has copied the example.
        os.symlink(PREFIX, self.folder / ".local")
        shutil.copy(ROOT / "examples/getting_started.cpp", self.folder)
        self.environment.pop("HOLDFAST_STORE")
        self.environment["PATH"] = f"{PREFIX}/bin:/usr/bin:{self.environment['PATH']}"
        self.shell = subprocess.Popen(["bash", "--norc", "--noprofile"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, text=True, cwd=self.folder, env=self.environment,
                                      start_new_session=True)
        self.started.append(self.shell)

    def tearDown(self):
        self.shell.stdin.close()
        subprocess.run(["redis-cli", "-p", self.port, "shutdown", "nosave"], capture_output=True, check=False,
                       timeout=sandbox.PATIENCE)
        super().tearDown()

    def type(self, command):
        """What it writes; a command in the background writes nothing."""
        self.shell.stdin.write(f"{{ {command}\n}} 2>&1 </dev/null; s=$?; echo; echo '{END}'$s.; (exit $s)\n")
        self.shell.stdin.flush()
        lines = []
        while True:
            line = self.shell.stdout.readline()
            self.assertTrue(line, f"the shell has ended; {command} wrote {lines}")
            if line.startswith(END):
                return "".join(lines).strip("\n")
            lines.append(line)

    def check(self, command, expected):
        pattern = re.compile(r".*?".join(map(re.escape, expected.strip("\n").split("…"))), re.DOTALL)
        # The columns of a table are as wide as what stands in them.
        pattern = re.compile(re.sub(r"(\\ )+", " +", pattern.pattern), re.DOTALL)

        def matches():
            self.wrote = self.type(command)
            return pattern.fullmatch(self.wrote)

        def is_answered():
            matches()
            return not self.wrote.startswith("Could not connect")
        if LOOKS.search(command):
            try:
                sandbox.until(matches, command)
                return
            except AssertionError:
                pass
        else:
            # A server that was started by the line before may not listen yet.
            sandbox.until(is_answered, command)
            if pattern.fullmatch(self.wrote):
                return
        self.fail(f"$ {command}\nmust write:\n{expected}\nand wrote:\n{self.wrote}")

    def follow(self, page):
        text = (ROOT / page).read_text(encoding="utf-8")
        count = 0
        for match in BLOCK.finditer(text):
            language, body = match.group(1), match.group(2).replace("6379", self.port)
            count += 1
            if language == "python":
                (self.folder / "page.py").write_text(body, encoding="utf-8")
                self.check("/usr/bin/python3 page.py", "")
                continue
            self.assertTrue(body.startswith("$ "), body)
            for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
                command, _, expected = part.partition("\n")
                self.check(command, expected)
        return count

    def test_getting_started(self):
        self.assertGreaterEqual(self.follow("docs/getting-started.md"), 5)

    def test_migrating(self):
        self.assertGreaterEqual(self.follow("docs/migrating.md"), 3)


if __name__ == "__main__":
    sys.argv[1] = str(PREFIX / "bin/holdfast")
    sandbox.main()
