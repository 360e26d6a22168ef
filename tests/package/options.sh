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

# Debian has the files that gRPC's package for CMake asks for in several packages, and without one of them it fails when it is
# asked. A place with such a package, which lacks one file:
grpc=$WORK/grpc/lib/cmake/grpc
mkdir -p "$grpc" "$WORK/grpc/bin"
echo 'set(PACKAGE_VERSION 1.51.1)' >"$grpc/gRPCConfigVersion.cmake"
echo 'message(FATAL_ERROR "the package was asked")' >"$grpc/gRPCConfig.cmake"
echo 'list(APPEND _cmake_import_check_files_for_gRPC::odd_plugin "${_IMPORT_PREFIX}/bin/holdfast_odd_plugin" )' >"$grpc/gRPCTargets-none.cmake"
for where in "-DCMAKE_PREFIX_PATH=$WORK/grpc" "-DgRPC_DIR=$grpc"; do
    try "gRPC not found, so HOLDFAST_STORE_ETCD=AUTO is off: its package for CMake is there, but asks for files that are not: bin/holdfast_odd_plugin" \
        "$where" || fail "AUTO with half of gRPC"
    if try "needs gRPC, which was not found: its package" -DHOLDFAST_STORE_ETCD=ON "$where"; then fail "ON with half of gRPC"; fi
done
touch "$WORK/grpc/bin/holdfast_odd_plugin"
if try "the package was asked" "-DCMAKE_PREFIX_PATH=$WORK/grpc"; then fail "all of gRPC is there"; fi
try "so HOLDFAST_STORE_ETCD=AUTO is off: its compiler protoc is missing" -DCMAKE_DISABLE_FIND_PACKAGE_Protobuf=ON || fail "AUTO without protoc"
try "etcd (module)" || fail "etcd"

# The table of the documents has each of them, and no other.
grep -oE '^(HOLDFAST_[A-Z_]+|BUILD_SHARED_LIBS):(BOOL|STRING)' "$WORK/build/CMakeCache.txt" | cut -d : -f 1 | sort >"$WORK/options"
sed -n 's/^| `\([A-Z_]*\)` |.*/\1/p' "$SOURCE/docs/building.md" | sort >"$WORK/table"
diff "$WORK/options" "$WORK/table" || fail "docs/building.md has other options than CMake"
