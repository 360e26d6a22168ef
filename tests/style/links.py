"""Links between the documents lead somewhere, files that they name are there, and every decision says when it was made and
whether it stands."""

import posixpath
import re
import urllib.parse

from tree import Finding, line_of

RULE = "links"

_FENCE = re.compile(r"^(```|~~~).*?^\1[ \t]*$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]*`")
_LINK = re.compile(r"!?\[[^\]]*\]\(\s*<?([^()\s<>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
# In capitals it stands for any name.
_NAMED = re.compile(r"`((?:[\w.-]+/)*(?![A-Z]+\.)[\w.-]+\.(?:cpp|hpp|py|lua|cmake|proto))`")
_PLACE = re.compile(r"`((?:src|tests|docs|include|tools|bench|cmake|examples|packaging|completions)/[\w./-]*)`")
_REFERENCE = re.compile(r"^\[[^\]]+\]:\s*(\S+)", re.MULTILINE)
_HEADING = re.compile(r"^#{1,6}[ \t]+(.*?)[ \t]*#*$", re.MULTILINE)


_STATUS = re.compile(r"# \d+\. .*\n\n(?:Accepted|Superseded by \[.*\]\(.*\)), \d{4}-\d\d-\d\d\.\n")


def _blank(match):
    return re.sub(r"[^\n]", " ", match.group(0))


def anchors(text):
    """The anchors that GitHub makes of the headings."""
    seen = {}
    for match in _HEADING.finditer(_FENCE.sub(_blank, text)):
        slug = re.sub(r"[^\w\- ]", "", re.sub(r"[`*]", "", match.group(1)).lower()).replace(" ", "-")
        count = seen.get(slug, 0)
        seen[slug] = count + 1
        yield f"{slug}-{count}" if count else slug


def _check_names(tree, path):
    """A source in backticks is one of the tree, named from the root, from the document, or by the end of its path."""
    text = _FENCE.sub(_blank, tree.text(path))
    for match in _NAMED.finditer(text):
        name = match.group(1)
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
        if beside not in tree.files and not any(f"/{each}".endswith(f"/{name}") for each in tree.files):
            yield Finding(path, line_of(text, match.start()), RULE, f"{name} is not there")
    for match in _PLACE.finditer(text):
        if not _NAMED.fullmatch(match.group(0)) and not tree.exists(match.group(1)):
            yield Finding(path, line_of(text, match.start()), RULE, f"{match.group(1)} is not there")


def check(tree):
    for path in tree.files:
        if not path.endswith(".md"):
            continue
        if path.startswith("docs/decisions/") and not _STATUS.match(tree.text(path)):
            yield Finding(path, 3, RULE, 'a decision has a line "Accepted, YYYY-MM-DD." or "Superseded by [N](FILE), …"')
        yield from _check_names(tree, path)
        text = _CODE.sub(_blank, _FENCE.sub(_blank, tree.text(path)))
        for pattern in (_LINK, _REFERENCE):
            for match in pattern.finditer(text):
                target = match.group(1)
                if re.match(r"[a-z][a-z0-9+.-]*:", target):
                    continue  # another site: not ours to try without a network
                name, _, anchor = urllib.parse.unquote(target).partition("#")
                other = posixpath.normpath(posixpath.join(posixpath.dirname(path), name)) if name else path
                line = line_of(text, match.start())
                if not tree.exists(other):
                    yield Finding(path, line, RULE, f"{target} is not there")
                elif anchor and other.endswith(".md") and anchor not in anchors(tree.text(other)):
                    yield Finding(path, line, RULE, f"{other} has no heading #{anchor}")
