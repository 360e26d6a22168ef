"""Which libraries are measured, in which forms, and how each is built. What is built goes to build/peers."""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

TREE = Path(__file__).resolve().parents[2]
PEERS = TREE / "bench" / "peers"
MADE = TREE / "build" / "peers"
PYTHON = "/usr/bin/python3"  # another python3 may come first on PATH
INTEROP = TREE / "tests" / "redis" / "interop"  # has the same node-redlock 5 that the tests speak with
REDIS_PLUS_PLUS = "HOLDFAST_PEER_REDIS_PLUS_PLUS"


class Unavailable(Exception):
    """Why a library is not measured here."""


@dataclass(frozen=True, eq=False)
class Library:
    name: str
    version: Callable[[], str]
    build: Callable[[int], list]  # with so many jobs; returns its command
    forms: dict  # of each workload that it has: {what the row says besides the name: the word for its program}


def run(*command, cwd=None, **environment):
    done = subprocess.run([str(word) for word in command], cwd=cwd, env={**os.environ, **environment},
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        said = [line.strip() for line in (done.stderr + done.stdout).splitlines() if line.strip()]
        errors = [line for line in said if "error" in line.lower()]
        raise Unavailable(" / ".join(errors[:2] or said[-2:] or ["it fails without a word"])[:500])
    return done.stdout + done.stderr


def need(program, minimum, *ask):
    """The program is there, in this version or a later one."""
    if not shutil.which(program):
        raise Unavailable(f"{program} {minimum} or later is not installed")
    found = re.search(r"\d+(?:\.\d+)+", run(program, *ask, GOTOOLCHAIN="local"))
    number = lambda text: tuple(int(part) for part in text.split("."))
    if not found or number(found.group(0)) < number(minimum):
        raise Unavailable(f"{program} {minimum} or later is needed; here is {found.group(0) if found else 'another'}")


def pinned(path, pattern):
    """A version as a lock file has it."""
    found = re.search(pattern, (PEERS / path).read_text())
    return found.group(1) if found else "unknown"


def build_holdfast(_):
    build = Path(os.environ.get("HOLDFAST_BENCH_BUILD", TREE / "build" / "bench"))
    program = build / "bin" / "bench" / "peer_holdfast"
    if not program.exists():
        raise Unavailable("build it first: cmake --preset bench && cmake --build --preset bench --target bench_peer_holdfast")
    return [program]


def build_redis_py(_):
    wanted, to = PEERS / "redis_py" / "requirements.txt", MADE / "redis-py"
    stamp = to / ".of-these-requirements"
    if not stamp.exists() or stamp.read_bytes() != wanted.read_bytes():
        run(PYTHON, "-m", "pip", "install", "--quiet", "--upgrade", "--target", to, "-r", wanted)
        shutil.copyfile(wanted, stamp)
    return ["env", f"PYTHONPATH={to}", PYTHON, PEERS / "redis_py" / "peer.py"]


def build_redlock(lock_file, to):
    need("node", "16.0", "--version")
    need("npm", "8.0", "--version")
    stamp = to / "node_modules" / ".of-this-lock"
    if not stamp.exists() or stamp.read_bytes() != (lock_file / "package-lock.json").read_bytes():
        to.mkdir(parents=True, exist_ok=True)
        for name in "package.json", "package-lock.json":
            shutil.copyfile(lock_file / name, to / name)
        run("npm", "ci", "--prefix", to, "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier")
        shutil.copyfile(lock_file / "package-lock.json", stamp)
    return ["env", f"NODE_PATH={to / 'node_modules'}", "node", PEERS / "redlock" / "peer.js"]


def build_rslock(jobs):
    need("cargo", pinned("rslock/Cargo.toml", r'rust-version = "([\d.]+)"'), "--version")
    # In a copy, since cargo writes beside its manifest what it has chosen.
    sources = MADE / "rslock" / "sources"
    shutil.copytree(PEERS / "rslock", sources, dirs_exist_ok=True)
    run("cargo", "build", "--release", "--quiet", "--jobs", jobs, cwd=sources, CARGO_TARGET_DIR=str(MADE / "rslock"))
    return [MADE / "rslock" / "release" / "peer_rslock"]


def build_go(jobs, name):
    return [go_program(jobs, "go"), name]


def build_etcd(jobs):
    return [go_program(jobs, "etcd")]


def go_program(jobs, folder):
    need("go", pinned(f"{folder}/go.mod", r"\ngo ([\d.]+)"), "version")
    MADE.mkdir(parents=True, exist_ok=True)
    program = MADE / f"peer_{folder}"
    run("go", "build", "-p", jobs, "-o", program, ".", cwd=PEERS / folder, GOTOOLCHAIN="local", GOFLAGS="-mod=readonly")
    return program


def build_redisson(_):
    need("mvn", "3.6", "--version")
    need("java", "17.0", "--version")
    target = MADE / "redisson"
    run("mvn", "--quiet", "--batch-mode", "-Dstyle.color=never", f"-DbuildDirectory={target}", "compile",
        "org.apache.maven.plugins:maven-dependency-plugin:3.6.0:copy-dependencies",
        f"-DoutputDirectory={target / 'jars'}", "-DincludeScope=runtime", cwd=PEERS / "redisson")
    return ["java", "-cp", f"{target / 'classes'}:{target / 'jars'}/*", "Peer"]


def build_redis_plus_plus(jobs):
    source = os.environ.get(REDIS_PLUS_PLUS)
    if not source:
        raise Unavailable(f"no registry has it: ${REDIS_PLUS_PLUS} would name a source tree")
    to = MADE / "redis-plus-plus"
    run("cmake", "-S", PEERS / "redis_plus_plus", "-B", to, "-DCMAKE_BUILD_TYPE=Release",
        f"-DREDIS_PLUS_PLUS_SOURCE={Path(source).resolve()}")
    run("cmake", "--build", to, "--parallel", jobs)
    return [to / "peer_redis_plus_plus"]


def version_of_redis_plus_plus():
    header = Path(os.environ.get(REDIS_PLUS_PLUS, "")) / "src" / "sw" / "redis++" / "version.h"
    return ".".join(re.findall(r"VERSION_(?:MAJOR|MINOR|PATCH) = (\d+)", header.read_text())) if header.exists() else "unknown"


def forms(**special):
    plain = {workload: {"": workload} for workload in ("one", "many", "threads", "processes", "start")}
    return {**plain, **special}


def module(name):
    return lambda: pinned("go/go.mod", rf"{name} v([\d.]+)")


LIBRARIES = [
    Library("holdfast", lambda: pinned(TREE / "include" / "holdfast" / "version.hpp", r'VERSION_STRING "([\d.]+)'), build_holdfast,
            forms(one={"acquire + release": "one", "lock + unlock": "one_lock"},
                  many={"coroutines": "many", "threads": "many_threads"}, fair={"": "fair"}, quorum={"": "one"})),
    Library("Redisson", lambda: pinned("redisson/pom.xml", r"<artifactId>redisson</artifactId>\s*<version>([\d.]+)"),
            build_redisson, forms(many={"futures": "many", "threads": "many_threads"}, fair={"": "fair"})),
    Library("rueidislock", module("redis/rueidis"), lambda jobs: build_go(jobs, "rueidislock"), forms()),
    Library("redsync", module("redsync/v4"), lambda jobs: build_go(jobs, "redsync"), forms(quorum={"": "one"})),
    Library("bsm/redislock", module("bsm/redislock"), lambda jobs: build_go(jobs, "redislock"), forms()),
    Library("redis-py", lambda: pinned("redis_py/requirements.txt", r"redis==([\d.]+)"), build_redis_py,
            forms(many={"asyncio": "many", "threads": "many_threads"})),
    Library("node-redlock 4", lambda: pinned("redlock/4/package.json", r'"redlock": "([^"]+)'),
            lambda _: build_redlock(PEERS / "redlock" / "4", MADE / "redlock-4"), forms(quorum={"": "one"})),
    Library("node-redlock 5", lambda: pinned(INTEROP / "package.json", r'"redlock": "([^"]+)'),
            lambda _: build_redlock(INTEROP, MADE / "redlock-5"), forms(quorum={"": "one"})),
    Library("rslock", lambda: pinned("rslock/Cargo.toml", r'version = "=([\d.]+)'), build_rslock, forms(quorum={"": "one"})),
    Library("redis-plus-plus", version_of_redis_plus_plus, build_redis_plus_plus,
            forms(many={"threads": "many_threads"})),
]
