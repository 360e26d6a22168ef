#!/bin/bash
# Each public header compiles alone, without a warning, and pulls in no header of a driver or of Boost.
#     headers.sh PREFIX
source "$(dirname "$0")/common.sh"

check() { # header, relative to the include folder
    local flags=(-std=c++20 -x c++ -I "$1" -include "$2")
    g++ "${flags[@]}" -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -fsyntax-only /dev/null ||
        { echo "FAILED: $2 does not compile alone" >&2; return 1; }
    [[ $2 == *asio* ]] && return 0
    if g++ "${flags[@]}" -M /dev/null | grep -E '/(boost|sqlite3|grpc|hiredis|openssl|libpq-fe|postgresql|mysql|mariadb|zookeeper)[./]'; then
        echo "FAILED: $2 reaches a header of another library" >&2
        return 1
    fi
}
export -f check

# Whoever compiles for an older language is told so before anything else.
refuse() {
    local said
    said=$(g++ -std=c++17 -x c++ -I "$1" -include "$2" -fsyntax-only /dev/null 2>&1 | grep -m 1 ' error: ')
    [[ $said == *"holdfast needs C++20"* || $2 == holdfast/detail/* ]] ||
        { echo "FAILED: in C++17 $2 says '$said'" >&2; return 1; }
}
export -f refuse

cd "$1/include"
cat >"$WORK/version.cpp" <<END
#include <holdfast/version.hpp>
#include <cstdio>
int main() { std::printf("%s %d\n", HOLDFAST_VERSION_STRING, HOLDFAST_VERSION); }
END
g++ -std=c++20 -I . "$WORK/version.cpp" -o "$WORK/version"
IFS=. read -r major minor patch <<<"$VERSION"
[[ $("$WORK/version") == "$VERSION $((major * 10000 + minor * 100 + patch))" ]] || fail "version.hpp says $("$WORK/version")"
count=$(find holdfast -name '*.hpp' | wc -l)
[[ $count -ge 8 ]] || fail "only $count headers"
find holdfast -name '*.hpp' -print0 | xargs -0 -n 1 -P "$JOBS" bash -c 'check "$0" "$1" && refuse "$0" "$1"' "$1/include"
echo "$count headers"
