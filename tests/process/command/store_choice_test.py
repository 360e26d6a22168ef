"""Which store a command uses: the default of each user, the configuration, and what is said about it."""

import os
import pathlib
import shutil
import stat
import subprocess
import unittest

import sandbox
import terminal

USAGE, UNAVAILABLE, NOT_ACQUIRED = 64, 69, 75
NOBODY = 65534
IS_ROOT = os.geteuid() == 0
# Some containers have a root without the right to mount.
CAN_MOUNT = IS_ROOT and subprocess.run(["unshare", "--mount", "true"], check=False, capture_output=True).returncode == 0


def as_user(uid, group=None):
    """The words that start a program as another user, who is in no group but his own and perhaps one more."""
    groups = ["--clear-groups"] if group is None else [f"--groups={group}"]
    return ["setpriv", f"--reuid={uid}", f"--regid={uid}", *groups, "--"]


# A file system of its own for what lies in the root directory's /etc and /var/lib, seen by one program only.
PRIVATE_SYSTEM = ["unshare", "--mount", "sh", "-ec", 'mount --bind "$0/etc" /etc; mount --bind "$0/lib" /var/lib; '
                  'exec "$@"']


class StoreChoice(sandbox.Sandbox):
    def setUp(self):
        super().setUp()
        del self.environment["HOLDFAST_STORE"]
        self.environment.pop("XDG_CONFIG_HOME", None)
        # Others can reach it, and what is tested, wherever that was built.
        self.folder.chmod(0o755)
        self.installation = self.folder / "installation"
        self.etc = self.folder / "system/etc"
        self.lib = self.folder / "system/lib"
        for directory in (self.installation, self.etc / "holdfast", self.lib):
            directory.mkdir(parents=True)

    def write(self, path, text, mode=0o600):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(mode)
        return path

    def user_file(self, text, mode=0o600):
        return self.write(self.folder / ".config/holdfast/config.toml", text, mode)

    def machine_file(self, text, mode=0o644):
        return self.write(self.etc / "holdfast/config.toml", text, mode)

    def system(self, user=()):
        return [*PRIVATE_SYSTEM, str(self.folder / "system"), *user]

    def store_of(self, *words, **options):
        """The store that `run` tells its command."""
        status, stdout, stderr = self.run_to_end("run", *words, "x", "--", "sh", "-c", 'echo "$HOLDFAST_STORE"',
                                                 **options)
        self.assertEqual((status, stderr), (0, ""))
        return stdout.strip()

    def refused(self, status, *words, **options):
        """What is said."""
        result = self.run_to_end(*words, **options)
        self.assertEqual(result[:2], (status, ""), result[2])
        return result[2]


