"""What every test here stands on: one server per file, an empty database and a fresh store per test."""

import unittest

from server import Server
from store import Claim, Store

ALICE, BOB, CAROL = "a" * 16, "b" * 16, "c" * 16


class Case(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.addClassCleanup(cls.server.stop)

    def setUp(self):
        self.link = self.server.connect()
        self.addCleanup(self.link.close)
        self.link.flushall()
        self.store = Store(self.link)
        self._number = 0

    def claim(self, client=ALICE, **how):
        self._number += 1
        return Claim(f"{client}-{self._number:016x}", **how)

    def ear(self, client):
        """Hears what a client is told from now on."""
        heard = self.server.connect().pubsub(ignore_subscribe_messages=True)
        self.addCleanup(heard.close)
        heard.subscribe(b"holdfast:client:" + client.encode())
        heard.get_message(timeout=5)  # the confirmation
        return heard

    def told(self, ear):
        """All that was published before now: a message of our own marks the end."""
        self.link.publish(next(iter(ear.channels)), b"end")
        texts = []
        while True:
            message = ear.get_message(timeout=5)
            self.assertIsNotNone(message, "a message was lost")
            if message["data"] == b"end":
                return texts
            texts.append(message["data"].decode())

    def keys(self):
        return sorted(it for it in self.link.keys("*") if it != self.store.mark)

    def assertNothingLeft(self):
        self.assertEqual(self.keys(), [])

    def assertAllKeysEnd(self):
        """Every key but the mark has a TTL."""
        for key in self.keys():
            self.assertGreater(self.link.pttl(key), 0, key)
        self.assertIn(self.link.pttl(self.store.mark), (-1, -2))  # for ever, or never drawn from

    def assertHolds(self, reply, *, contended=0):
        self.assertEqual(reply[0], "granted", reply)
        self.assertEqual(reply[3], contended, reply)
        return reply[1]

    def assertRefused(self, reply, why):
        self.assertEqual(reply[:2], ["refused", why], reply)
