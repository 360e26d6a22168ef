"""No test drops out of a run without a word.

    tiers_test.py BUILD [--write]

Compares the ctest entries of a build with the list in tiers.txt: which there are, in how many shards, and in which
runs. Then asks each test program that several entries share for its cases: each must be run by exactly one entry, and
of the conformance suite the rows that `make test` has in part must have the suites that the list states.
--write accepts what the build has.
"""

import collections
import fnmatch
import json
import os
import pathlib
import re
import subprocess
import sys

LIST = pathlib.Path(__file__).with_name("tiers.txt")
HEADER = """\
# What each run of the tests must contain; tiers_test.py compares. After a change that is meant:
#     /usr/bin/python3 tests/roster/tiers_test.py build/dev --write
#
# change: `make test` and `make test-all`. release: `make test-all` alone. In `make test` also: sanitize, under both
# sanitizers; asan, under AddressSanitizer alone. Behind the name, the number of its shards.
"""
SUITES = """
# The conformance suites that `make test` runs over each row.
"""


def entries_of(build):
    """All ctest entries, as (name, command, labels, environment)."""
    text = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], check=True, capture_output=True,
                          text=True).stdout
    for test in json.loads(text)["tests"]:
        properties = {it["name"]: it["value"] for it in test.get("properties", [])}
        environment = dict(re.match(r"([^=]+)=(?:set|unset):(.*)", it, re.S).groups()
                           for it in properties.get("ENVIRONMENT_MODIFICATION", []))
        yield test["name"], test.get("command", []), properties.get("LABELS", []), environment


def summary(entries):
    """A line for each set of entries, without the numbers of its shards."""
    shards = collections.Counter()
    runs = {}
    for name, _, labels, environment in entries:
        if "GTEST_TOTAL_SHARDS" in environment:
            name = name.rsplit(".", 1)[0]
        shards[name] += 1
        tier = ["release" if "release" in labels else "change"]
        tier += [label for label in ("sanitize", "asan") if label in labels]
        if runs.setdefault(name, tier) != tier:
            raise SystemExit(f"the shards of {name} are in different runs")
    return [f"{' '.join(runs[name]):16} {name} {shards[name]}" for name in sorted(shards)]


def cases_of(program):
    """The names of all cases of a test program."""
    text = subprocess.run([program, "--gtest_list_tests"], check=True, capture_output=True, text=True).stdout
    suite = ""
    for line in text.splitlines():
        line = line.split("#")[0].rstrip()
        if line.startswith("  "):
            yield suite + line.strip()
        elif line.endswith("."):
            suite = line


def chosen(pattern, case):
    """Whether a filter of GoogleTest lets a case run."""
    wanted, _, unwanted = pattern.partition("-")
    hit = lambda patterns: any(fnmatch.fnmatchcase(case, it) for it in patterns.split(":") if it)
    return (hit(wanted) if wanted else True) and not hit(unwanted)


def filter_of(command):
    filters = [it.split("=", 1)[1] for it in command[1:] if it.startswith("--gtest_filter=")]
    return filters[0] if filters else "*"


def shared_programs(entries):
    """The test programs with a filter in some entry, each with its sets of entries: name, filter, tier, shards."""
    programs = collections.defaultdict(dict)
    for name, command, labels, environment in entries:
        total = int(environment.get("GTEST_TOTAL_SHARDS", 1))
        base = name.rsplit(".", 1)[0] if total > 1 else name
        sets = programs[command[0] if command else ""]
        shards = sets.setdefault(base, (filter_of(command), "release" in labels, total, set()))[3]
        shards.add(int(environment.get("GTEST_SHARD_INDEX", 0)))
    return {program: sets for program, sets in programs.items() if any(it[0] != "*" for it in sets.values())}


def faults_of(program, sets):
    """Cases of a program that no entry runs or that several do, entries without a case, and shards that are missing."""
    cases = list(cases_of(program))
    for case in cases:
        running = [name for name, it in sets.items() if chosen(it[0], case)]
        if len(running) != 1:
            yield f"{case} is run by {' and '.join(running) or 'no entry'}"
    for name, (pattern, _, total, indices) in sets.items():
        count = sum(chosen(pattern, it) for it in cases)
        if count < total:
            yield f"{name} has {count} cases for {total} shards"
        if indices != set(range(total)):
            yield f"{name} lacks shards: it has {sorted(indices)} of {total}"


def suites_of_rows(program, sets):
    """Which conformance suites `make test` runs over each row: all that there are, or a list."""
    there, usual = collections.defaultdict(set), collections.defaultdict(set)
    for case in cases_of(program):
        match = re.fullmatch(r"stores/(\w+)\.\w+/(\w+)", case)
        if not match:
            continue
        suite, row = match.groups()
        there[row].add(suite)
        if any(chosen(it[0], case) and not it[1] for it in sets.values()):
            usual[row].add(suite)
    return [f"{row}: {'all' if usual[row] == there[row] else ' '.join(sorted(usual[row]))}" for row in sorted(there)]


def main(build, write):
    entries = list(entries_of(build))
    programs = shared_programs(entries)
    faults = [fault for program, sets in programs.items() for fault in faults_of(program, sets)]
    conformance = [it for it in programs if os.path.basename(it) == "conformance_stores"]
    if len(conformance) != 1:
        raise SystemExit("the conformance suite has no entries")
    text = HEADER + "\n".join(summary(entries)) + "\n" + SUITES
    text += "\n".join(suites_of_rows(conformance[0], programs[conformance[0]])) + "\n"
    if write:
        LIST.write_text(text)
    stated = LIST.read_text()
    if stated != text:
        stated, found = set(stated.splitlines()), set(text.splitlines())
        faults += [f"stated in tiers.txt, not in the build: {it}" for it in sorted(stated - found)]
        faults += [f"in the build, not stated in tiers.txt: {it}" for it in sorted(found - stated)]
        faults += [f"tiers.txt is not in order; {HEADER.splitlines()[1].strip('# ')}"] * (stated == found)
    print("\n".join(faults) if faults else f"{len(entries)} entries, {len(programs)} programs that share them")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "--write" in sys.argv[2:]))
