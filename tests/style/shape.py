"""Sizes of files and functions, that every source is built, and that what newcomers read fits a window."""

import posixpath
import re

from tree import Finding, line_of, strip

RULE = "shape"

SOURCE_LINES = 300  # of the product
FILE_LINES = 450
EXAMPLE_LINES = 80
FUNCTION_LINES = 70
COLUMNS = 119  # of the pages for newcomers, tables aside

_PAGES = ("README.md", "docs/getting-started.md", "docs/migrating.md", "docs/building.md")

_SCOPE = re.compile(r"\b(?:namespace|class|struct|union|enum|extern)\b")


def functions(code):
    """(first line, last line) of each function of stripped code: the outermost braces that are neither a
    namespace nor a type, with what stands before them."""
    open_blocks = []  # (is a function, offset where it begins)
    start = 0
    for match in re.finditer(r"[{};]|^[ \t]*#[^\n]*", code, re.MULTILINE):
        mark = match.group(0)
        inside = any(block[0] for block in open_blocks)
        if mark == "{":
            head = code[start:match.start()]
            # `struct x final : y {` opens a type, `struct x make() {` and `template <class T> void f() {` do not.
            is_function = "(" in head and not re.match(r"\s*(?:\[\[.*?\]\]\s*)?(?:extern\s*\"|namespace\b)", head)
            is_function = is_function and not re.search(r"=\s*$", head) and not _is_type(head)
            begin = start + len(head) - len(head.lstrip())
            open_blocks.append((is_function and not inside, begin))
        elif mark == "}" and open_blocks:
            is_function, begin = open_blocks.pop()
            if is_function:
                yield line_of(code, begin), line_of(code, match.start())
        if not inside or mark in "{}":
            start = match.end()


def _is_type(head):
    head = re.sub(r"template\s*<[^{};]*?>\s*(?=class|struct|union)", "", head)
    head = re.sub(r"alignas\s*\([^)]*\)|__attribute__\s*\(\(.*?\)\)", "", head)
    found = re.match(r"\s*(?:class|struct|union|enum)\b[^()]*", head)
    return bool(found) and (found.end() == len(head) or ":" in found.group(0).replace("::", ""))


def _check_listed(tree, path):
    folder, name = posixpath.split(path)
    while True:
        listing = posixpath.join(folder, "CMakeLists.txt")
        if tree.exists(listing):
            relative = posixpath.relpath(path, folder or ".")
            # A program in examples/ or bench/ may be listed without its suffix.
            stem = relative.rsplit(".", 1)[0]
            pattern = rf"(?<![\w/.-])(?:{re.escape(relative)}|{re.escape(stem)})(?![\w/-])"
            if re.search(pattern, tree.text(listing)):
                return
        if not folder:
            break
        folder = posixpath.dirname(folder)
    yield Finding(path, 1, RULE, f"{name} is listed in no CMakeLists.txt and so never compiled")


def _check_width(tree, path):
    for number, line in enumerate(tree.text(path).split("\n"), 1):
        if len(line) > COLUMNS and not line.startswith("|"):
            yield Finding(path, number, RULE, f"{len(line)} columns; at most {COLUMNS}")


def check(tree):
    for path in filter(tree.exists, _PAGES):
        yield from _check_width(tree, path)
    for path in tree.cpp():
        text = tree.text(path)
        lines = text.count("\n")
        product = path.startswith(("src/", "include/"))
        most = EXAMPLE_LINES if path.startswith("examples/") else SOURCE_LINES if product else FILE_LINES
        if lines > most:
            yield Finding(path, lines, RULE, f"{lines} lines; a file has at most {most}")
        for first, last in functions(strip(text)):
            length = last - first + 1
            if length > FUNCTION_LINES:
                yield Finding(path, first, RULE, f"a function of {length} lines; at most {FUNCTION_LINES}")
        if path.endswith(".cpp"):
            yield from _check_listed(tree, path)
