#!/bin/bash
# The choices of a person who builds: each store ON, OFF or AUTO, as a module or linked in. Nothing is compiled here.
source "$(dirname "$0")/common.sh"

try() { # what the configuration must say, options...
    local words=$1
    shift
    rm -rf "$WORK/build"
    cmake -S "$SOURCE" -B "$WORK/build" -G Ninja -DHOLDFAST_BUILD_TESTS=OFF -DHOLDFAST_BUILD_BENCH=OFF \
        -DHOLDFAST_BUILD_CLI=OFF -DHOLDFAST_BUILD_EXAMPLES=OFF "$@" >"$WORK/log" 2>&1
    local status=$?
    tr -s '\n ' ' ' <"$WORK/log" | grep -q -F -e "$words" || { cat "$WORK/log"; fail "$*: expected '$words'"; }
    return "$status"
}
known() { grep -q -F -e "$1" "$WORK/build/generated/static_stores.cpp" || fail "the table of stores lacks '$1'"; }

missing=-DCMAKE_DISABLE_FIND_PACKAGE_SQLite3=ON

try "file (module)" || fail "AUTO"
known '{"file", "file", true}'
try "file (module)" -DHOLDFAST_STORE_FILE=ON || fail "ON"
try "file (off)" -DHOLDFAST_STORE_FILE=OFF || fail "OFF"
known '{"file", "file", false}'
try "file (off)" "$missing" || fail "AUTO without SQLite"
if try "HOLDFAST_STORE_FILE=ON needs SQLite3" -DHOLDFAST_STORE_FILE=ON "$missing"; then fail "ON without SQLite"; fi
try "file (linked)" -DHOLDFAST_STATIC_STORES=ON || fail "linked in"
known '{"file", "file", &holdfast_store_file_v1}'
try "file (linked)" -DBUILD_SHARED_LIBS=OFF || fail "static"

# The table of the documents has each of them, and no other.
grep -oE '^(HOLDFAST_[A-Z_]+|BUILD_SHARED_LIBS):(BOOL|STRING)' "$WORK/build/CMakeCache.txt" | cut -d : -f 1 | sort >"$WORK/options"
sed -n 's/^| `\([A-Z_]*\)` |.*/\1/p' "$SOURCE/docs/building.md" | sort >"$WORK/table"
diff "$WORK/options" "$WORK/table" || fail "docs/building.md has other options than CMake"