class Configuration(StoreChoice):
    def setUp(self):
        super().setUp()
        self.store = f"file:{self.folder}/named.db"

    def test_a_store_by_name(self):
        self.user_file(f'[stores]\nprod = "{self.store}"\n')
        self.assertEqual(self.store_of("--store", "prod"), self.store)
        self.environment["HOLDFAST_STORE"] = "prod"
        self.assertEqual(self.store_of(), self.store)

    def test_the_default(self):
        self.user_file(f'default = "prod"\n[stores]\nprod = "{self.store}"\n')
        self.assertEqual(self.store_of(), self.store)
        self.user_file(f'default = "{self.store}2"\n')
        self.assertEqual(self.store_of(), f"{self.store}2")
        self.environment["HOLDFAST_STORE"] = f"{self.store}3"
        self.assertEqual(self.store_of(), f"{self.store}3")
        self.assertEqual(self.store_of("--store", f"{self.store}4"), f"{self.store}4")

    def test_xdg_config_home(self):
        self.user_file('default = "file:/proc/no"\n')
        other = self.folder / "other"
        self.write(other / "holdfast/config.toml", f'default = "{self.store}"\n')
        self.environment["XDG_CONFIG_HOME"] = str(other)
        self.assertEqual(self.store_of(), self.store)

    def test_mistakes_have_a_line(self):
        for text, line, words in (
                ('default = "a"\n[stores\n', 2, ""),
                ('[stores]\na = "file:/a"\na = "file:/b"\n', 3, ""),
                ('\nstore = "file:/a"\n', 2, "did you mean 'stores'"),
                ('default = 7\n', 1, "quotes"),
                ('default = "b"\n[stores]\na = "file:/a"\n', 1, "no store is called 'b', only a"),
                ('stores = "file:/a"\n', 1, "table"),
                ('[stores]\na = ["file:/a"]\n', 2, "quotes"),
                ('[stores]\n"a b" = "file:/a"\n', 2, "cannot name a store"),
                ('[stores]\na = "locks"\n', 2, "not the URL"),
                ('[stores]\na = "file:locks.db"\n', 2, "absolute")):
            with self.subTest(text=text):
                path = self.user_file(text)
                self.assertRegex(self.refused(USAGE, "list"), f"^holdfast: {path}:{line}: .*{words}")

    def test_unknown_names(self):
        self.assertIn("no store is called 'prod'", self.refused(USAGE, "--store", "prod", "list"))
        self.assertIn(str(self.folder / ".config/holdfast/config.toml"), self.refused(USAGE, "--store", "prod", "list"))
        self.user_file('[stores]\nprod = "file:/a"\n')
        self.assertIn("did you mean 'prod'", self.refused(USAGE, "--store", "prdo", "list"))
        self.assertIn("file:/tmp/x", self.refused(USAGE, "--store", "/tmp/x", "list"))

    def test_no_password_is_shown(self):
        self.user_file('[stores]\nprod = "redis://:hunter2@127.0.0.1:1"\nodd = "redis://:hunter2@127.0.0.1:1"x\n')
        self.assertNotIn("hunter2", self.refused(USAGE, "--store", "prod", "list"))
        self.user_file('[stores]\nprod = "redis://:hunter2@127.0.0.1:1"\n', mode=0o644)
        text = self.refused(UNAVAILABLE, "--store", "prod", "--patience", "1s", "--verbose", "list")
        self.assertNotIn("hunter2", text)
        self.assertRegex(text, "warning: .*config.toml holds a password and can be read by everybody")
        self.user_file('[stores]\nprod = "redis://:hunter2@127.0.0.1:1"\n', mode=0o640)
        self.assertNotIn("warning", self.refused(UNAVAILABLE, "--store", "prod", "--patience", "1s", "list"))

    def test_it_is_read_only_where_it_is_needed(self):
        self.user_file("nonsense")
        self.assertEqual(self.store_of("--store", self.store), self.store)

    def test_others_cannot_have_written_it(self):
        self.user_file(f'default = "{self.store}"\n', mode=0o666)
        self.assertIn("chmod o-w", self.refused(USAGE, "list"))

    @unittest.skipUnless(IS_ROOT, "gives a file to somebody else")
    def test_it_is_nobody_elses(self):
        os.chown(self.user_file(f'default = "{self.store}"\n'), NOBODY, NOBODY)
        self.assertIn("belongs to another user", self.refused(USAGE, "list"))

    @unittest.skipUnless(CAN_MOUNT, "mounts")
    def test_the_users_file_comes_before_the_machines(self):
        self.machine_file(f'default = "a"\n[stores]\na = "{self.store}"\nb = "{self.store}2"\n')
        self.assertEqual(self.store_of(before=self.system()), self.store)
        self.user_file(f'[stores]\na = "{self.store}3"\n')
        self.assertEqual(self.store_of(before=self.system()), f"{self.store}3")
        self.user_file('default = "b"\n')
        self.assertEqual(self.store_of(before=self.system()), f"{self.store}2")

    @unittest.skipUnless(CAN_MOUNT, "mounts")
    def test_a_file_that_cannot_be_read_is_no_reason_to_lock_elsewhere(self):
        self.machine_file(f'default = "{self.store}"\n', mode=0o600)
        self.install()
        text = self.refused(UNAVAILABLE, "list", before=self.system(as_user(NOBODY)))
        self.assertIn("cannot read /etc/holdfast/config.toml: Permission denied", text)

    def install(self):
        install(self)


def install(test):
    """Where every user can start it: the build may be out of their reach."""
    source = pathlib.Path(sandbox.holdfast).parents[1]
    for part in ("bin/holdfast", "lib"):
        target = test.installation / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if (source / part).is_dir():
            shutil.copytree(source / part, target, symlinks=True, ignore=shutil.ignore_patterns("*.a"))
        else:
            shutil.copy2(source / part, target)
    before = sandbox.holdfast
    sandbox.holdfast = str(test.installation / "bin/holdfast")
    test.addCleanup(setattr, sandbox, "holdfast", before)


@unittest.skipIf(IS_ROOT, "the superuser's is the machine's; Users has these for others")
class DefaultStore(StoreChoice):
    def test_home(self):
        self.assertEqual(self.run_to_end("run", "x", "--", "true"), (0, "", ""))
        directory = self.folder / ".local/state/holdfast"
        self.assertEqual(stat.S_IMODE(directory.stat().st_mode), 0o700)
        self.assertTrue((directory / "locks.db").exists())

    def test_no_place_for_it(self):
        self.environment["XDG_STATE_HOME"] = "/proc/no"
        self.refused(UNAVAILABLE, "list")


