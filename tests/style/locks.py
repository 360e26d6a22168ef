"""Who may lock what: a mutex belongs to the class that has it."""

import re

from tree import Finding, line_of, strip

RULE = "locks"

# A function that hands out a mutex, for others to lock. The one of hold_state is private: it picks one of a few.
_HANDED_OUT = re.compile(r"\b(?:\w+::)*(?:recursive_|timed_|shared_)?mutex\s*(?:const\s*)?[&*]\s*(?:\w+::)*\w+\s*\(")
_HAND_OUT = ("src/core/hold_state.", "src/base/mutex.")

# The loop's mutex, by whatever way one comes to it. Who needs the engine's state asks the loop, which locks.
_LOOPS = re.compile(r"\bengine_runner\b|\brunner_?\s*(?:\.|->)\s*mutex\b|\bloop(?:_|\s*\(\s*\))?\s*(?:\.|->)\s*mutex\b")
_LOOPS_HOME = ("src/runtime/", "tests/unit/")


# Clang follows base::mutex only. These hold a mutex over a fork, so that one function locks it and another unlocks it, or pick one
# out of many, which it cannot follow.
_PLAIN = re.compile(r"\bstd::(?:mutex|lock_guard|scoped_lock|condition_variable)\b")
_PLAIN_HOMES = ("src/base/mutex.hpp", "src/core/hold_state.", "src/stores/file/file_access", "src/stores/file/forks.")


def check(tree):
    for path in tree.cpp():
        if not path.startswith(("src/", "include/", "tests/", "bench/", "examples/")):
            continue
        code = strip(tree.text(path), keep_strings=True)
        if not path.startswith(_LOOPS_HOME):
            for match in _LOOPS.finditer(code):
                yield Finding(path, line_of(code, match.start()), RULE,
                              f"{match.group(0)}: only src/runtime locks the loop's mutex")
        if path.startswith("src/") and not path.startswith(_PLAIN_HOMES):
            for match in _PLAIN.finditer(code):
                yield Finding(path, line_of(code, match.start()), RULE,
                              f"{match.group(0)}: base::mutex and its guards are those that Clang can follow")
        if path.startswith("src/") and not path.startswith(_HAND_OUT):
            for match in _HANDED_OUT.finditer(code):
                yield Finding(path, line_of(code, match.start()), RULE,
                              "a class hands out no mutex, but a function that does the work under it")
