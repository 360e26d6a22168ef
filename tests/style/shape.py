"""Sizes of files, functions and classes, that every source is built, and that what newcomers read fits a window."""

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
CLASS_FUNCTIONS = 35  # declared in one class of src
# Larger ones, half of whose functions are those of an interface, or from before the rule: they may shrink, not grow.
LARGE_CLASSES = {"src/stores/compare/working_copy.hpp": 48, "src/stores/redis/connection.hpp": 40,
                 "src/stores/redis/link.hpp": 39, "src/stores/lease/rules.hpp": 42, "src/stores/memory/memory_ledger.hpp": 40,
                 "src/stores/file/file_ledger.hpp": 39}

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


_NO_FUNCTION = re.compile(r"\s*(?:using|friend|typedef|static_assert)\b|\s*,|.*=\s*(?:default|delete)\s*$", re.DOTALL)


def _declares_function(head):
    """Whether a declaration in a class body, up to its `;` or first `{`, is one of a function."""
    head = re.sub(r"\[\[.*?\]\]|\b(?:public|protected|private)\s*:(?!:)|\b[A-Z][A-Z0-9_]+\s*\([^()]*\)", " ", head)
    head = re.sub(r"\b(?:alignas|decltype|explicit|noexcept)\s*\([^()]*\)", " ", head)
    if _NO_FUNCTION.match(head):
        return False
    while (less := re.sub(r"<[^<>]*>", "", head)) != head:  # std::function<void()> is no function
        head = less
    return "(" in head.split("=")[0] or "operator" in head


def classes(code):
    """(line, name, number of functions) of each class of stripped code. What is defaulted or deleted does not count."""
    blocks = []  # [name of a type or None, line, functions]
    start = 0
    for match in re.finditer(r"[{};]|^[ \t]*#[^\n]*", code, re.MULTILINE):
        mark = match.group(0)
        head = code[start:match.start()]
        own = blocks[-1] if blocks else None
        if mark in "{;" and own and own[0] and _declares_function(head) and not (mark == "{" and _is_type(head)):
            own[2] += 1
        if mark == "{":
            is_type = _is_type(head) and "enum" not in head
            name = re.search(r"(?:class|struct|union)\s+(?:\[\[.*?\]\]\s*|[A-Z_]+(?:\(.*?\))?\s+)*([\w:]+)",
                             head) if is_type else None
            blocks.append([name.group(1) if name else None, line_of(code, match.start()), 0])
        elif mark == "}" and blocks:
            name, line, functions_in_it = blocks.pop()
            if name:
                yield line, name, functions_in_it
        start = match.end()


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
        if path.startswith("src/"):
            most = LARGE_CLASSES.get(path, CLASS_FUNCTIONS)
            for line, name, count in classes(strip(text)):
                if count > most:
                    yield Finding(path, line, RULE, f"{name} has {count} functions; a class has at most {most}")
        if path.endswith(".cpp"):
            yield from _check_listed(tree, path)
