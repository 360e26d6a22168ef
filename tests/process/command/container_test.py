"""Containers that share a directory, as far as a mount namespace makes one."""

import os
import sqlite3
import subprocess

import sandbox

BOOT_ID = "/proc/sys/kernel/random/boot_id"
ANOTHER = "01234567-89ab-cdef-0123-456789abcdef"


def may_mount():
    return subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode == 0


class Containers(sandbox.Sandbox):
    def in_container(self, *mounts):
        """What starts a program in a mount namespace of its own; each mount is what, and where it is to be seen."""
        script = "".join(f"mount --bind '{what}' '{where}' && " for what, where in mounts) + 'exec "$@"'
        return ["unshare", "-m", "sh", "-c", script, "sh"]

    def with_another_boot_id(self):
        """The same for one that shows a boot id of its own, as systemd-nspawn and LXC do."""
        if may_mount():
            self.path("boot_id").write_text(ANOTHER + "\n", encoding="utf-8")
            return self.in_container((self.path("boot_id"), BOOT_ID))
        # Who may not mount: then the file says that those who are in it came with the other id.
        with sqlite3.connect(self.database, timeout=sandbox.PATIENCE) as file:
            file.execute("UPDATE state SET boot = ?", (ANOTHER,))
        return []

    def test_another_boot_id_is_not_another_boot(self):
        first = self.hold()
        before = self.with_another_boot_id()
        status, _, stderr = self.run_to_end("run", "--no-wait", "x", "--", "true", before=before)
        self.assertEqual(status, 75, stderr)
        second = self.start("run", "x", "--", "echo", "next", before=before)
        sandbox.until(lambda: self.waiters() == 1, "the other container waits")
        self.let_go(first)
        self.assertEqual(second.communicate(timeout=sandbox.PATIENCE)[0], "next\n")
        self.assertEqual(second.returncode, 0)

    def test_a_hold_of_another_container_is_seen(self):
        keeper = self.hold("y")  # or nobody could know that it is the same boot
        before = self.with_another_boot_id()
        first = self.start("run", "x", "--", "sh", "-c", "echo held; exec cat", before=before)
        self.assertEqual(first.stdout.readline(), "held\n")
        self.let_go(keeper)
        self.assertEqual(self.run_to_end("run", "--no-wait", "x", "--", "true")[0], 75)
        self.let_go(first)

    def test_a_file_that_is_mounted_alone_is_refused(self):
        """As with `docker -v a.db:/b.db` or a subPath of Kubernetes: the companions would not be shared."""
        if not may_mount():
            self.skipTest("may not mount; the unit tests of the file store make the mount up")
        first = self.hold()
        other = self.path("other.db")
        other.touch(mode=0o600)
        before = self.in_container((self.database, other))
        status, _, stderr = self.run_to_end("--store", f"file:{other}", "run", "--no-wait", "x", "--", "true",
                                            before=before)
        self.assertEqual(status, 64, stderr)
        self.assertRegex(stderr, "mounted alone.*share the directory")
        self.let_go(first)

    def test_a_directory_that_is_mounted_is_shared(self):
        if not may_mount():
            self.skipTest("may not mount")
        first = self.hold()
        self.path("elsewhere").mkdir()
        before = self.in_container((self.folder, self.path("elsewhere")))
        there = f"file:{self.path('elsewhere')}/locks.db"
        self.assertEqual(self.run_to_end("--store", there, "run", "--no-wait", "x", "--", "true", before=before)[0], 75)
        self.let_go(first)
        self.assertEqual(self.run_to_end("--store", there, "run", "--no-wait", "x", "--", "true", before=before)[0], 0)

    def test_a_hard_link_is_refused(self):
        first = self.hold("x", "--lease", "3s")
        other = self.path("other.db")
        os.link(self.database, other)
        for path in (other, self.database):
            status, _, stderr = self.run_to_end("--store", f"file:{path}", "run", "--no-wait", "x", "--", "true")
            self.assertEqual(status, 64, stderr)
            self.assertRegex(stderr, "hard link.*share the directory")
        # Nobody can come by either name, so whoever was there before goes on.
        with self.assertRaises(subprocess.TimeoutExpired):
            first.wait(4)  # longer than its lease
        other.unlink()
        status, _, stderr = self.run_to_end("run", "--no-wait", "x", "--", "true")
        self.assertEqual(status, 75, stderr)


if __name__ == "__main__":
    sandbox.main()
