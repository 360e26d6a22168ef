#!/bin/bash
# holdfast inside another project by add_subdirectory, as a static library with its stores linked in. One
# store is left out, as a user would who does not need it.
source "$(dirname "$0")/common.sh"

build_with_cmake "$SOURCE/tests/package/subproject" "$WORK/build" -DHOLDFAST_SOURCE="$SOURCE" \
    -DHOLDFAST_STORE_REDIS=OFF -DBUILD_SHARED_LIBS=OFF -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0
run_consumer "$WORK/build/consumer"
[[ -z $(find "$WORK/build" -name '*.so*') ]] || fail "a static build made a shared library"
