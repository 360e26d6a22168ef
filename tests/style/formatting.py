"""All C++ is laid out by .clang-format."""

import re
import shutil
import subprocess

from tree import Finding

RULE = "formatting"

_MESSAGE = re.compile(r"^(.*?):(\d+):\d+: error: code should be clang-formatted", re.MULTILINE)


def check(tree):
    tool = shutil.which("clang-format")
    if tool is None:
        yield Finding(".clang-format", 1, RULE, "clang-format is not installed")
        return
    paths = tree.cpp()
    if not paths:
        return
    result = subprocess.run([tool, "--dry-run", "-Werror", "--style=file", *paths], cwd=tree.root,
                            capture_output=True, text=True, check=False)
    first = {}
    for path, line in _MESSAGE.findall(result.stderr):
        first.setdefault(path, int(line))
    for path, line in first.items():
        yield Finding(path, line, RULE, "not formatted; `make format` does it")
    if result.returncode != 0 and not first:
        yield Finding(".clang-format", 1, RULE, result.stderr.strip()[:500])
