"""The examples for systemd and cron do what they say: their command lines are run as those two would run them."""

import configparser
import pathlib
import re
import shlex
import socket
import subprocess

import sandbox

ROOT = pathlib.Path(__file__).resolve().parents[3]
UNITS = ROOT / "examples/systemd"
TABLE = ROOT / "examples/cron/holdfast"


class Examples(sandbox.Sandbox):
    def program(self, name, script):
        """An executable that stands for one of /usr/local/bin."""
        path = self.path(name)
        path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        path.chmod(0o755)
        return path

    def here(self, text):
        """The same with our programs instead of those that are not installed."""
        text = re.sub(r"/usr/local/bin/(?=\w)", f"{self.folder}/", text)
        return re.sub(r"(?<![\w/])(?:/usr/bin/)?holdfast (?=run|elect|--)", f"{sandbox.holdfast} ", text)

    def begin(self, command, environment=None):
        process = subprocess.Popen(command, env=environment or self.environment, text=True, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        self.started.append(process)
        return process

    def run_twice_at_once(self, begin, said=""):
        """Of two, one runs; the other ends with success."""
        first = begin()
        self.assertEqual(first.stdout.readline(), "runs\n")
        second = begin()
        stdout, stderr = second.communicate(timeout=sandbox.PATIENCE)
        self.assertEqual((second.returncode, stdout), (0, ""))
        self.assertRegex(stderr, f"^{said}")
        self.assertEqual(bool(stderr), bool(said), "cron would mail it; the journal may have it")
        self.assertEqual(first.communicate(input="", timeout=sandbox.PATIENCE), ("", ""))
        self.assertEqual(first.returncode, 0)


class Systemd(Examples):
    def setUp(self):
        super().setUp()
        self.program("nightly", "echo runs; cat")
        self.program("serve", "echo runs; exec cat")

    def exec_start(self, unit):
        parser = configparser.RawConfigParser(strict=False)
        parser.optionxform = str
        parser.read(UNITS / unit)
        line = self.here(parser["Service"]["ExecStart"].replace("%H", socket.gethostname()))
        return shlex.split(line)

    def test_the_units_are_understood(self):
        folder = self.path("units")
        folder.mkdir()
        for unit in UNITS.iterdir():
            (folder / unit.name).write_text(self.here(unit.read_text(encoding="utf-8")), encoding="utf-8")
        names = sorted(path.name for path in folder.iterdir())
        self.assertEqual(names, ["leader.service", "nightly.service", "nightly.timer"])
        done = subprocess.run(["systemd-analyze", "verify", *(str(folder / name) for name in names)], text=True,
                              capture_output=True, timeout=sandbox.PATIENCE, check=False)
        complaints = [line for line in (done.stdout + done.stderr).splitlines() if str(folder) in line or
                      any(name in line for name in names)]
        self.assertEqual(complaints, [])

    def test_nightly_runs_on_one_host(self):
        self.run_twice_at_once(lambda: self.begin(self.exec_start("nightly.service")),
                               "holdfast: nightly is not free in .* held by ")
        # --min-hold: a host that comes too late finds it taken.
        third = self.begin(self.exec_start("nightly.service"))
        self.assertEqual(third.communicate(timeout=sandbox.PATIENCE)[0], "")
        self.assertEqual(third.returncode, 0)

    def test_the_leader_is_known_and_followed(self):
        first = self.begin(self.exec_start("leader.service"))
        self.assertEqual(first.stdout.readline(), "runs\n")
        self.assertEqual(self.run_to_end("leader", "web")[:2], (0, f"{socket.gethostname()}\n"))
        second = self.begin(self.exec_start("leader.service"))
        first.terminate()  # as `systemctl stop` does, by KillMode=mixed
        self.assertEqual(second.stdout.readline(), "runs\n")
        second.communicate(input="", timeout=sandbox.PATIENCE)
        self.assertEqual(second.returncode, 0)
        first.wait(sandbox.PATIENCE)


class Cron(Examples):
    def jobs(self):
        """name of the lock -> a function that starts the job as cron does: by a shell, with hardly any environment."""
        settings = {"HOME": str(self.folder), "LOGNAME": "root", "USER": "root"}
        found = {}
        for line in TABLE.read_text(encoding="utf-8").splitlines():
            if setting := re.match(r"(\w+)=(.*)", line):
                settings[setting[1]] = setting[2]
            elif job := re.match(r"(?:[\d*/,-]+\s+){5}(\w+)\s+(.*)", line):
                self.assertEqual(job[1], "root")
                self.assertNotRegex(job[2], r"(?<!\\)%")
                command = self.here(job[2])
                environment = {**settings, "HOLDFAST_STORE": self.environment["HOLDFAST_STORE"]}
                name = re.search(r"(\w+) (?:-c|/usr/local)", job[2])[1]
                found[name] = lambda command=command, environment=environment: self.begin(
                    [environment["SHELL"], "-c", command], environment)
            elif line and not line.startswith("#"):
                self.fail(line)
        return found

    def test_they_run_one_at_a_time(self):
        self.program("nightly", "echo runs; cat")
        self.program("fetch", "echo runs; cat")
        self.program("load", "exec cat")
        jobs = self.jobs()
        self.assertEqual(sorted(jobs), ["import", "nightly"])
        for name, begin in jobs.items():
            with self.subTest(name=name):
                self.run_twice_at_once(begin)


if __name__ == "__main__":
    sandbox.main()
