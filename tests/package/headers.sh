#!/bin/bash
# Each public header compiles alone, without a warning, and pulls in no header of a driver or of Boost.
#     headers.sh PREFIX
source "$(dirname "$0")/common.sh"

check() { # header, relative to the include folder
    local flags=(-std=c++20 -x c++ -I "$1" -include "$2")
    g++ "${flags[@]}" -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -fsyntax-only /dev/null ||
        { echo "FAILED: $2 does not compile alone" >&2; return 1; }
    [[ $2 == *asio* ]] && return 0
    if g++ "${flags[@]}" -M /dev/null | grep -E '/(boost|sqlite3|grpc|hiredis|openssl)[./]'; then
        echo "FAILED: $2 reaches a header of another library" >&2
        return 1
    fi
}
export -f check

cd "$1/include"
count=$(find holdfast -name '*.hpp' | wc -l)
[[ $count -ge 8 ]] || fail "only $count headers"
find holdfast -name '*.hpp' -print0 | xargs -0 -n 1 -P "$JOBS" bash -c 'check "$0" "$1"' "$1/include"
echo "$count headers"
