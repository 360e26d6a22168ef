"""Which folder may include what: the direction of dependencies."""

import posixpath
import re

from tree import Finding, line_of, strip

RULE = "includes"

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)

# Code that several stores share. A store may use its family's, but not another store.
FAMILIES = {"src/stores/lease", "src/stores/compare", "src/stores/session", "src/stores/sql"}

# The folders of ours that each folder may use beside itself. `include/holdfast` is the public world.
PUBLIC = "include/holdfast"
ALLOWED = {
    "src/base": set(),
    "src/net": {"src/base"},
    "src/seam": {"src/base", PUBLIC},
    "src/core": {"src/base", "src/seam", PUBLIC},
    "src/runtime": {"src/base", "src/seam", "src/core", "src/stores/memory", PUBLIC},
    "src/api": {"src/base", "src/seam", "src/core", "src/runtime", PUBLIC},
    "src/cli": {"src/base", PUBLIC},
    PUBLIC: set(),
    "examples": {PUBLIC},
    # These see what a user sees. A helper that knows the inside has no place in them.
    "tests/conformance": {PUBLIC, "tests/support"},
    "tests/process": {PUBLIC, "tests/support"},
    "tests/redis": {PUBLIC, "tests/support"},
    "tests/histories": {PUBLIC, "tests/support", "tests/redis"},  # the bad network
}
STORE = {"src/base", "src/net", "src/seam", PUBLIC} | FAMILIES

# Single headers that a folder may use from elsewhere.
EXTRA = {"src/base": {"include/holdfast/error.hpp", "include/holdfast/export.hpp"}}

# Libraries of others, by the start of the header's name, and the places that may see them. The first match counts.
FOREIGN = {
    "boost/asio": ("src/runtime/", "src/stores/", "include/holdfast/asio", "include/holdfast/detail/asio", "tests/",
                   "bench/", "examples/"),
    "boost/": ("src/base/", "src/seam/", "src/core/", "src/runtime/", "src/stores/", "src/api/",
               "include/holdfast/asio", "include/holdfast/detail/asio", "tests/", "bench/", "examples/"),
    "openssl/ssl": ("src/net/tls.",),
    "libpq-fe.h": ("src/stores/postgres/", "tests/", "bench/"),
    "mysql.h": ("src/stores/mysql/", "tests/", "bench/"),
    "errmsg.h": ("src/stores/mysql/",),
    "sqlite3.h": ("src/stores/file/", "tests/", "bench/"),
    "grpc": ("src/stores/etcd/", "tests/", "bench/"),
    "zookeeper/": ("src/stores/zookeeper/", "tests/", "bench/"),
    "CLI/": ("src/cli/",),
    "fmt/": ("src/cli/", "tests/", "bench/"),
    "toml++/": ("src/cli/",),
    "nlohmann/": ("src/cli/", "tests/", "bench/"),
    "gtest/": ("tests/",),
    "gmock/": ("tests/",),
    "benchmark/": ("bench/",),
}

# What public headers use of the standard library, and where it comes from: other headers may cease to bring it.
STANDARD = {
    r"std::(?:move|exchange|swap|forward|pair)\b": "utility",
    r"std::string\b": "string",
    r"std::string_view\b": "string_view",
    r"std::(?:optional|nullopt)\b": "optional",
    r"std::(?:shared|unique)_ptr\b": "memory",
    r"std::u?int(?:8|16|32|64)_t\b": "cstdint",
    r"std::size_t\b": "cstddef",
    r"std::chrono\b": "chrono",
    r"std::stop_(?:token|source|callback)\b": "stop_token",
    r"std::function\b": "functional",
    r"std::vector\b": "vector",
    r"std::array\b": "array",
    r"std::span\b": "span",
    r"std::map\b": "map",
    r"std::exception_ptr\b": "exception",
    r"std::(?:convertible_to|same_as|invocable|derived_from)\b": "concepts",
    r"std::(?:unique_lock|lock_guard)\b": "mutex",
    r"std::cv_status\b": "condition_variable",
    r"std::(?:system_error|error_code|error_category)\b": "system_error",
}


def folder_of(path):
    parts = path.split("/")
    if path.startswith("src/stores/"):
        return "/".join(parts[:3])
    if path.startswith(("src/", "tests/", "include/")):
        return "/".join(parts[:2])
    return parts[0]


def resolve(tree, path, quoted, angled):
    """The file of ours that an include names, or None when it is not ours."""
    if angled is not None:
        return "include/" + angled if angled.startswith("holdfast/") else None
    here = posixpath.dirname(path)
    for base in (here, "src", "tests", "include", "src/cli"):
        candidate = posixpath.normpath(posixpath.join(base, quoted))
        if tree.exists(candidate):
            return candidate
    return ""


def _allowed(path, target):
    home, other = folder_of(path), folder_of(target)
    if home == other or target in EXTRA.get(home, ()):
        return True
    if home.startswith("src/stores/"):
        return other in STORE
    return home not in ALLOWED or other in ALLOWED[home]


def _foreign_allowed(path, name):
    places = next((places for start, places in FOREIGN.items() if name.startswith(start)), None)
    if places is not None:
        return path.startswith(places)
    # The standard library has neither a directory nor a suffix. Sources may also use the system's headers.
    return not path.startswith(PUBLIC) or bool(re.fullmatch(r"[a-z0-9_]+", name))


def _forgotten(tree, path):
    text = tree.text(path)
    code = strip(text)
    for pattern, header in STANDARD.items():
        used = re.search(pattern, code)
        if used and f"#include <{header}>" not in text:
            yield Finding(path, line_of(code, used.start()), RULE, f"{used.group(0)} needs <{header}>")


def check(tree):
    for path in tree.cpp():
        if path.startswith("tests/package/"):
            continue  # programs of strangers: nothing of ours but what is installed
        if path.startswith(PUBLIC):
            yield from _forgotten(tree, path)
        text = tree.text(path)
        for match in _INCLUDE.finditer(text):
            quoted, angled = match.groups()
            line = text.count("\n", 0, match.start()) + 1
            target = resolve(tree, path, quoted, angled)
            if target == "":
                yield Finding(path, line, RULE, f'"{quoted}" names no file of the project')
            elif target is not None:
                if not _allowed(path, target):
                    yield Finding(path, line, RULE, f"{folder_of(path)} must not depend on {target}")
                elif path.startswith(PUBLIC) and quoted is not None:
                    yield Finding(path, line, RULE, "public headers include each other as <holdfast/...>")
            elif not _foreign_allowed(path, angled):
                yield Finding(path, line, RULE, f"<{angled}> must not be seen by {folder_of(path)}")
