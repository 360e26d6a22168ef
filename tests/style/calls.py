"""Calls that have a home: time, sleep and randomness are passed in everywhere else."""

import re

from tree import Finding, line_of, strip

RULE = "calls"

# What is looked for, where it is forbidden, where it is at home nevertheless, and why.
CALLS = [
    (r"\b(?:sleep_for|sleep_until|usleep|nanosleep|clock_nanosleep)\b|(?<![\w.>])sleep\s*\(",
     ("include/", "src/", "tests/simulation/"), ("src/runtime/", "src/base/pause."),
     "only src/runtime sleeps"),
    (r"\b(?:system|steady|high_resolution|utc|file)_clock\s*::\s*now\b"
     r"|\b(?:clock_gettime|gettimeofday|timespec_get|std::clock)\s*\(|(?<![\w.>])time\s*\(\s*(?:nullptr|NULL|0|&)",
     ("include/", "src/", "tests/simulation/"), ("src/base/",),
     "only src/base reads a clock"),
    (r"\brandom_device\b|(?<![\w:.>])s?rand\s*\(|\bstd::s?rand\s*\(|\bgetrandom\s*\(|\bgetentropy\s*\(",
     ("include/", "src/", "tests/simulation/"), ("src/base/",),
     "only src/base asks for randomness"),
    (r"\bboot_clock\s*::\s*now\b|\bwall_microseconds\s*\(|\bentropy\s*\(",
     ("src/core/", "src/seam/", "src/stores/lease/", "tests/simulation/"), (),
     "machines are given time and randomness"),
]
_COMPILED = [(re.compile(pattern), scope, homes, why) for pattern, scope, homes, why in CALLS]


def check(tree):
    for path in tree.cpp():
        code = None
        for pattern, scope, homes, why in _COMPILED:
            if not path.startswith(scope) or path.startswith(homes):
                continue
            code = strip(tree.text(path)) if code is None else code
            for match in pattern.finditer(code):
                word = match.group(0).strip(" (")
                yield Finding(path, line_of(code, match.start()), RULE, f"{word}: {why}")
