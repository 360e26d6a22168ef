#!/bin/bash
# The .deb files: their fields, their way in and out, and the command, the library and the headers that they bring.
source "$(dirname "$0")/common.sh"

make -C "$SOURCE" --no-print-directory package >"$WORK/log" 2>&1 || { cat "$WORK/log"; fail "make package"; }
debs=("$SOURCE"/build/package/*.deb)
mapfile -t stores < <(find "$SOURCE/build/release/lib" -name 'holdfast_store_*.so' |
    sed 's/.*holdfast_store_\(.*\)\.so/\1/' | sort)
[[ ${#debs[@]} -eq $((3 + ${#stores[@]})) ]] || fail "not a package for each part: ${debs[*]}"

library=libholdfast$ABI
field() { dpkg-deb -f "$SOURCE/build/package/$1"_*.deb "$2"; }
depends() { # package, one that it depends on
    [[ $(field "$1" Depends) == *"$2"* ]] || fail "$1 does not depend on $2"
}
depends "$library-file" libsqlite3-0
depends "$library-redis" libssl3
depends "$library-etcd" libgrpc++
depends "$library-postgres" libpq5
depends "$library-mysql" libmariadb3
depends "$library-zookeeper" libzookeeper-st2
depends libholdfast-dev "$library (= $VERSION)"
depends holdfast "$library (= $VERSION)"
depends holdfast "$library-file (= $VERSION)"
for store in "${stores[@]}"; do depends "$library-$store" "$library (= $VERSION)"; done
# Nobody installs OpenSSL for a lock in a file.
for package in "$library" "$library-file" holdfast; do
    [[ $(field "$package" Depends) != *ssl* ]] || fail "$package depends on OpenSSL"
done
[[ $(field "$library" Depends) != *sqlite* ]] || fail "$library depends on SQLite"

# dpkg itself finds nothing to object to: dependencies, conflicts, files of other packages.
dpkg --no-act --install "${debs[@]}" >"$WORK/log" 2>&1 || { cat "$WORK/log"; fail "dpkg would refuse"; }

# A system of their own, which has nothing else: not even a shell, so their scripts run outside of it, with an ldconfig
# that only takes notes. Only root can install, be it there; others unpack.
root=$WORK/root
packages=(holdfast "$library" "${stores[@]/#/$library-}" libholdfast-dev)
in_root() {
    PATH=$WORK/bin:$PATH:/usr/sbin:/sbin dpkg --root="$root" --log="$WORK/dpkg.log" --force-depends \
        --force-script-chrootless "$@" >"$WORK/log" 2>&1 || { cat "$WORK/log"; fail "dpkg $1"; }
}
cache_renewed() { [[ $(wc -l <"$WORK/ldconfig.log") -eq $1 ]] || fail "ldconfig was not called $2"; }
if [[ $EUID -eq 0 ]]; then
    mkdir -p "$root"/var/lib/dpkg/{info,updates} "$WORK/bin"
    touch "$root/var/lib/dpkg/status"
    printf '#!/bin/sh\necho called >>"%s"\n' "$WORK/ldconfig.log" >"$WORK/bin/ldconfig"
    chmod +x "$WORK/bin/ldconfig"
    in_root --install "${debs[@]}"
    cache_renewed 1 "after the installation"
    for package in "${packages[@]}"; do
        in_root --status "$package"
        grep -q '^Status: install ok installed$' "$WORK/log" || { cat "$WORK/log"; fail "$package is not installed"; }
    done
else
    for deb in "${debs[@]}"; do dpkg-deb -x "$deb" "$root"; done
fi
lib=$root/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)
[[ -e $lib/libholdfast.so.$ABI && -e $lib/holdfast/stores/holdfast_store_file.so ]] || fail "library or store is missing"

[[ $(stat -c %a "$root/var/lib/holdfast") == 755 ]] || fail "the directory of the superuser's default store"

store=file:$WORK/locks.db
[[ $("$root/usr/bin/holdfast" --store "$store" run orders -- echo held) == held ]] || fail "the packaged command"
rm -rf "$WORK"/locks.db*

# A store whose package is not there is named with it.
mv "$lib/holdfast/stores/holdfast_store_redis.so" "$WORK"
"$root/usr/bin/holdfast" --store redis://127.0.0.1:1 list >"$WORK/log" 2>&1 && fail "a store that is not installed"
grep -q "the store 'redis' is not installed: .* it comes with $library-redis" "$WORK/log" || { cat "$WORK/log"; fail "words"; }
mv "$WORK/holdfast_store_redis.so" "$lib/holdfast/stores"

build_with_cmake "$CONSUMER" "$WORK/build" -DCMAKE_PREFIX_PATH="$root/usr" -DWANTED_VERSION="$VERSION"
run_consumer "$WORK/build/consumer"

export PKG_CONFIG_PATH=$lib/pkgconfig
# shellcheck disable=SC2046 # flags are words
g++ -std=c++20 "$CONSUMER/main.cpp" -o "$WORK/consumer" $(pkg-config --cflags --libs holdfast)
run_consumer env LD_LIBRARY_PATH="$lib" "$WORK/consumer"

if [[ $EUID -eq 0 ]]; then
    in_root --remove "${packages[@]}"
    cache_renewed 2 "after the removal"
    left=$(find "$root" ! -type d ! -path "$root/var/lib/dpkg/*" -o -iname '*holdfast*' ! -path "$root/var/lib/dpkg/*")
    [[ -z $left ]] || fail "left behind: $left"
fi
