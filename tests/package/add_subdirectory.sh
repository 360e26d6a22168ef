#!/bin/bash
# holdfast inside another project by add_subdirectory, as a static library with its stores linked in: memory and
# file, and none that its user does not need. Nothing is precompiled, and assertions are off: a forgotten #include shows
# here.
source "$(dirname "$0")/common.sh"

JOBS=1 # other tests run beside it
others=()
for store in $(sed -n 's/^ *NAME \([a-z]*\)$/\1/p' "$SOURCE"/src/stores/*/CMakeLists.txt); do
    [[ $store == file ]] || others+=("-DHOLDFAST_STORE_${store^^}=OFF")
done
[[ ${#others[@]} -gt 0 ]] || fail "no store is left out"

build_with_cmake "$SOURCE/tests/package/subproject" "$WORK/build" -DHOLDFAST_SOURCE="$SOURCE" \
    "${others[@]}" -DBUILD_SHARED_LIBS=OFF -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="-O0 -DNDEBUG"
run_consumer "$WORK/build/consumer"
[[ -z $(find "$WORK/build" -name '*.so*') ]] || fail "a static build made a shared library"
