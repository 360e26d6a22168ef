#!/usr/bin/python3
"""redis-py's Lock with its defaults; see bench/peers/README.md for the interface.

usage: redis_py.py PORT one|many|threads|processes|start SECONDS
"""

import ctypes
import json
import multiprocessing
import multiprocessing.sharedctypes
import sys
import threading
import time

import redis
from redis.lock import Lock

WARM_UP = 0.5


class Tally(ctypes.Structure):
    _fields_ = [("over", ctypes.c_int), ("pairs", ctypes.c_long), ("changes", ctypes.c_long), ("last", ctypes.c_int)]


def live(client, who, name, tally):
    """Acquires and releases; what is counted inside is guarded by the lock where there is one name."""
    lock = Lock(client, name, timeout=30)
    while not tally.over:
        lock.acquire()
        tally.pairs += 1
        tally.changes += tally.last != who
        tally.last = who
        lock.release()


def member(port, who, tally):
    live(redis.Redis(port=port), who, "bench-peer", tally)


def main():
    port, workload = int(sys.argv[1]), sys.argv[2]
    if workload == "start":
        with Lock(redis.Redis(port=port), "bench-peer", timeout=30):
            return
    seconds = float(sys.argv[3])
    if workload == "processes":
        tallies = [multiprocessing.sharedctypes.RawValue(Tally)]
        members = [multiprocessing.Process(target=member, args=(port, i, tallies[0]), daemon=True) for i in range(8)]
    else:
        count = {"one": 1, "many": 256, "threads": 64}[workload]
        client = redis.Redis(port=port)
        one = Tally()
        names = ["bench-peer" if workload == "threads" else f"bench-peer/{i}" for i in range(count)]
        tallies = [one if workload == "threads" else Tally() for _ in range(count)]
        members = [threading.Thread(target=live, args=(client, i, names[i], tallies[i]), daemon=True)
                   for i in range(count)]
        tallies = [one] if workload == "threads" else tallies
    for each in tallies:
        each.last = -1
    for each in members:
        each.start()
    read = lambda: (sum(each.pairs for each in tallies), sum(each.changes for each in tallies))
    time.sleep(WARM_UP)
    begin, before = time.perf_counter(), read()
    time.sleep(seconds)
    after, took = read(), time.perf_counter() - begin
    for each in tallies:
        each.over = 1
    print(json.dumps({"pairs": after[0] - before[0], "changes": after[1] - before[1], "all_pairs": after[0],
                      "seconds": took}), flush=True)
    for each in members:
        if hasattr(each, "kill"):
            each.kill()


if __name__ == "__main__":
    main()
