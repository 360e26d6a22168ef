// node-redlock, version 4 or 5, with its defaults; see bench/peers/README.md for the interface. NODE_PATH
// must lead to redlock and ioredis.
//
// usage: peer.js PORT[,PORT...] one|many|threads|processes|start SECONDS
"use strict";

const { fork } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const Redis = require("ioredis");
const redlock = require("redlock");

const lease = 30000;
const goOn = 400; // after the count
const oneName = "bench-peer";
const members = 8;
const readyAt = 24; // in the tally: pairs, changes, the last holder, then a byte for each member that is ready

const pause = (span) => new Promise((done) => setTimeout(done, span));

// Both take an array of servers; retries without end are the only thing that is not as by default.
function connect(ports) {
  const servers = ports.split(",").map((port) => new Redis(Number(port), "127.0.0.1"));
  const settings = { retryCount: -1 };
  if (redlock.default) {
    const locks = new redlock.default(servers, settings);
    locks.on("error", () => {}); // also says that a name is taken
    return {
      acquire: (name) => locks.acquire([name], lease),
      release: (lock) => lock.release(),
    };
  }
  const locks = new redlock(servers, settings);
  return {
    acquire: (name) => locks.lock(name, lease),
    release: (lock) => lock.unlock(),
  };
}

function fail(why) {
  console.error(why);
  process.exit(1);
}

async function live(locks, name, inside) {
  for (;;) {
    const lock = await locks.acquire(name);
    inside();
    await locks.release(lock);
  }
}

// Until two half seconds have brought no more than the best before them: the compiler has done its work.
async function warmUp(read) {
  let best = 0;
  let before = read()[0];
  for (let since = 0; since < 2; ) {
    await pause(500);
    const now = read()[0];
    since = now - before > best * 1.02 ? 0 : since + 1;
    best = Math.max(best, now - before);
    before = now;
  }
}

async function report(read, seconds) {
  await warmUp(read);
  console.log("counting");
  const [pairs, changes] = read();
  const begin = process.hrtime.bigint();
  await pause(seconds * 1000);
  const after = read();
  const took = Number(process.hrtime.bigint() - begin) / 1e9;
  console.log(JSON.stringify({ pairs: after[0] - pairs, changes: after[1] - changes, seconds: took }));
  await pause(goOn);
}

async function owners(port, count, shared, seconds) {
  const locks = connect(port);
  let [pairs, changes, last] = [0, 0, -1];
  for (let i = 0; i < count; ++i) {
    const note = () => {
      ++pairs;
      if (last !== i) ++changes;
      last = i;
    };
    live(locks, shared ? oneName : `${oneName}/${i}`, note).catch(fail);
  }
  await report(() => [pairs, changes], seconds);
}

// The tally is guarded by the lock itself.
async function member(port, file, who) {
  const tally = fs.openSync(file, "r+");
  const locks = connect(port);
  await locks.release(await locks.acquire(`${oneName}/${who}`));
  fs.writeSync(tally, Buffer.from([1]), 0, 1, readyAt + who - 1);
  const all = new BigUint64Array(3);
  const bytes = new Uint8Array(all.buffer);
  await live(locks, oneName, () => {
    fs.readSync(tally, bytes, 0, readyAt, 0);
    all[0] += 1n;
    if (all[2] !== BigInt(who)) all[1] += 1n;
    all[2] = BigInt(who);
    fs.writeSync(tally, bytes, 0, readyAt, 0);
  });
}

async function processes(port, seconds) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "peer-tally-"));
  const file = path.join(folder, "tally");
  fs.writeFileSync(file, Buffer.alloc(readyAt + members));
  const tally = fs.openSync(file, "r");
  const children = [];
  for (let who = 1; who <= members; ++who) children.push(fork(__filename, [port, "member", file, who]));
  const ready = Buffer.alloc(members);
  while (fs.readSync(tally, ready, 0, members, readyAt), ready.includes(0)) await pause(5);
  const all = new BigUint64Array(3);
  await report(() => {
    fs.readSync(tally, new Uint8Array(all.buffer), 0, readyAt, 0);
    return [Number(all[0]), Number(all[1])];
  }, seconds);
  for (const each of children) each.kill("SIGKILL");
  fs.rmSync(folder, { recursive: true });
}

async function start(port) {
  const locks = connect(port);
  await locks.release(await locks.acquire(oneName));
  console.log(JSON.stringify({ pairs: 1 }));
}

async function main(port, workload, third, fourth) {
  const seconds = Number(third);
  if (workload === "one") await owners(port, 1, false, seconds);
  else if (workload === "many") await owners(port, 256, false, seconds);
  else if (workload === "threads") await owners(port, 64, true, seconds);
  else if (workload === "processes") await processes(port, seconds);
  else if (workload === "member") await member(port, third, Number(fourth));
  else if (workload === "start") await start(port);
  else process.exit(2);
  process.exit(0);
}

main(...process.argv.slice(2)).catch(fail);
