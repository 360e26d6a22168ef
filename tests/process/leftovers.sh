#!/bin/bash
# Fails when a program of this build still runs: a test must not leave a process behind.
#
#     leftovers.sh BUILD_DIRECTORY
set -uo pipefail
build=$(realpath "$1")
found=0
for process in /proc/[0-9]*; do
    program=$(readlink "$process/exe" 2>/dev/null) || continue
    if [[ $program == "$build"/bin/* ]]; then
        echo "still running: ${process#/proc/} $(tr '\0' ' ' <"$process/cmdline")"
        found=1
    fi
done
exit "$found"
