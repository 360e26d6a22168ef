#!/bin/bash
# The .deb files: their fields, and the command, the library and the headers out of them.
source "$(dirname "$0")/common.sh"

make -C "$SOURCE" --no-print-directory package >"$WORK/log" 2>&1 || { cat "$WORK/log"; fail "make package"; }
debs=("$SOURCE"/build/package/*.deb)
[[ ${#debs[@]} -eq 3 ]] || fail "not three packages: ${debs[*]}"

field() { dpkg-deb -f "$SOURCE/build/package/$1"_*.deb "$2"; }
[[ $(field libholdfast0 Depends) == *libsqlite3-0* ]] || fail "the library does not depend on SQLite"
[[ $(field libholdfast-dev Depends) == *"libholdfast0 (= $VERSION)"* ]] || fail "-dev does not depend on the library"
[[ $(field holdfast Depends) == *"libholdfast0 (= $VERSION)"* ]] || fail "the command does not depend on the library"

# dpkg itself finds nothing to object to: dependencies, conflicts, files of other packages.
dpkg --no-act --install "${debs[@]}" >"$WORK/log" 2>&1 || { cat "$WORK/log"; fail "dpkg would refuse"; }

root=$WORK/root
for deb in "${debs[@]}"; do dpkg-deb -x "$deb" "$root"; done
lib=$root/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)
[[ -e $lib/libholdfast.so.0 && -e $lib/holdfast/stores/holdfast_store_file.so ]] || fail "library or store is missing"

store=file:$WORK/locks.db
[[ $("$root/usr/bin/holdfast" --store "$store" run orders -- echo held) == held ]] || fail "the packaged command"
rm -rf "$WORK"/locks.db*

build_with_cmake "$CONSUMER" "$WORK/build" -DCMAKE_PREFIX_PATH="$root/usr" -DWANTED_VERSION="$VERSION"
run_consumer "$WORK/build/consumer"

export PKG_CONFIG_PATH=$lib/pkgconfig
# shellcheck disable=SC2046 # flags are words
g++ -std=c++20 "$CONSUMER/main.cpp" -o "$WORK/consumer" $(pkg-config --cflags --libs holdfast)
run_consumer env LD_LIBRARY_PATH="$lib" "$WORK/consumer"
