"""The public surface: what the headers declare, without comments and layout, frozen in public_surface.txt.

    public_surface.py            compare
    public_surface.py --write    accept the headers as they are
"""

import argparse
import difflib
import pathlib
import re
import sys

from tree import Finding, Tree, strip

RULE = "surface"
SNAPSHOT = "tests/style/public_surface.txt"
HEADERS = "include/holdfast/"


def _declarations(code):
    """Cuts code into declarations. Only the braces of a namespace or a type open a level of their own; those of a
    function body or an initializer stay in their declaration."""
    begin = nesting = 0
    for at, mark in enumerate(code):
        if mark in "([{":
            if mark == "{" and nesting == 0 and _OPENS.match(code, begin, at):
                yield code[begin:at + 1].strip()
                begin = at + 1
            else:
                nesting += 1
        elif mark in ")]" or (mark == "}" and nesting > 0):
            nesting -= 1
            # The end of a function body ends its declaration; an initializer is followed by one of these.
            if mark == "}" and nesting == 0 and not re.match(r"\s*[;,{.)]", code[at + 1:at + 3]):
                yield code[begin:at + 1].strip()
                begin = at + 1
        elif nesting == 0 and (mark == "}" or mark == ";" or _LABEL.match(code, begin, at + 1)):
            yield code[begin:at + 1].strip()
            begin = at + 1
    yield code[begin:].strip()


_OPENS = re.compile(r"\s*(?:inline |template <[^{;]*> )?(?:namespace|class|struct|union)\b[^(]*\Z")
_LABEL = re.compile(r"\s*(?:public|protected|private):(?!:)\Z")


def normalized(text):
    """One declaration per line, so that neither a comment nor a line break makes a difference."""
    lines, rest = [], []
    for line in re.sub(r"\\\n", " ", strip(text, keep_strings=True)).split("\n"):
        (lines if line.lstrip().startswith("#") else rest).append(" ".join(line.split()))
    lines = [line for line in lines if line != "#pragma once"]
    code = re.sub(r"(?<=[(\[<]) | (?=[)\],;])", "", " ".join(line for line in rest if line))
    depth = 0
    hidden = None  # the depth of a namespace detail: no promise is made about it
    for line in _declarations(re.sub(r"\}\s+;", "};", code)):
        if line.startswith("}"):
            depth -= 1
        opens = line.endswith("{") and bool(_OPENS.match(line[:-1]))
        if hidden is None and opens and line.startswith("namespace detail"):
            hidden = depth
        if hidden is None and line == ";":
            lines[-1] += line
        elif hidden is None and line:
            lines.append("  " * (depth - bool(_LABEL.match(line))) + _without_body(line))
        elif line.startswith("}") and depth == hidden:
            hidden = None
        depth += opens
    return lines


def _without_body(line):
    """What a function of a header does is not what it promises."""
    if not line.endswith("}") or line == "}":
        return line
    nesting = 0
    for at in range(len(line) - 1, -1, -1):
        nesting += (line[at] == "}") - (line[at] == "{")
        if nesting == 0:
            return line[:at] + "{...}"
    return line


def surface(tree):
    out = []
    for path in tree.files:
        # detail/ is visible to the compiler only: no promise is made about it.
        if path.startswith(HEADERS) and path.endswith(".hpp") and "/detail/" not in path:
            out += [f"=== {path[len('include/'):]}", *normalized(tree.text(path)), ""]
    return "\n".join(out)


def check(tree):
    frozen = tree.text(SNAPSHOT) if tree.exists(SNAPSHOT) else ""
    now = surface(tree)
    if frozen == now:
        return
    difference = list(difflib.unified_diff(frozen.split("\n"), now.split("\n"), "frozen", "now", lineterm="", n=1))
    shown = "\n".join(difference[:60])
    yield Finding(SNAPSHOT, 1, RULE, f"the public headers differ; `make surface` accepts them\n{shown}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    tree = Tree(arguments.root)
    if arguments.write:
        (tree.root / SNAPSHOT).write_text(surface(tree), encoding="utf-8")
        return 0
    findings = list(check(tree))
    print("\n".join(map(str, findings)) or "the public surface is as it was frozen")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
