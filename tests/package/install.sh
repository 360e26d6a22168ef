#!/bin/bash
# `make install` puts everything where it belongs, and nothing of the build tree into it.
#     install.sh PREFIX
source "$(dirname "$0")/common.sh"
PREFIX=$1

rm -rf "$PREFIX"
make -C "$SOURCE" --no-print-directory install BUILD="$BUILD" PREFIX="$PREFIX" >"$WORK/log" 2>&1 || {
    cat "$WORK/log"
    fail "make install"
}

for file in bin/holdfast lib/libholdfast.so "lib/libholdfast.so.$ABI" lib/holdfast/stores/holdfast_store_file.so \
    lib/cmake/holdfast/holdfastConfig.cmake lib/pkgconfig/holdfast.pc include/holdfast/holdfast.hpp \
    lib/holdfast/stores/holdfast_store_redis.so lib/holdfast/stores/holdfast_store_postgres.so lib/holdfast/stores/holdfast_store_mysql.so lib/holdfast/stores/holdfast_store_zookeeper.so lib/holdfast/stores/holdfast_store_quorum.so share/man/man1/holdfast.1 share/bash-completion/completions/holdfast \
    share/zsh/vendor-completions/_holdfast share/fish/vendor_completions.d/holdfast.fish \
    share/doc/holdfast/examples/systemd/nightly.service share/doc/holdfast/examples/cron/holdfast; do
    [[ -e $PREFIX/$file ]] || fail "$file is not installed"
done

(cd "$SOURCE/include" && find holdfast -name '*.hpp' | sort) >"$WORK/there"
(cd "$PREFIX/include" && find holdfast -type f | sort) >"$WORK/installed"
diff "$WORK/there" "$WORK/installed" || fail "the installed headers are not the headers"

if grep -rlI "$SOURCE" "$PREFIX"; then fail "the installation knows the source tree"; fi
search_paths() { # root of an installation, or of a build tree, which has the same shape
    readelf -d "$1/bin/holdfast" "$1"/lib/*.so "$1"/lib/holdfast/stores/*.so | grep -E 'R(UN)?PATH'
}
if search_paths "$PREFIX" | grep -v '\[\$ORIGIN/'; then fail "a search path leads out of the installation"; fi
for root in "$PREFIX" "$SOURCE/build/$BUILD"; do
    # The empty element is the current directory, where anybody may have put a library.
    if search_paths "$root" | grep -E '\[:|::|:\]'; then fail "a search path of $root has an empty element"; fi
done

version=$("$PREFIX/bin/holdfast" --version)
[[ $version == *"$VERSION"* ]] || fail "holdfast --version says '$version'"
store=file:$WORK/locks.db
[[ $("$PREFIX/bin/holdfast" --store "$store" run orders -- echo held) == held ]] || fail "holdfast run"

# It may be moved as a whole.
cp -a "$PREFIX" "$WORK/moved"
(cd / && "$WORK/moved/bin/holdfast" --store "$store" run orders -- true) || fail "the moved command"

# Only the interface is exported, each symbol with its version; all else would be a promise that nobody means to keep, or
# take the place of what another library compiled from the same templates.
nm -DC --defined-only --with-symbol-versions "$PREFIX/lib/libholdfast.so" >"$WORK/symbols"
grep -q " holdfast::v1::client::ping()@@HOLDFAST_$ABI\$" "$WORK/symbols" || fail "the library exports nothing"
if grep -v -E " (vtable for |typeinfo (name )?for )?holdfast::v1::.*@@HOLDFAST_$ABI\$| A HOLDFAST_$ABI" "$WORK/symbols"; then
    fail "symbols are exported that are no part of the interface"
fi
readelf -d "$PREFIX/lib/libholdfast.so" | grep -q "soname: \[libholdfast.so.$ABI\]" || fail "the name of the library"
for module in "$PREFIX"/lib/holdfast/stores/*.so; do
    name=$(basename "$module" .so)
    [[ $(nm -D --defined-only "$module" | cut -d ' ' -f 3) == "${name}_v1" ]] || fail "$name exports something else"
done

# One category of errors in a process: an error is told from others by the address of its category.
nm -C "$PREFIX/bin/holdfast" >"$WORK/command"
grep -q ' U holdfast::v1::client::client' "$WORK/command" || fail "the command has no symbols to look at"
if grep -E ' [TtBbDdRr] holdfast::v1::(error_category|make_error_code)\(' "$WORK/command"; then
    fail "the command has a copy of the library's errors"
fi
