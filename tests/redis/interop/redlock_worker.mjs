// node-redlock over one server: one command per line, one line of answer each, as redis_py_worker.py.
//
//     redlock_worker.mjs PORT MODULES        MODULES: a directory with package.json, redlock and ioredis
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const [port, modules] = process.argv.slice(2);
const require = createRequire(`${modules}/package.json`);
const { default: Redis } = require("ioredis");
const { default: Redlock, ExecutionError } = require("redlock");

const link = new Redis(Number(port));
const once = new Redlock([link], { retryCount: 0 });
const patient = new Redlock([link], { retryCount: -1, retryDelay: 10, retryJitter: 5 });
let held;

async function guarded(change, word, otherwise) {
  try {
    await change();
    return word;
  } catch (error) {
    if (error instanceof ExecutionError) return otherwise;
    throw error;
  }
}

async function lock(by, name, lease) {
  const take = async () => (held = await by.acquire([name], Number(lease)));
  return guarded(take, "held", "busy");
}

async function count(name, path, times) {
  for (let i = 0; i < Number(times); ++i) {
    const mine = await patient.acquire([name], 30000);
    writeFileSync(path, `${Number(readFileSync(path, "utf8")) + 1}\n`);
    await mine.release();
  }
  return "done";
}

async function answer(what, ...words) {
  if (what === "try") return lock(once, ...words);
  if (what === "take") return lock(patient, ...words);
  if (what === "extend")
    return guarded(async () => (held = await once.extend(held, Number(words[0]))), "extended", "not ours");
  if (what === "release") return guarded(() => once.release(held), "released", "not ours");
  if (what === "count") return count(...words);
  return `what is '${what}'?`;
}

for await (const line of createInterface({ input: process.stdin })) console.log(await answer(...line.split(" ")));
link.disconnect();