@unittest.skipUnless(CAN_MOUNT, "becomes other users, and mounts")
class Users(StoreChoice):
    """The superuser and others, on one machine."""

    def setUp(self):
        super().setUp()
        install(self)
        self.homes = {}
        for uid in (NOBODY, 1234, 1235):
            self.homes[uid] = self.folder / f"home{uid}"
            self.homes[uid].mkdir(mode=0o700)
            os.chown(self.homes[uid], uid, uid)

    def options_of(self, uid, group=None):
        if uid == 0:
            return {"before": self.system()}
        return {"before": self.system(as_user(uid, group)), "env": {**self.environment, "HOME": str(self.homes[uid])}}

    def hold_as(self, name, uid, group=None):
        process = self.start("run", name, "--", "sh", "-c", "echo held; exec cat", **self.options_of(uid, group))
        self.assertEqual(process.stdout.readline(), "held\n", process.poll() is not None and process.stderr.read())
        return process

    def test_the_superusers_default_does_not_depend_on_home(self):
        holder = self.hold_as("x", 0)
        options = self.options_of(0)
        options["env"] = {**self.environment, "HOME": str(self.homes[1234]), "XDG_STATE_HOME": "/tmp"}
        text = self.refused(NOT_ACQUIRED, "run", "--no-wait", "x", "--", "true", **options)
        self.assertIn("in file:/var/lib/holdfast/locks.db", text)
        self.let_go(holder)
        self.assertEqual(stat.S_IMODE((self.lib / "holdfast").stat().st_mode), 0o755)
        self.assertEqual(stat.S_IMODE((self.lib / "holdfast/locks.db").stat().st_mode), 0o600)

    def test_others_have_their_own(self):
        self.assertEqual(self.store_of(**self.options_of(NOBODY)),
                         f"file:{self.homes[NOBODY]}/.local/state/holdfast/locks.db")
        directory = self.homes[NOBODY] / ".local/state/holdfast"
        self.assertEqual(stat.S_IMODE(directory.stat().st_mode), 0o700)

    def test_the_state_directory_of_others(self):
        options = self.options_of(NOBODY)
        options["env"]["XDG_STATE_HOME"] = str(self.homes[NOBODY] / "a %41?b")
        store = self.store_of(**options)
        self.assertTrue((self.homes[NOBODY] / "a %41?b/holdfast/locks.db").exists())
        self.assertEqual(self.run_to_end("--store", store, "list", **options)[0], 0)
        options["env"]["XDG_STATE_HOME"] = "/proc/no"
        self.refused(UNAVAILABLE, "list", **options)

    def test_a_store_for_a_group(self):
        """As the manual page has it: one directory, one line of configuration, whoever comes first, whatever his umask."""
        group = 4321
        self.machine_file('default = "file:/var/lib/holdfast/ops/locks.db"\n')
        for first, others in ((1234, (1235, 0)), (0, (1234, 1235))):
            with self.subTest(first=first):
                shutil.rmtree(self.lib / "holdfast", ignore_errors=True)
                (self.lib / "holdfast").mkdir(mode=0o755)
                subprocess.run(["install", "-d", "-m", "2770", "-g", str(group), self.lib / "holdfast/ops"], check=True)
                holder = self.hold_as("x", first, group)
                for other in others:
                    self.refused(NOT_ACQUIRED, "run", "--no-wait", "x", "--", "true", **self.options_of(other, group))
                waiters = [self.start("run", "x", "--", "echo", str(other), **self.options_of(other, group))
                           for other in others]
                for waiter in waiters:
                    self.assertIsNone(waiter.poll())
                self.let_go(holder)
                for other, waiter in zip(others, waiters):
                    self.assertEqual(waiter.communicate(timeout=sandbox.PATIENCE), (f"{other}\n", ""))
                for neighbour in (self.lib / "holdfast/ops").iterdir():
                    rights = stat.S_IMODE(neighbour.stat().st_mode) & 0o777
                    self.assertEqual((neighbour.name, neighbour.stat().st_gid, oct(rights)),
                                     (neighbour.name, group, oct(0o770 if neighbour.is_dir() else 0o660)))
        self.refused(UNAVAILABLE, "list", **self.options_of(NOBODY))


