"""Code in the documents is code of the tree: what the build compiles, a reader can copy.

A fenced block whose info string names a file, as in ```cpp examples/quick_start.cpp, is an extract of that file: its
lines stand there in one piece, at any indentation. A line that holds only an ellipsis (// …, # …) leaves lines out.
Every block of C++ must name its file.
"""

import re
import textwrap

from tree import Finding, line_of

RULE = "snippets"

_BLOCK = re.compile(r"^```[ \t]*(\w+)[ \t]*([^\n`]*)\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
_GAP = re.compile(r"^[ \t]*(?://|#)[ \t]*(?:…|\.\.\.)[ \t]*$", re.MULTILINE)
_CPP = {"cpp", "c++", "cc", "cxx", "hpp", "C++"}


def _lines(text):
    return [line.rstrip() for line in textwrap.dedent(text).strip("\n").split("\n")]


def find(piece, source, start):
    """The line behind the piece in the source, from `start` on; None when it is not there."""
    for at in range(start, len(source) - len(piece) + 1):
        if _lines("\n".join(source[at:at + len(piece)])) == piece:
            return at + len(piece)
    return None


def check(tree):
    for path in tree.files:
        if not path.endswith(".md"):
            continue
        text = tree.text(path)
        for match in _BLOCK.finditer(text):
            language, name, body = match.group(1), match.group(2).strip(), match.group(3)
            line = line_of(text, match.start())
            if not name:
                if language in _CPP:
                    yield Finding(path, line, RULE, "a block of C++ that names no file: nothing compiles it")
                continue
            if not tree.exists(name):
                yield Finding(path, line, RULE, f"{name} is not there")
                continue
            source = tree.text(name).split("\n")
            at = 0
            for piece in filter(None, (part.strip("\n") for part in _GAP.split(body))):
                at = find(_lines(piece), source, at)
                if at is None:
                    first = piece.strip().split("\n")[0]
                    yield Finding(path, line, RULE, f"{name} has no such lines in this order: {first!r} and what follows")
                    break
