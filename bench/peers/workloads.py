"""What all libraries do, and how it is counted."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Workload:
    title: str
    unit: str
    counted: str  # pairs, changes, or ms
    remark: str = ""
    servers: int = 1  # of which a majority counts

    @property
    def less_is_better(self):
        return self.counted == "ms"


WORKLOADS = {
    "one": Workload("One owner", "pairs/s", "pairs", "Both the acquire and the release are waited for; *lock + unlock* does not wait for the answer "
                    "to an unlock, and has no counterpart elsewhere."),
    "many": Workload("256 owners of one process, each on a name of its own", "pairs/s", "pairs"),
    "threads": Workload("64 owners of one process on one name", "owner changes/s", "changes",
                        "holdfast passes the lock on inside the process, and asks the server only now and then: its pairs say little about the others'. "
                        "Where a library has few changes and many pairs, one owner takes the lock again and again while the others sleep."),
    "processes": Workload("8 processes on one name", "owner changes/s", "changes",
                          "No order is asked for. Each process has one owner."),
    "fair": Workload("8 processes on one name, first come, first served", "owner changes/s", "changes",
                     "The others have no such order."),
    "quorum": Workload("One owner, on a quorum of five servers", "pairs/s", "pairs",
                       "All five servers share one core. Commands, bytes and microseconds are those of all five. The others draw no token, and renew "
                       "nothing.", servers=5),
    "start": Workload("From the start of a process to the end of its first pair", "ms", "ms",
                      "With the runtime of its language, the connection, and whatever the library asks of a server first."),
}
