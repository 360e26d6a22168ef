"""Holds the source tree against the rules.

    check.py [--root DIR] [RULE...]      rules: includes calls locks leftovers shape links snippets
                                         formatting surface clang
"""

import argparse
import pathlib
import sys

import calls
import clang
import formatting
import includes
import leftovers
import links
import locks
import public_surface
import shape
import snippets
from tree import Tree

RULES = {module.RULE: module for module in
         (includes, calls, locks, leftovers, shape, links, snippets, formatting, public_surface, clang)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("rules", nargs="*", metavar="RULE")
    arguments = parser.parse_args()
    unknown = set(arguments.rules) - set(RULES)
    if unknown:
        parser.error(f"unknown rules: {', '.join(sorted(unknown))}")

    tree = Tree(arguments.root)
    if not tree.cpp():
        print(f"no sources below {tree.root}", file=sys.stderr)
        return 1
    findings = sorted(finding for name in arguments.rules or RULES for finding in RULES[name].check(tree))
    for finding in findings:
        print(finding)
    print(f"{len(tree.files)} files, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
