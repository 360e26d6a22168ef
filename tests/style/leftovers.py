"""Things that must not stay behind in the tree: marks of unfinished work, dead tests, paths of one machine."""

import re

from tree import Finding, line_of

RULE = "leftovers"

PATTERNS = [
    (re.compile(r"\b(?:TODO|FIXME|XXX|HACK)\b"), "a mark of unfinished work"),
    (re.compile(r"^[ \t]*#[ \t]*if[ \t]+0\b", re.MULTILINE), "code that is never compiled"),
    (re.compile(r"\b(?:DISABLED_\w*|GTEST_SKIP\b)"), "a test that does not run"),
    (re.compile(r"(?<![\w.~*)}-])/(?:work|home|root)/[\w.]"), "a path of one machine"),
    (re.compile(r"^(?:<{7}|>{7}|={7})(?: |$)", re.MULTILINE), "a merge that was not finished"),
    (re.compile(r"[ \t]+$", re.MULTILINE), "blanks at the end of a line"),
]

# The rules name what they forbid; the licence is quoted as it is.
EXEMPT = ("tests/style/", "LICENSE")


def check(tree):
    for path in tree.files:
        if path.startswith(EXEMPT):
            continue
        text = tree.text(path)
        for pattern, why in PATTERNS:
            for match in pattern.finditer(text):
                yield Finding(path, line_of(text, match.start()), RULE, f"{match.group(0).strip()!r}: {why}")
        if text and not text.endswith("\n"):
            yield Finding(path, text.count("\n") + 1, RULE, "no end of line at the end of the file")
