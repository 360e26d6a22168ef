#!/usr/bin/python3
"""redis-py's Lock with its defaults, between processes: acquisitions and owner changes per second.

usage: redis_py.py PORT PROCESSES SECONDS
"""

import ctypes
import multiprocessing
import sys
import time

import redis
from redis.lock import Lock


class Tally(ctypes.Structure):
    _fields_ = [("ready", ctypes.c_int), ("over", ctypes.c_int), ("acquired", ctypes.c_long),
                ("changes", ctypes.c_long), ("last", ctypes.c_int)]


def live(port, who, tally, ready):
    client = redis.Redis(port=port)
    lock = Lock(client, "bench-peer", timeout=30)
    client.ping()
    ready.release()
    while not tally.over:
        lock.acquire()
        tally.acquired += 1  # guarded by the lock itself
        tally.changes += tally.last != who
        tally.last = who
        lock.release()


def main():
    port, processes, seconds = (int(word) for word in sys.argv[1:])
    tally = multiprocessing.sharedctypes.RawValue(Tally)
    tally.last = -1
    ready = multiprocessing.Semaphore(0)
    members = [multiprocessing.Process(target=live, args=(port, i, tally, ready)) for i in range(processes)]
    for it in members:
        it.start()
    for _ in members:
        ready.acquire()
    time.sleep(0.3)
    begin, acquired, changes = time.perf_counter(), tally.acquired, tally.changes
    time.sleep(seconds)
    took = time.perf_counter() - begin
    print(round((tally.acquired - acquired) / took), round((tally.changes - changes) / took))
    tally.over = 1
    for it in members:
        it.join()


if __name__ == "__main__":
    import multiprocessing.sharedctypes
    main()
