"""The lock of redis-py: one command per line, one line of answer each.

    redis_py_worker.py PORT

    try NAME MS                 held, or busy
    take NAME MS                held, when it is; the lock ends after so many milliseconds
    extend MS                   extended, or not ours
    release                     released, or not ours
    count NAME PATH TIMES       done: as many times holds NAME and adds one to the number in PATH
"""

import sys

import redis
import redis.exceptions
import redis.lock


class Worker:
    def __init__(self, port):
        self.link = redis.Redis(port=port)
        self.held = None

    def lock(self, name, lease, blocking):
        self.held = redis.lock.Lock(self.link, name, timeout=int(lease) / 1000, sleep=0.01)
        return "held" if self.held.acquire(blocking=blocking) else "busy"

    def guarded(self, change, word):
        try:
            change()
            return word
        except redis.exceptions.LockError:
            return "not ours"

    def count(self, name, path, times):
        for _ in range(int(times)):
            with redis.lock.Lock(self.link, name, timeout=30, sleep=0.01):
                with open(path, encoding="utf-8") as file:
                    value = int(file.read())
                with open(path, "w", encoding="utf-8") as file:
                    file.write(f"{value + 1}\n")
        return "done"

    def answer(self, what, *words):
        if what == "try":
            return self.lock(*words, blocking=False)
        if what == "take":
            return self.lock(*words, blocking=True)
        if what == "extend":
            return self.guarded(lambda: self.held.extend(int(words[0]) / 1000, replace_ttl=True), "extended")
        if what == "release":
            return self.guarded(self.held.release, "released")
        if what == "count":
            return self.count(*words)
        return f"what is '{what}'?"


def main():
    worker = Worker(int(sys.argv[1]))
    for line in sys.stdin:
        print(worker.answer(*line.split()), flush=True)


main()
