# Sourced by the tests of this folder. SOURCE is the tree under test, VERSION the version that it should have, WORK a
# folder that is removed at the end.
set -euo pipefail

SOURCE=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
CONSUMER=$SOURCE/tests/package/consumer
JOBS=$(nproc)
BUILD=${HOLDFAST_PACKAGE_BUILD:-dev} # the preset whose build is installed
VERSION=${HOLDFAST_EXPECTED_VERSION:?is set by ctest}
ABI=${VERSION%%.*} # of the library: the minor version counts before 1.0
[[ $ABI -gt 0 ]] || ABI=${VERSION%.*}
WORK=$(mktemp -d "${TMPDIR:-/tmp}/holdfast-package.XXXXXX")
trap 'rm -rf "$WORK"' EXIT

# The tests run inside `make test`; the make that they start is not a part of it.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES CMAKE_PREFIX_PATH PKG_CONFIG_PATH LD_LIBRARY_PATH HOLDFAST_STORE

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# Runs a consumer on both stores that every installation has; it must find its modules by itself.
run_consumer() {
    "$@" memory: "file:$WORK/locks.db" || fail "$*"
    [[ -s $WORK/locks.db ]] || fail "the file store left no file"
    rm -rf "$WORK"/locks.db*
}

# Configures and builds with a clean mind; shows the output only when it goes wrong.
configure_with_cmake() { # source, build folder, options...
    local source=$1 build=$2
    shift 2
    cmake -S "$source" -B "$build" -G Ninja "$@" >"$WORK/log" 2>&1 || { cat "$WORK/log"; fail "configure $source"; }
}
build_with_cmake() {
    local source=$1 build=$2
    configure_with_cmake "$@"
    cmake --build "$build" --parallel "$JOBS" >"$WORK/log" 2>&1 || { cat "$WORK/log"; fail "build $source"; }
}
