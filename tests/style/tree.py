"""The source tree as the rules see it: files, findings, and C++ text without comments and strings."""

import pathlib
import re
import subprocess
from dataclasses import dataclass

CPP = (".cpp", ".hpp")


@dataclass(frozen=True, order=True)
class Finding:
    path: str
    line: int
    rule: str
    text: str

    def __str__(self):
        return f"{self.path}:{self.line}: [{self.rule}] {self.text}"


class Tree:
    """All files of the project below `root`, by their path from there. Text that is not UTF-8 is left out."""

    def __init__(self, root):
        self.root = pathlib.Path(root).resolve()
        self.files = sorted(self._list())
        self._text = {}

    def _list(self):
        # What git knows or would add: build folders are ignored by .gitignore. Without git (a release archive) all.
        listed = subprocess.run(
            ["git", "-C", str(self.root), "ls-files", "-co", "--exclude-standard", "-z"],
            capture_output=True, check=False)
        if listed.returncode == 0 and (self.root / ".git").exists():
            names = listed.stdout.decode().split("\0")
            return [name for name in names if name and (self.root / name).is_file()]
        return [path.relative_to(self.root).as_posix() for path in self.root.rglob("*")
                if path.is_file() and "build" not in path.relative_to(self.root).parts]

    def text(self, path):
        if path not in self._text:
            try:
                self._text[path] = (self.root / path).read_text(encoding="utf-8")
            except (UnicodeDecodeError, FileNotFoundError):  # binary, or removed meanwhile
                self._text[path] = ""
        return self._text[path]

    def cpp(self):
        return [path for path in self.files if path.endswith(CPP)]

    def exists(self, path):
        return (self.root / path).exists()


_TOKENS = re.compile(
    r"""
      (?P<comment>//[^\n]*|/\*.*?\*/)
    | (?P<raw>R"(?P<mark>[^()\\\s]*)\(.*?\)(?P=mark)")
    | (?P<include>^[ \t]*\#[ \t]*include[^\n]*)
    | (?P<string>"(?:\\.|[^"\\\n])*")
    | (?P<char>(?<![0-9a-zA-Z_])(?:u8|u|U|L)?'(?:\\.|[^'\\\n])+')
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE)


def strip(text, keep_strings=False):
    """C++ without comments and, unless kept, without the contents of strings. Lines stay where they are."""

    def replace(match):
        whole = match.group(0)
        lines = "\n" * whole.count("\n")
        if match.group("comment"):
            return lines or " "
        if match.group("include") or keep_strings:
            return whole
        return '""' + lines if match.group("raw") or match.group("string") else "' '"

    return _TOKENS.sub(replace, text)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1
