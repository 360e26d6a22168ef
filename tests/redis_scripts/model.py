"""The rules of src/stores/lease in Python, without any storage: what the scripts must answer at a given moment."""

from dataclasses import dataclass, field

from store import CONDITION, EXCLUSIVE, PERMITS, SHARED

DEAD_HOLDER = "its lease ended without a renewal"
DEAD_WAITER = "the waiter did not show that it is alive within its lease"
DAY = 86_400_000_000


@dataclass
class Entry:
    claim: object
    mode: int
    permits: int
    since: int
    began: int
    expires: int
    held: bool = False
    kept: bool = False
    number: int = 0

    @property
    def id(self):
        return self.claim.id


@dataclass
class Name:
    kind: int
    declared: int
    current: int
    used: int = 0
    shared: bool = False
    keep_until: int = 0
    holders: dict = field(default_factory=dict)
    line: list = field(default_factory=list)

    def empty(self, now):
        return not self.holders and not self.line and self.keep_until <= now

    def fits(self, mode, permits):
        if mode == PERMITS:
            return self.used + permits <= self.current
        return not self.holders or (mode == SHARED and self.shared)

    def soonest(self):
        return min(self.holders.values(), key=lambda it: (it.expires, it.id), default=None)

    def find(self, id):
        return self.holders.get(id) or next((it for it in self.line if it.id == id), None)

    def count(self, entry, by):
        if entry.mode == PERMITS:
            self.used += by * entry.permits
        if by > 0:
            self.shared = entry.mode == SHARED


