#!/bin/bash
# find_package(holdfast) in a project of its own.
#     find_package.sh PREFIX
source "$(dirname "$0")/common.sh"

build_with_cmake "$CONSUMER" "$WORK/build" -DCMAKE_PREFIX_PATH="$1" -DWANTED_VERSION="$VERSION"
run_consumer "$WORK/build/consumer"

# A version that is not there must not be found.
if cmake -S "$CONSUMER" -B "$WORK/wrong" -DCMAKE_PREFIX_PATH="$1" -DWANTED_VERSION=70.0 >"$WORK/log" 2>&1; then
    fail "version $VERSION passed for 70.0"
fi
grep -q 'compatible with requested' "$WORK/log" || { cat "$WORK/log"; fail "another reason"; }
