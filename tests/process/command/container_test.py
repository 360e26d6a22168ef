"""Containers that share a directory, as far as a mount namespace makes one."""

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


if __name__ == "__main__":
    sandbox.main()
