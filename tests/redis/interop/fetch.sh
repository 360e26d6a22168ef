#!/bin/bash
# Brings node-redlock and its driver, by the versions and checksums of package-lock.json, into a directory; once.
#
#     fetch.sh DIRECTORY
set -euo pipefail
here=$(dirname "$(realpath "$0")")
to=$1

if cmp -s "$here/package-lock.json" "$to/node_modules/.of-this-lock"; then exit 0; fi
if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
    echo "node and npm are needed beside each other: run 'tools/setup test'" >&2
    exit 1
fi
mkdir -p "$to"
cp "$here/package.json" "$here/package-lock.json" "$to"
if ! npm ci --prefix "$to" --no-audit --no-fund --ignore-scripts --no-update-notifier; then
    echo "redlock and ioredis could not be fetched from npm's registry; without them nothing shows that" >&2
    echo "the plain layout works beside node-redlock. Is there a network, or a mirror in .npmrc?" >&2
    exit 1
fi
cp "$here/package-lock.json" "$to/node_modules/.of-this-lock"
