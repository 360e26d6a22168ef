#!/usr/bin/python3
"""kazoo's Lock, between processes: acquisitions and owner changes per second.

usage: kazoo_lock.py PORT PROCESSES SECONDS
"""

import ctypes
import multiprocessing
import multiprocessing.sharedctypes
import sys
import time

from kazoo.client import KazooClient


class Tally(ctypes.Structure):
    _fields_ = [("over", ctypes.c_int), ("acquired", ctypes.c_long), ("changes", ctypes.c_long), ("last", ctypes.c_int)]


def live(port, who, tally, ready):
    client = KazooClient(hosts=f"127.0.0.1:{port}", timeout=30)
    client.start()
    lock = client.Lock("/bench-kazoo", str(who))
    ready.release()
    while not tally.over:
        lock.acquire()
        tally.acquired += 1  # guarded by the lock itself
        tally.changes += tally.last != who
        tally.last = who
        lock.release()
    client.stop()
    client.close()


def main():
    port, processes, seconds = (int(word) for word in sys.argv[1:])
    tally = multiprocessing.sharedctypes.RawValue(Tally)
    tally.last = -1
    ready = multiprocessing.Semaphore(0)
    members = [multiprocessing.Process(target=live, args=(port, i, tally, ready)) for i in range(processes)]
    for each in members:
        each.start()
    for _ in members:
        ready.acquire()
    time.sleep(0.3)
    begin, acquired, changes = time.perf_counter(), tally.acquired, tally.changes
    time.sleep(seconds)
    took = time.perf_counter() - begin
    print(round((tally.acquired - acquired) / took), round((tally.changes - changes) / took))
    tally.over = 1
    for each in members:
        each.join()


if __name__ == "__main__":
    main()
