// node-redlock with one server and its defaults, between processes: acquisitions and owner changes per
// second. NODE_PATH must lead to redlock and ioredis.
//
// usage: redlock.js PORT PROCESSES SECONDS
"use strict";

const { fork } = require("node:child_process");
const Redis = require("ioredis");
const Redlock = require("redlock").default;

// Processes of Node share no memory: who held last is kept at the server, one more command for each hold.
async function live(port, name) {
  const client = new Redis(port, "127.0.0.1");
  const redlock = new Redlock([client], { retryCount: -1 });
  redlock.on("error", () => {});
  await client.ping();
  process.send("ready");
  for (;;) {
    const lock = await redlock.acquire([name], 30000);
    const before = await client.getset(`${name}-last`, process.pid);
    process.send(before === String(process.pid) ? "again" : "changed");
    await lock.release();
  }
}

const pause = (span) => new Promise((done) => setTimeout(done, span));

async function main(port, processes, seconds) {
  let ready = 0;
  let acquired = 0;
  let changes = 0;
  const name = `bench-peer-${process.pid}`; // its last holder is killed, and the name stays taken
  const members = Array.from({ length: processes }, () => fork(__filename, [port, "member", name]));
  for (const it of members) {
    it.on("message", (word) => {
      if (word === "ready") return ++ready;
      ++acquired;
      if (word === "changed") ++changes;
    });
  }
  while (ready < processes) await pause(20);
  await pause(300);
  const begin = process.hrtime.bigint();
  acquired = changes = 0;
  await pause(seconds * 1000);
  const took = Number(process.hrtime.bigint() - begin) / 1e9;
  console.log(Math.round(acquired / took), Math.round(changes / took));
  for (const it of members) it.kill();
  process.exit(0);
}

const [port, second, third] = process.argv.slice(2);
if (second === "member") live(Number(port), third);
else main(port, Number(second), Number(third));