class Model:
    def __init__(self):
        self.names, self.bars, self.mark, self.now, self.notices = {}, {}, 0, 0, []
        self.first_left = False

    def tell(self, id, word, rest):
        self.notices.append((id[:16], f"{word} {id[17:]} {rest}"))

    def sequence(self):
        self.mark = max(self.mark + 1, self.now)
        return self.mark

    # --- time and the line

    def live(self, claim):
        name = self.names.get((claim.name, claim.kind == CONDITION))
        if name is None:
            return None
        self.settle_time(name)
        if name.empty(self.now):
            del self.names[claim.name, claim.kind == CONDITION]
            return None
        return name

    def make(self, claim):
        return self.names.setdefault((claim.name, claim.kind == CONDITION), Name(claim.kind, claim.limit, claim.limit))

    def settle_time(self, name):
        freed = False
        while name.holders and name.soonest().expires <= self.now:
            self.end(name, name.soonest(), DEAD_HOLDER)
            freed = True
        if freed or name.line:
            self.move_line(name)

    def move_line(self, name):
        while name.line:
            first = name.line[0]
            if first.expires <= self.now:
                self.end(name, first, DEAD_WAITER)
                continue
            if not name.fits(first.mode, first.permits):
                break
            self.let_in(name, first, self.sequence())
            if first.claim.joins:
                for it in [it for it in name.line if it.claim.joins and it.claim.owner == first.claim.owner]:
                    if it.expires > self.now:
                        self.let_in(name, it, first.number)
        if name.kind == CONDITION and not name.line:
            name.current = min(name.current, name.used)
        first_left, self.first_left = self.first_left, False
        if first_left and name.holders and name.soonest().kept:
            self.tell_first_of_kept(name)

    def leave_line(self, name, entry):
        self.first_left = self.first_left or name.line[0] is entry
        name.line.remove(entry)

    def tell_first_of_kept(self, name):
        if name.line:
            first = name.line[0]
            text = f"changed {name.kind} {self.now} {len(first.claim.name)} {first.claim.name.decode()}holders"
            self.notices.append((first.id[:16], text))

    def let_in(self, name, entry, number):
        self.leave_line(name, entry)
        entry.held, entry.number, entry.since, entry.began = True, number, self.now, self.now
        entry.expires = self.now + entry.claim.lease * 1000
        name.holders[entry.id] = entry
        name.count(entry, +1)
        self.notices.append((entry.id[:16], entry.claim.granted(number, self.now, int(bool(name.line)))))

    def end(self, name, entry, why):
        if entry.held:
            name.count(entry, -1)
            del name.holders[entry.id]
        else:
            self.leave_line(name, entry)
        if why and not entry.kept:
            self.tell(entry.id, "gone", f"{self.now} {why}")

    def blocked_for(self, name):
        soonest = name.soonest()
        if soonest:
            return max(1, -(-(soonest.expires - self.now) // 1000))
        return 0 if name.kind == CONDITION else 1

    @staticmethod
    def grant(name, entry):
        return [entry.number, entry.began, int(bool(name.line))]

    # --- the verbs

    @staticmethod
    def disagreement(name, claim):
        if name.kind != claim.kind:
            return ["refused", "kind", 0, name.kind]
        if claim.mode == PERMITS and name.declared != claim.limit:
            return ["refused", "limit", 0, name.declared]
        return None

    @staticmethod
    def admits(name, claim):
        soonest = name.soonest()
        if claim.joins and claim.mode == EXCLUSIVE and soonest and not soonest.kept and soonest.claim.joins:
            if soonest.claim.owner == claim.owner and soonest.mode == EXCLUSIVE:
                return True
        barging = claim.mode == PERMITS and not claim.fair
        ahead = any(it.claim.fair for it in name.line) if barging else bool(name.line)
        return not ahead and name.fits(claim.mode, claim.permits)

    def submit(self, claim, queue):
        if self.bars.get(claim.id, 0) > self.now:
            return ["refused", "too_late", 0, 0]
        name = self.live(claim)
        if name is None and claim.kind == CONDITION:
            name = self.make(claim)
        if name is not None:
            no = self.disagreement(name, claim)
            if no:
                return no
            if not name.find(claim.id) and not self.admits(name, claim):
                return self.join_line(name, claim) if queue else ["refused", "busy", self.blocked_for(name), 0]
        name = name or self.make(claim)
        entry = name.find(claim.id)
        if entry and not entry.held:
            return ["queued", self.blocked_for(name)]
        if entry and entry.kept:
            return ["refused", "too_late", 0, 0]
        if not entry:
            joined = name.soonest() if claim.mode == EXCLUSIVE else None
            entry = self.entry(claim)
            entry.held, entry.number = True, joined.number if joined else self.sequence()
            name.holders[claim.id] = entry
            name.count(entry, +1)
        return ["granted", *self.grant(name, entry)]

    def entry(self, claim):
        return Entry(claim, claim.mode, claim.permits, self.now, self.now, self.now + claim.lease * 1000)

    def join_line(self, name, claim):
        name.line.append(self.entry(claim))
        soonest = name.soonest()
        if len(name.line) == 1 and soonest and not soonest.kept:
            self.tell(soonest.id, "contended", f"{self.now}")
        return ["queued", self.blocked_for(name)]

    def settle(self, claim, keep_for, bar_until, consume):
        if bar_until >= self.now:
            self.bars[claim.id] = max(self.bars.get(claim.id, 0), bar_until + 1)
        name = self.live(claim)
        entry = name and name.find(claim.id)
        if not entry:
            return "gone"
        if entry.kept:
            return "released"
        if entry.held and keep_for:
            entry.kept, entry.expires = True, self.now + keep_for * 1000
            self.tell_first_of_kept(name)
            return "released"
        if entry.held and consume:
            name.current = max(0, name.current - entry.permits)
        self.end(name, entry, None)
        self.move_line(name)
        return "released"

    def renew(self, claim, lease):
        name = self.live(claim)
        entry = name and name.find(claim.id)
        if not entry or entry.kept:
            return ["gone", 0, 0, 0]
        entry.began, entry.expires = self.now, max(entry.expires, self.now + lease * 1000)
        if entry.held:
            return ["alive", *self.grant(name, entry)]
        return ["waiting", self.blocked_for(name) if name.line[0] is entry else 0, 0, 0]

    def convert(self, claim, mode, permits):
        name = self.live(claim)
        entry = name and name.find(claim.id)
        if not entry or not entry.held or entry.kept:
            return ["refused", "gone", 0, 0]
        if (entry.mode, entry.permits) != (mode, permits):
            if mode == EXCLUSIVE or (mode == PERMITS and permits > entry.permits):
                return ["refused", "would_deadlock", 0, 0]
            name.count(entry, -1)
            entry.mode, entry.permits = mode, permits
            name.count(entry, +1)
            self.move_line(name)
        return ["converted", *self.grant(name, entry)]

    def adjust(self, claim, current, wake):
        name = self.live(claim)
        no = name and self.disagreement(name, claim)
        if no:
            return no
        if name and wake:
            name.current = min(name.used + len(name.line), name.current + wake)
            self.move_line(name)
        if not name and current is None:
            return ["adjusted", claim.limit, claim.limit, 0]
        name = name or self.make(claim)
        if current is not None:
            name.current, name.keep_until = current, self.now + DAY
            self.move_line(name)
        return ["adjusted", name.declared, name.current, name.used]

    def evict(self, claim, only):
        name = self.names.get((claim.name, claim.kind == CONDITION))
        if name is None:
            return 0
        self.settle_time(name)
        chosen = [it for it in (name.find(only),) if it] if only else list(name.holders.values())
        for it in chosen:
            self.end(name, it, "it was evicted")
        self.move_line(name)
        return len(chosen)

    def inspect(self, claim):
        name = self.live(claim)
        if name is None:
            return ["none"]
        holders = sorted(name.holders.values(), key=lambda it: (it.since, it.number, it.id))
        describe = lambda it: [it.id, it.number, it.mode, it.permits, it.since, it.expires, it.claim.info.decode()]
        return ["name", claim.name.decode(), name.kind, name.current, "", list(map(describe, holders)),
                list(map(describe, name.line))]
