#!/usr/bin/python3
"""redis-py's Lock with its defaults; see bench/peers/README.md for the interface.

usage: peer.py PORT one|many|many_threads|threads|processes|start SECONDS
"""

import asyncio
import ctypes
import json
import multiprocessing
import multiprocessing.sharedctypes
import os
import sys
import threading
import time

import redis
import redis.asyncio

WARM_UP = 0.5
GO_ON = 0.4  # after the count
LEASE = 30
NAME = "bench-peer"
MEMBERS = 8


class Tally(ctypes.Structure):
    """Written under the lock where several share it."""
    _fields_ = [("pairs", ctypes.c_long), ("changes", ctypes.c_long), ("last", ctypes.c_int)]

    def note(self, who):
        self.pairs += 1
        self.changes += self.last != who
        self.last = who


def counted(tallies, seconds):
    """The two lines of a report, as a generator: what to sleep, until there is nothing left to do."""
    read = lambda: (sum(each.pairs for each in tallies), sum(each.changes for each in tallies))
    yield WARM_UP
    print("counting", flush=True)
    begin, before = time.perf_counter(), read()
    yield seconds
    after, took = read(), time.perf_counter() - begin
    print(json.dumps({"pairs": after[0] - before[0], "changes": after[1] - before[1], "seconds": took}), flush=True)
    yield GO_ON


def live(client, who, name, tally):
    lock = client.lock(name, timeout=LEASE)
    while True:
        with lock:
            tally.note(who)


def in_threads(port, count, shared, seconds):
    client = redis.Redis(port=port, max_connections=count)
    tallies = [Tally()] if shared else [Tally() for _ in range(count)]
    for i in range(count):
        where = (NAME, tallies[0]) if shared else (f"{NAME}/{i}", tallies[i])
        threading.Thread(target=live, args=(client, i, *where), daemon=True).start()
    for span in counted(tallies, seconds):
        time.sleep(span)


async def live_in_loop(client, who, tally):
    lock = client.lock(f"{NAME}/{who}", timeout=LEASE)
    while True:
        async with lock:
            tally.note(who)


async def in_loop(port, count, seconds):
    client = redis.asyncio.Redis(port=port, max_connections=count)
    tallies = [Tally() for _ in range(count)]
    owners = [asyncio.create_task(live_in_loop(client, i, tally)) for i, tally in enumerate(tallies)]
    for span in counted(tallies, seconds):
        done, _ = await asyncio.wait(owners, timeout=span, return_when=asyncio.FIRST_COMPLETED)
        for each in done:
            each.result()  # its error


def member(port, who, tally, ready):
    client = redis.Redis(port=port)
    client.ping()
    ready.release()
    live(client, who, NAME, tally)


def in_processes(port, seconds):
    tally = multiprocessing.sharedctypes.RawValue(Tally)
    ready = multiprocessing.Semaphore(0)
    members = [multiprocessing.Process(target=member, args=(port, i + 1, tally, ready)) for i in range(MEMBERS)]
    for each in members:
        each.start()
    for _ in members:
        ready.acquire()
    for span in counted([tally], seconds):
        time.sleep(span)
    for each in members:
        each.kill()


def main():
    port, workload, seconds = int(sys.argv[1]), sys.argv[2], float(sys.argv[3])
    if workload == "start":
        with redis.Redis(port=port).lock(NAME, timeout=LEASE):
            pass
        print(json.dumps({"pairs": 1}), flush=True)
    elif workload == "processes":
        in_processes(port, seconds)
    elif workload == "many":
        asyncio.run(in_loop(port, 256, seconds))
    else:
        count = {"one": 1, "many_threads": 256, "threads": 64}[workload]
        in_threads(port, count, workload == "threads", seconds)
    os._exit(0)  # without a word to the owners


if __name__ == "__main__":
    main()