class Words(StoreChoice):
    def setUp(self):
        super().setUp()
        self.store = f"file:{self.folder}/said.db"
        self.environment["HOLDFAST_STORE"] = self.store

    def test_a_conflict_names_the_store(self):
        holder = self.hold("x")
        for wait in (["--no-wait"], ["--wait", "100ms"]):
            text = self.refused(NOT_ACQUIRED, "run", *wait, "x", "--", "true")
            self.assertIn(f"in {self.store}: held by", text)
        self.let_go(holder)

    def test_verbose_names_the_store_and_the_reason(self):
        for command in (["list"], ["show", "x"], ["evict", "x"], ["run", "x", "--", "true"], ["latch", "l", "--count", "1"],
                        ["barrier", "b", "--reset"], ["bench", "--duration", "10ms"]):
            with self.subTest(command=command):
                status, _, stderr = self.run_to_end("--verbose", *command)
                self.assertEqual((status, stderr), (0, f"holdfast: the store is {self.store} ($HOLDFAST_STORE)\n"))
        self.assertIn("(--store)", self.run_to_end("list", "-v", "--store", self.store)[2])
        del self.environment["HOLDFAST_STORE"]
        path = self.user_file(f'default = "a"\n[stores]\na = "{self.store}"\n')
        self.assertIn(f"(the default, {path}:3)", self.run_to_end("list", "-v")[2])
        self.assertIn(f"('a' by --store, {path}:3)", self.run_to_end("list", "-v", "--store", "a")[2])

    def test_list_on_a_terminal(self):
        shell = terminal.Shell(self.environment)
        try:
            shell.type(f"{sandbox.holdfast} list\n")
            shell.expect(f"nothing is held or waited for in {self.store}\r\n")
            holder = self.hold("x")
            shell.type(f"{sandbox.holdfast} list\n")
            shell.expect(f"{self.store}\\S*\r\n\\S*NAME .*\r\nx ")
            self.let_go(holder)
        finally:
            shell.close()
        self.assertEqual(self.run_to_end("list"), (0, "", ""))

    def test_schema_of_a_store_that_needs_none(self):
        """It only prints: nobody is spoken to, and nothing is made."""
        path = self.folder / "locks.db"
        for url in (f"file:{path}", "redis://anna:s3cret@127.0.0.1:1"):
            with self.subTest(url=url):
                status, stdout, stderr = self.run_to_end("--store", url, "schema")
                self.assertEqual((status, stdout), (0, ""))
                self.assertIn("needs nothing to be made beforehand", stderr)
                self.assertNotIn("s3cret", stderr)
        self.assertFalse(path.exists())

    def test_schema_of_a_quorum_is_that_of_a_member(self):
        status, stdout, stderr = self.run_to_end("--store", "quorum+postgres://anna:s3cret@a,b,c/x", "schema")
        self.assertEqual((status, stdout), (64, ""))
        self.assertIn("postgres://a,", stderr)
        self.assertNotIn("s3cret", stderr)

    def test_memory_locks_nothing(self):
        for command in (["run", "x", "--", "true"], ["list"], ["show", "x"], ["evict", "x"], ["latch", "x", "--count", "1"],
                        ["barrier", "x", "--parties", "1"], ["leader", "x"], ["elect", "x", "--value", "v", "--", "true"]):
            for url in ("memory:", "memory:NAME", "Memory:"):
                with self.subTest(command=command, url=url):
                    self.assertIn("lock nothing", self.refused(USAGE, "--store", url, *command))
        self.environment["HOLDFAST_STORE"] = "memory:"
        self.assertIn("lock nothing", self.refused(USAGE, "list"))
        self.assertEqual(self.run_to_end("bench", "--duration", "10ms")[0], 0)

    def test_relative_paths_are_resolved_with_a_warning(self):
        for path in ("said.db", "./said.db", "said.db?lease=10s"):
            with self.subTest(path=path):
                status, stdout, stderr = self.run_to_end("--store", f"file:{path}", "run", "x", "--", "sh", "-c",
                                                         'cd /; echo "$HOLDFAST_STORE"', cwd=self.folder)
                self.assertEqual((status, stdout), (0, f"file:{self.folder}/{path}\n"))
                self.assertRegex(stderr, f"^holdfast: warning: file:{path[:4]}.*here it is file:{self.folder}/")
        self.assertTrue((self.folder / "said.db").exists())

    def test_relative_paths_below_a_directory_whose_name_means_something_in_a_url(self):
        odd = self.folder / "a %41?b@c&d"
        odd.mkdir()
        show = ["run", "x", "--", "sh", "-c", 'cd /; echo "$HOLDFAST_STORE"']
        status, stdout, _ = self.run_to_end("--store", "file:said.db", *show, cwd=odd)
        self.assertEqual(status, 0)
        self.assertTrue((odd / "said.db").exists())
        # What the command is told leads others to the same place.
        holder = self.hold("x", "--store", stdout.strip())
        self.assertIn("is not free", self.refused(NOT_ACQUIRED, "--store", "file:said.db", "run", "--no-wait", "x", "--",
                                                  "true", cwd=odd))
        self.let_go(holder)

    def test_a_relative_path_needs_a_working_directory(self):
        gone = self.folder / "gone"
        gone.mkdir()
        words = ["sh", "-c", 'rmdir ../gone; exec "$@"', "sh"]
        text = self.refused(USAGE, "--store", "file:said.db", "list", before=words, cwd=gone)
        self.assertIn("give an absolute one", text)
        gone.mkdir()
        self.assertEqual(self.run_to_end("run", "x", "--", "printenv", "HOLDFAST_STORE", before=words, cwd=gone),
                         (0, self.store + "\n", ""))


if __name__ == "__main__":
    sandbox.main()
