"""The calling convention in Python, as CONVENTION.md has it: scripts, keys, arguments, replies, messages."""

import hashlib
import pathlib
import re
import struct
from dataclasses import dataclass, field

import redis

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "src/stores/redis/scripts"
LOCK, SEMAPHORE, LATCH, BARRIER, CONDITION, ELECTION = range(6)
EXCLUSIVE, SHARED, PERMITS = range(3)
CLOCK = "00c0ffee00c0ffee"  # of the server, as its clients name it
LATER = 1 << 52
LONG = 3_600_000

_INCLUDE = re.compile(r"^--@include (\S+)$", re.MULTILINE)
_HASHED = re.compile(rb"~[0-9a-fA-F]{32}\Z")


def compose(name):
    text = (SCRIPTS / f"{name}.lua").read_text()
    return _INCLUDE.sub(lambda found: (SCRIPTS / f"{found.group(1)}.lua").read_text(), text)


def tag(name):
    if len(name) <= 128 and not re.search(rb"[{}]", name) and not _HASHED.search(name):
        return name
    head = name[:64]
    while len(name) > len(head) and name[len(head)] & 0xC0 == 0x80:
        head = head[:-1]
    return re.sub(rb"[{}]", b"_", head) + b"~" + hashlib.sha256(name).hexdigest()[:32].encode()


def group(prefix, name, condition=False):
    record = prefix + (b"condition:{" if condition else b"name:{") + tag(name) + b"}"
    return [record] + [record + suffix for suffix in (b":claims", b":holders", b":bars", b":extra")]


@dataclass
class Claim:
    id: str
    name: bytes = b"q"
    kind: int = LOCK
    mode: int = EXCLUSIVE
    permits: int = 1
    limit: int = 0
    fair: bool = False
    lease: int = LONG
    joins: bool = False
    owner: str = ""
    info: bytes = b""
    owned: bool = False  # it has an owner, or the thread behind it is known

    def arguments(self):
        """As the record has it, before the times and behind them; and for how long its key lives."""
        owner, digits = self.owner.encode(), b"%d%d" % (self.fair, self.joins)
        return [b"%d%d\1" % (self.kind, self.mode) + self.id.encode(),
                struct.pack("<dI2sII", self.lease * 1000, self.permits, digits, self.limit, len(self.name)) + self.name +
                struct.pack("<I", len(owner)) + owner + self.info,
                self.lease + 10001]

    @property
    def secret(self):
        """What the claim's client alone knows, besides the server."""
        return hashlib.md5(b"known to nobody " + self.id.encode()).digest()

    def granted(self, sequence, began, contended):
        """The message of a grant."""
        terms = f"{sequence} {began} {contended} {CLOCK}"
        proof = hashlib.sha1(terms.encode() + self.secret).hexdigest()
        return f"granted {self.id[17:]} {terms} {proof}"


def words(reply):
    """Bytes of a reply as text; arrays stay arrays."""
    return [words(it) if isinstance(it, list) else it.decode("utf-8", "surrogateescape") if isinstance(it, bytes) else it
            for it in reply]


@dataclass
class Store:
    link: redis.Redis
    prefix: bytes = b"holdfast:"
    _loaded: dict = field(default_factory=dict)

    @property
    def mark(self):
        return self.prefix + b"mark"

    @property
    def waited(self):
        return self.prefix + b"waited"

    @property
    def ballots(self):
        return self.prefix + b"ballots"

    def run(self, script, keys, *arguments):
        """The reply without its time, which is kept in `now`."""
        if script not in self._loaded:
            self._loaded[script] = self.link.script_load(compose(script))
        reply = self.last = self.link.evalsha(self._loaded[script], len(keys), *keys, *arguments)
        if isinstance(reply, int):  # what happens most
            reply = [reply, b"granted", reply, reply, 0] if script == "submit" else [reply, b"released"]
        elif reply[1] == b"alone":
            reply = [reply[0], b"granted", reply[2], reply[0], 0]
        self.now = reply[0]
        return words(reply[1:])

    def keys(self, name, condition=False):
        return [self.mark, *group(self.prefix, name, condition), self.waited]

    def call(self, script, name, *arguments, condition=False):
        return self.run(script, self.keys(name, condition), CLOCK.encode() + self.prefix, name, *arguments)

    def submit(self, claim, queue=False, not_after=LATER, ballot=0, repairs=False):
        queueing = b"%d" % (2 if claim.owned else 1) + claim.secret if queue else b"0"
        keys = self.keys(claim.name, claim.kind == CONDITION)
        unusual = [b""] if claim.kind == CONDITION else []
        if ballot:
            keys += [keys[1] + b":ballot", self.ballots]
            unusual = [ballot, int(repairs)]
        return self.run("submit", keys, CLOCK.encode() + self.prefix, *claim.arguments(), not_after, queueing, *unusual)

    def settle(self, claim, keep_for=0, bar_until=0, consume=False):
        unusual = (keep_for, bar_until, int(consume))
        return self.call("settle", claim.name, claim.id, *(unusual if any(unusual) else ()),
                         condition=claim.kind == CONDITION)[0]

    def renew(self, *claims, lease=None):
        arguments = [value for it in claims for value in (it.id, it.lease if lease is None else lease)]
        reply = self.call("renew", claims[0].name, *arguments, condition=claims[0].kind == CONDITION)
        assert reply[0] == "renewed"
        items = [reply[i:i + 4] for i in range(1, len(reply), 4)]
        return items[0] if len(claims) == 1 else items

    def convert(self, claim, mode, permits=1):
        return self.call("convert", claim.name, claim.id, mode, permits, condition=claim.kind == CONDITION)

    def adjust(self, claim, current=None, wake=0):
        return self.call("adjust", claim.name, claim.kind, claim.mode, claim.limit, "" if current is None else current,
                         wake, condition=claim.kind == CONDITION)

    def read(self, name, kind=LATCH, part=b""):
        return self.call("read", name, kind, part, condition=kind == CONDITION)

    def swap(self, name, expected, value=b"", kind=LATCH, part=b"", ttl=LONG, operation="", remove=False, guard=None,
             quiet=False):
        return self.call("swap", name, kind, part, expected, value, ttl, operation, int(remove),
                         guard.id if guard else "", int(quiet), condition=kind == CONDITION)

    def watch(self, client, name, kind=LOCK, part=b"", on=True):
        return self.call("watch", name, kind, part, client, int(on), condition=kind == CONDITION)

    def inspect(self, name, condition=False):
        return self.call("inspect", name, condition=condition)

    def waited_for(self):
        """The records of names on which somebody waits who has an owner."""
        return self.run("waited", [self.waited])[1]

    def evict(self, name, only="", condition=False):
        return self.call("evict", name, only, condition=condition)[1]

    def time(self):
        seconds, micros = self.link.time()
        return seconds * 1_000_000 + micros

    def wait_past(self, moment):
        """Until the server's own clock has passed it."""
        while self.time() <= moment:
            pass
