"""Tables, in Markdown, of what was measured."""

import re
import statistics

import plots
from workloads import WORKLOADS

OURS = "holdfast"


class Row:
    """What was measured of one library, or one form of it, at one workload."""

    def __init__(self, name, workload, runs):
        self.name, self.workload = name, workload
        self.rounds = len(runs)
        self.runs = runs  # None where it failed
        self.values = sorted(run[workload.counted] for run in runs if run)

    @property
    def is_ours(self):
        return self.name.split(",")[0] == OURS

    def median(self, what=None):
        return statistics.median(run[what or self.workload.counted] for run in self.runs if run)

    def sent(self):
        """Commands that clients send for each pair: of what the server counted, what scripts have not called."""
        runs = [run for run in self.runs if run]
        total = lambda which, name: sum(run[which].get(name, 0) for run in runs)
        share = lambda name: total("sent", name) / total("called", name) if total("called", name) else 0
        return statistics.median(sum(count * share(name) for name, count in run["calls"].items()) for run in runs)

    def ratios(self, ours):
        """Ours to this one's, by rounds; more than 1 is better for us."""
        at = self.workload.counted
        both = [(a[at], b[at]) for a, b in zip(ours.runs, self.runs) if a and b and a[at] and b[at]]
        return sorted(b / a if self.workload.less_is_better else a / b for a, b in both)


def rows_of(all_of_it, key):
    """The rows of one workload, the best first."""
    workload = WORKLOADS[key]
    rows = [Row(name, workload, runs) for name, runs in all_of_it["results"].get(key, {}).items()]
    return sorted((row for row in rows if row.values), key=Row.median, reverse=not workload.less_is_better)


def measured(all_of_it):
    """The workloads of which there is something to show."""
    return [key for key in all_of_it["results"] if rows_of(all_of_it, key)]


def short(number):
    """Three digits that count."""
    if number >= 100 or number == 0:
        return f"{number:,.0f}"
    return f"{number:.1f}" if number >= 10 else f"{number:.2f}"


def spread(values):
    return f"{short(values[0])} to {short(values[-1])}"


def versus(row, ours):
    if ours is None or row.is_ours:
        return ""
    ratios = row.ratios(ours)
    if not ratios:
        return "it has none" if row.median() == 0 else ""
    middle = statistics.median(ratios)
    return f"{short(middle)} ({spread(ratios)})" + (", **lost**" if middle < 1 else "")


def reference(rows):
    """The row of ours that the others are held against: the form that does what they do."""
    return next((row for row in rows if row.name in (OURS, f"{OURS}, acquire + release", f"{OURS}, coroutines")), None)


def table(all_of_it, key):
    workload, rows = WORKLOADS[key], rows_of(all_of_it, key)
    ours = reference(rows)
    by_changes, costs = workload.counted == "changes", workload.counted != "ms"
    head = ["library", f"{workload.unit} (spread)", "ours to its (spread)"]
    head += ["pairs/s"] * by_changes + ["commands", "bytes", "server µs"] * costs
    lines = [head, ["---"] * len(head)]
    for row in rows:
        name = f"**{row.name}**" if row.is_ours else row.name
        failed = row.rounds - len(row.values)
        cells = [name + (f" ({failed} of {row.rounds} runs failed)" if failed else ""), f"{short(row.median())} ({spread(row.values)})", versus(row, ours)]
        if by_changes:
            cells.append(short(row.median("pairs")))
        if costs:
            cells += [f"{row.sent():.2f}", short(row.median("bytes")), short(row.median("cpu"))]
        lines.append(cells)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines) + "\n"


def circumstances(all_of_it):
    where = "clients and server on one core" if all_of_it["one_core"] else "the server pinned to core 0, the clients to core 1"
    text = (f"Measured on {all_of_it['system']}, {all_of_it['cores']} virtual cores of one machine, Redis {all_of_it['server']} over 127.0.0.1, {where}. "
            f"{all_of_it['rounds']} rounds of {all_of_it['seconds']:g} s for each row, by turns, in {all_of_it['minutes']} minutes; medians, and the spread over the rounds. Versions: "
            + ", ".join(f"{re.sub(r' [0-9]$', '', name)} {version}" for name, version in all_of_it["versions"].items()) + ".")
    if all_of_it["missing"]:
        text += " Not measured: " + ", ".join(all_of_it["missing"]) + "."
    return text + "\n"


def picture(key, plots_at):
    return f"![{WORKLOADS[key].title}]({plots_at}/peers-{key}.svg)\n"


def pictures(all_of_it, plots_at):
    """Of what is asked of a lock most: alone, at many names, between processes."""
    return [picture(key, plots_at) for key in ("one", "many", "processes") if key in measured(all_of_it)]


def sections(all_of_it, plots_at):
    """A heading, a remark, a table and a plot for each workload."""
    for key in measured(all_of_it):
        workload = WORKLOADS[key]
        parts = [f"### {workload.title}\n", table(all_of_it, key), picture(key, plots_at)]
        if workload.remark:
            parts.insert(1, workload.remark + "\n")
        yield "\n".join(parts)


def summary(all_of_it):
    """One table: what each library is counted by, at every workload."""
    keys = measured(all_of_it)
    head = {"one": "1 owner, pairs/s", "many": "256 owners, pairs/s", "threads": "64 threads, owner changes/s",
            "processes": "8 processes, owner changes/s", "quorum": "quorum of 5, pairs/s", "fair": "fair, owner changes/s", "start": "start to first pair, ms"}
    cells = {}
    for key in keys:
        best = {}
        for row in rows_of(all_of_it, key):  # the best form of each library
            if row.name != f"{OURS}, lock + unlock":
                best.setdefault(row.name.split(",")[0], row.median())
        for name, value in best.items():
            winner = min(best.values()) if WORKLOADS[key].less_is_better else max(best.values())
            cells.setdefault(name, {})[key] = f"**{short(value)}**" if value == winner else short(value)
    lines = [["library"] + [head[key] for key in keys], ["---"] * (len(keys) + 1)]
    lines += [[name] + [cells.get(name, {}).get(key, "none") for key in keys] for name in all_of_it["versions"]]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def draw(all_of_it, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for key in measured(all_of_it):
        workload = WORKLOADS[key]
        marks = [(row.name, row.values[0], row.median(), row.values[-1], row.is_ours) for row in rows_of(all_of_it, key)]
        (folder / f"peers-{key}.svg").write_text(plots.plot(workload.title, workload.unit, marks, short))


def write(all_of_it, folder):
    draw(all_of_it, folder / "plots")
    text = "\n".join([circumstances(all_of_it), summary(all_of_it), *sections(all_of_it, "plots")])
    (folder / "peers.md").write_text(text)
    print(text)


def put_into_documents(all_of_it, docs):
    """Replaces what stands between the marks."""
    draw(all_of_it, docs / "plots")
    texts = {"performance.md": "\n".join([circumstances(all_of_it), *sections(all_of_it, "plots")]),
             "comparison.md": "\n".join([circumstances(all_of_it), summary(all_of_it), *pictures(all_of_it, "plots")])}
    for name, text in texts.items():
        page = docs / name
        marked = re.compile(r"(<!-- tools/bench_peers writes this -->\n).*?(<!-- to here -->)", re.DOTALL)
        new, count = marked.subn(lambda match: f"{match.group(1)}\n{text}\n{match.group(2)}", page.read_text())
        if count != 1:
            raise SystemExit(f"{page} has no place for the results")
        page.write_text(new)
