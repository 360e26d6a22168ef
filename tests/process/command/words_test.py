"""Help, man page and completion know the same commands and options.

    words_test.py PATH-OF-HOLDFAST   (the man page and the completion are found beside the tests)
"""

import pathlib
import re
import subprocess

import sandbox

ROOT = pathlib.Path(__file__).resolve().parents[3]
OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z-]+)")
SCHEMES = {"file:", "redis://", "rediss://", "redis+unix:", "redis+sentinel://", "redis+cluster://", "etcd://", "etcds://",
           "postgres://", "mysql://", "zookeeper://", "quorum+redis://", "quorum+rediss://",
           "quorum+mysql://", "quorum+postgres://"}


class Words(sandbox.Sandbox):
    def help(self, *words):
        status, stdout, _ = self.run_to_end(*words, "--help")
        self.assertEqual(status, 0)
        return stdout

    def options(self, *words):
        """Those that stand at the beginning of a line: not those of examples."""
        return set(re.findall(r"^  (?:-\w,)?(--[a-z-]+)", self.help(*words), re.MULTILINE))

    def commands(self):
        section = self.help().split("Commands:\n")[1].split("\n\n")[0]
        return re.findall(r"^  (\w+) ", section, re.MULTILINE)

    def all_options(self):
        return self.options().union(*(self.options(command) for command in self.commands()))

    def test_help_lists_the_commands(self):
        self.assertEqual(self.commands(), ["run", "lock", "unlock", "elect", "leader", "latch", "barrier", "list",
                                           "show", "evict", "schema", "bench", "help"])
        self.assertIn("--no-wait", self.options("run"))
        for command in self.commands():
            self.assertIn("Examples:", self.help(command))

    def test_man_page(self):
        page = (ROOT / "man/holdfast.1").read_text(encoding="utf-8").replace("\\-", "-")
        described = set()
        for line in re.findall(r"^\.TP\n(.*)$", page, re.MULTILINE):
            described |= set(OPTION.findall(line))
        self.assertEqual(described, self.all_options())
        for command in self.commands():
            self.assertRegex(page, rf"(?m)^\.SH .*{command.upper()}")
        for status in ("1", "64", "69", "70", "71", "75", "76", "126", "127"):
            self.assertRegex(page, rf"(?m)^{status}\t")

    def complete(self, *words):
        script = f'. {ROOT / "completions/holdfast.bash"}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); ' \
                 '_holdfast; printf "%s\\n" "${COMPREPLY[@]}"'
        environment = {**self.environment, "PATH": f"{pathlib.Path(sandbox.holdfast).parent}:/usr/bin:/bin"}
        result = subprocess.run(["bash", "-c", script, "bash", "holdfast", *words], env=environment, check=True,
                                capture_output=True, text=True, timeout=sandbox.PATIENCE)
        return set(result.stdout.split())

    def run_shell(self, *command):
        environment = {**self.environment, "PATH": f"{pathlib.Path(sandbox.holdfast).parent}:/usr/bin:/bin"}
        return subprocess.run(command, env=environment, check=True, capture_output=True, text=True,
                              timeout=sandbox.PATIENCE, cwd=self.folder).stdout.splitlines()

    # zsh offers what it is given by these; the last word is what is being typed.
    ZSH = """
        compadd() { while [[ $1 == -* ]]; do [[ $1 == -- ]] && { shift; break }; shift; done; print -rl -- "$@" }
        _describe() { print -rl -- "${(@P)2%%:*}" }
        _normal() { print -r -- "program $words[CURRENT]" }
        words=(holdfast "$@"); CURRENT=$#words
        """

    def complete_in_zsh(self, *words):
        return set(self.run_shell("zsh", "-f", "-c", f'{self.ZSH} source {ROOT / "completions/_holdfast"}', "zsh", *words))

    def complete_in_fish(self, *words):
        """Those that begin with the last word, as fish itself chooses them."""
        script = f'source {ROOT / "completions/holdfast.fish"}; complete -C "holdfast {" ".join(words)}"'
        return {line.split("\t")[0] for line in self.run_shell("fish", "--no-config", "-c", script)}

    def test_completion_in_other_shells(self):
        holder = self.hold("orders/42")
        configuration = self.folder / ".config/holdfast/config.toml"
        configuration.parent.mkdir(parents=True)
        configuration.write_text('[stores]\nprod = "file:/a"\n', encoding="utf-8")
        stores = SCHEMES | {"prod"}
        for complete in (self.complete_in_zsh, self.complete_in_fish):
            with self.subTest(shell=complete.__name__):
                self.assertEqual(complete(""), set(self.commands()))
                self.assertEqual(complete("--"), self.options())
                for command in self.commands():
                    self.assertEqual(complete(command, "--"), self.options(command), command)
                self.assertEqual(complete("run", "--store", ""), stores)
                self.assertEqual(complete("bench", "--store", ""), stores | {"memory:"})
                self.assertEqual(complete("run", "--on-lost", ""), {"term", "kill", "ignore"})
                self.assertEqual(complete("--patience", "2s", "show", ""), {"orders/42"})
                self.assertLessEqual({"run", "help"}, complete("help", ""))
        self.assertEqual(self.complete_in_zsh("run", "x", "--", "tru"), {"program tru"})
        self.assertIn("true", self.complete_in_fish("run", "x", "--", "tru"))
        self.let_go(holder)

    def test_completion(self):
        self.assertEqual(self.complete(""), set(self.commands()))
        self.assertEqual(self.complete("--"), self.options())
        for command in self.commands():
            with self.subTest(command=command):
                self.assertEqual(self.complete(command, "--"), self.options(command))
        self.assertEqual(self.complete("--store", ""), SCHEMES)
        self.assertEqual(self.complete("bench", "--store", ""), SCHEMES | {"memory:"})
        configuration = self.folder / ".config/holdfast/config.toml"
        configuration.parent.mkdir(parents=True)
        configuration.write_text('default = "b"\n[stores]\nprod = "file:/a"\n b="file:/b"\n', encoding="utf-8")
        self.assertEqual(self.complete("run", "--store", ""), SCHEMES | {"prod", "b"})
        self.assertEqual(self.complete("--store", "pr"), {"prod"})
        self.assertEqual(self.complete("run", "--on-lost", ""), {"term", "kill", "ignore"})
        self.assertEqual(self.complete("bench", "--mode", "f"), {"fair"})
        self.assertIn("true", self.complete("run", "x", "--", "tru"))
        self.assertIn("run", self.complete("help", "r"))
        self.assertIn("true", self.complete("elect", "x", "--value", "a", "--", "tru"))

    def test_completion_of_names(self):
        holder = self.hold("orders/42")
        self.assertEqual(self.complete("show", "ord"), {"orders/42"})
        self.let_go(holder)


if __name__ == "__main__":
    sandbox.main()
