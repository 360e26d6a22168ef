// node-redlock with one server and its defaults; see bench/peers/README.md for the interface. NODE_PATH must lead to
// redlock and ioredis.
//
// usage: redlock.js PORT one|many|threads|processes|start SECONDS
"use strict";

const { fork } = require("node:child_process");
const Redis = require("ioredis");
const Redlock = require("redlock").default;

const warmUp = 500;
const pause = (span) => new Promise((done) => setTimeout(done, span));

function connect(port) {
  const client = new Redis(port, "127.0.0.1");
  const redlock = new Redlock([client], { retryCount: -1 });
  redlock.on("error", () => {});
  return { client, redlock };
}

async function live(redlock, name, inside) {
  for (;;) {
    const lock = await redlock.acquire([name], 30000);
    await inside();
    await lock.release();
  }
}

// Processes of Node share no memory: who held last is kept at the server, one more command for each hold.
async function member(port, name) {
  const { client, redlock } = connect(port);
  await live(redlock, name, async () => {
    const before = await client.getset(`${name}-last`, process.pid);
    process.send(before === String(process.pid) ? "again" : "changed");
  });
}

const tally = { pairs: 0, changes: 0, last: -1 };

function note(owner) {
  ++tally.pairs;
  if (tally.last !== owner) ++tally.changes;
  tally.last = owner;
}

async function report(seconds) {
  await pause(warmUp);
  const before = { ...tally };
  const begin = process.hrtime.bigint();
  await pause(seconds * 1000);
  const took = Number(process.hrtime.bigint() - begin) / 1e9;
  console.log(JSON.stringify({
    pairs: tally.pairs - before.pairs,
    changes: tally.changes - before.changes,
    all_pairs: tally.pairs,
    seconds: took,
  }));
}

async function main(port, workload, seconds) {
  if (workload === "member") return member(port, seconds);
  const members = [];
  if (workload === "processes") {
    const name = `bench-peer-${process.pid}`; // its last holder is killed, and the name stays taken
    for (let i = 0; i < 8; ++i) {
      const one = fork(__filename, [port, "member", name]);
      one.on("message", (word) => {
        ++tally.pairs;
        if (word === "changed") ++tally.changes;
      });
      members.push(one);
    }
  } else {
    const { redlock } = connect(port);
    if (workload === "start") {
      await (await redlock.acquire(["bench-peer"], 30000)).release();
      process.exit(0);
    }
    const count = { one: 1, many: 256, threads: 64 }[workload];
    for (let i = 0; i < count; ++i) {
      live(redlock, workload === "threads" ? "bench-peer" : `bench-peer/${i}`, async () => note(i));
    }
  }
  await report(Number(seconds));
  for (const it of members) it.kill();
  process.exit(0);
}

const [port, workload, seconds] = process.argv.slice(2);
main(port, workload, seconds);
