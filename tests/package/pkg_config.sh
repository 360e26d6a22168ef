#!/bin/bash
# A compiler, pkg-config and nothing else.
#     pkg_config.sh PREFIX
source "$(dirname "$0")/common.sh"

export PKG_CONFIG_PATH=$1/lib/pkgconfig
[[ $(pkg-config --modversion holdfast) == "$VERSION" ]] || fail "version"
pkg-config --static --libs holdfast | grep -q -e '-pthread' || fail "the private libraries are missing"
# shellcheck disable=SC2046 # flags are words
g++ -std=c++20 "$CONSUMER/main.cpp" -o "$WORK/consumer" $(pkg-config --cflags --libs holdfast) \
    -Wl,-rpath,"$(pkg-config --variable=libdir holdfast)"
run_consumer "$WORK/consumer"
