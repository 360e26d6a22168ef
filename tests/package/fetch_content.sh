#!/bin/bash
# holdfast by FetchContent: whoever builds one program of the project gets the stores with it, where the library looks
# for them. Which steps that takes is seen without taking them; in full counts they are taken, and the program is run.
source "$(dirname "$0")/common.sh"

configure_with_cmake "$SOURCE/tests/package/fetched" "$WORK/build" -DHOLDFAST_SOURCE="$SOURCE" \
    -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0
ninja -C "$WORK/build" -t commands app >"$WORK/steps"
for file in libholdfast.so stores/holdfast_store_file.so stores/holdfast_store_redis.so; do
    grep -q -e "-o [^ ]*/$file" "$WORK/steps" || fail "app comes without $file"
done

if [[ ${HOLDFAST_TEST_COUNTS:-} == full ]]; then
    cmake --build "$WORK/build" --parallel "$JOBS" --target app >"$WORK/log" 2>&1 || { cat "$WORK/log"; fail "build"; }
    run_consumer "$WORK/build/app"
fi
