# cmake -DFOLDER=scripts -DOUTPUT=scripts.cpp "-DNAMES=submit;…;plain/acquire" -P scripts.cmake
#
# Puts the scripts together as scripts/CONVENTION.md says and writes them as C++ strings, each with the SHA-1 by which
# the server knows it. Comments and the blanks before a line are left out: the server keeps every byte.

cmake_minimum_required(VERSION 3.22)

function(read_script path out)
    file(READ "${FOLDER}/${path}.lua" text)
    string(REGEX MATCHALL "--@include [a-z_/]+\n" includes "${text}")
    foreach(line IN LISTS includes)
        string(REGEX REPLACE "--@include ([a-z_/]+)\n" "\\1" part "${line}")
        read_script("${part}" inner)
        string(REPLACE "${line}" "${inner}\n" text "${text}")
    endforeach()
    set(${out} "${text}" PARENT_SCOPE)
endfunction()

set(code "// Written by scripts.cmake.\n#include \"stores/redis/scripts.hpp\"\n\n")
string(APPEND code "namespace holdfast::stores::redis::scripts {\n")
foreach(name IN LISTS NAMES)
    read_script("${name}" text)
    string(REGEX REPLACE "\n[ \t]+" "\n" text "\n${text}")
    string(REGEX REPLACE "\n--[^\n]*" "" text "${text}")
    string(REGEX REPLACE "\n\n+" "\n" text "${text}")
    string(REGEX REPLACE "^\n" "" text "${text}")
    string(SHA1 sha "${text}")
    string(REPLACE "/" "_" variable "${name}")
    # A compiler need not take more than 64 KiB in one literal; ours are far smaller.
    string(APPEND code "\nscript const ${variable}{\"${name}\", \"${sha}\", R\"lua(${text})lua\"};\n")
endforeach()
string(APPEND code "\n}  // namespace holdfast::stores::redis::scripts\n")
file(WRITE "${OUTPUT}" "${code}")
