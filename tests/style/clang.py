"""Clang compiles the command and base without a warning, and agrees with what is said about locks.

The product is built by GCC. Clang looks at other things, above all at which mutex guards what (-Wthread-safety): every
source that locks, or whose headers say what is guarded, is compiled too, wherever it is.
"""

import concurrent.futures
import os
import re
import shutil
import subprocess
import tempfile

from includes import _INCLUDE, resolve
from tree import Finding

RULE = "clang"

FOLDERS = ("src/base/", "src/cli/")
WARNINGS = "cmake/HoldfastWarnings.cmake"
COMPILERS = ("clang++-14", "clang++")
DRIVERS = ("libpq", "libmariadb")

_ANNOTATED = re.compile(r"base/thread_annotations\.hpp|base/mutex\.hpp|\bHOLDFAST_(?:GUARDED_BY|REQUIRES)|\bbase::(?:lock_guard|unique_lock)\b")
_WARNING = re.compile(r"^\s+(-W[a-z0-9=-]+)$", re.MULTILINE)
_MESSAGE = re.compile(r"^(?P<path>[^\s:][^:\n]*):(?P<line>\d+):\d+: (?:fatal )?error: (?P<text>.*)$", re.MULTILINE)


def _locks(tree, path):
    """Whether `path`, or a header of ours that it includes itself, says what is guarded or locks something."""
    if _ANNOTATED.search(tree.text(path)):
        return True
    included = (resolve(tree, path, quoted or None, angled or None) for quoted, angled in _INCLUDE.findall(tree.text(path)))
    return any(_ANNOTATED.search(tree.text(each)) for each in included if each)


def sources(tree):
    return [path for path in tree.cpp() if path.endswith(".cpp") and path.startswith(("src/", "tests/unit/")) and
            (path.startswith(FOLDERS) or _locks(tree, path))]


def options(tree):
    # Before the first condition the list is for every compiler.
    common = tree.text(WARNINGS).partition("$<$<CXX_COMPILER_ID")[0]
    return ["-std=c++20", "-fsyntax-only", "-Werror", "-Wthread-safety", *_WARNING.findall(common), "-Iinclude", "-Isrc",
            "-Isrc/cli", "-Itests", "-DHOLDFAST_BUILDING"]


def folders_of_drivers():
    """Where the headers of client libraries are that do not stand in the compiler's own folders."""
    found = subprocess.run(["pkg-config", "--cflags-only-I", *DRIVERS], capture_output=True, text=True, check=True)
    return [word.replace("-I", "-isystem", 1) for word in found.stdout.split()]


def make_messages(tree, folder):
    """The headers that the build makes of .proto files."""
    for path in sorted(tree.root.glob("src/**/*.proto")):
        subprocess.run(["protoc", f"--proto_path={path.parent}", f"--cpp_out={folder}", str(path)], check=True)


def _compile(compiler, tree, path, folders):
    run = subprocess.run([compiler, *options(tree), *folders, path], cwd=tree.root, capture_output=True, text=True, check=False)
    if run.returncode == 0:
        return None
    first = next((match for match in _MESSAGE.finditer(run.stderr)), None)
    if first is None:
        return Finding(path, 1, RULE, run.stderr.strip()[:500])
    place = first["path"] if tree.exists(first["path"]) and not first["path"].startswith("/") else path
    return Finding(place, int(first["line"]), RULE, f"{first['text']} (compiling {path})")


def check(tree):
    compiler = next(filter(None, map(shutil.which, COMPILERS)), None)
    if compiler is None:
        yield Finding("tools/setup", 1, RULE, "clang is not installed")
        return
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool, tempfile.TemporaryDirectory() as made:
        make_messages(tree, made)
        folders = ["-isystem" + made, *folders_of_drivers()]
        for found in pool.map(lambda path: _compile(compiler, tree, path, folders), sources(tree)):
            if found is not None:
                yield found
