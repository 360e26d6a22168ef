# holdfast_add_test(
#     NAME unit.keeper            # ctest name; the executable is <build>/bin/tests/unit_keeper
#     SOURCES keeper_test.cpp
#     [PRECOMPILE <holdfast/holdfast.hpp>]  # headers of most sources, where there are more than three of them
#     [LIBS holdfast_objects]     # holdfast_objects for internal symbols, holdfast::holdfast for the public ones
#     [LABELS unit sanitize]      # the first part of the name is always a label
#     [TIMEOUT 60]                # seconds
#     [SHARDS 4]                  # as many ctest entries, each with its share of the cases
#     [WORKS]                     # keeps a core busy; without it, it mostly waits, and others run beside it
#     [SERVERS]                   # its private servers work as much as it does: half of the others run beside it
#     [SERIAL]                    # nothing else runs beside it: for tests that measure time
#     [RELEASE_ONLY]              # `make test` leaves it out, `make test-all` has it (label release)
#     [NO_ENTRIES]                # no ctest entry: holdfast_add_entries adds them
#     [NO_MAIN]                   # the sources have a main() of their own
#     [DEPENDS targets...]        # to be built before, such as holdfast_cli
#     [ARGS arguments...] [ENVIRONMENT NAME=value...])
#
# defines one test program. Two labels choose it for the sanitizer parts of `make test`: `sanitize` for both builds, `asan`
# for AddressSanitizer alone, where all that is tested runs on one thread: ThreadSanitizer has nothing to find there.

find_package(GTest REQUIRED)

add_custom_target(holdfast_tests)            # every test program and what it needs
add_custom_target(holdfast_sanitize_tests)   # those whose labels choose them for this sanitizer
add_custom_target(holdfast_simulation_tests) # those whose name begins with simulation

# Tests see none of the user's settings. Sanitizers stop at the first finding.
set(HOLDFAST_TEST_ENVIRONMENT
    "LC_ALL=set:C.UTF-8"
    "TZ=set:UTC"
    "HOLDFAST_STORE=unset:"
    "XDG_STATE_HOME=unset:"
    "ASAN_OPTIONS=set:detect_stack_use_after_return=1:strict_string_checks=1:check_initialization_order=1"
    "UBSAN_OPTIONS=set:print_stacktrace=1:halt_on_error=1"
    "TSAN_OPTIONS=set:halt_on_error=1:second_deadlock_stack=1:history_size=4:suppressions=${PROJECT_SOURCE_DIR}/tests/tsan.supp")

function(holdfast_set_test_properties test)
    cmake_parse_arguments(PARSE_ARGV 1 arg "SERIAL;WORKS;SERVERS;RELEASE_ONLY" "TIMEOUT" "LABELS;ENVIRONMENT")
    # tools/test runs five times as many at a time as there are cores; whoever works counts for five.
    set(weight 1)
    if(arg_SERVERS)
        set(weight 2)
    endif()
    if(arg_WORKS)
        set(weight 5)
    endif()
    if(arg_RELEASE_ONLY)
        list(APPEND arg_LABELS release)
    endif()
    set(modifications ${HOLDFAST_TEST_ENVIRONMENT})
    foreach(setting IN LISTS arg_ENVIRONMENT)
        string(REGEX REPLACE "^([^=]+)=(.*)$" "\\1=set:\\2" setting "${setting}")
        list(APPEND modifications "${setting}")
    endforeach()
    set_tests_properties(${test} PROPERTIES
        LABELS "${arg_LABELS}"
        TIMEOUT ${arg_TIMEOUT}
        RUN_SERIAL ${arg_SERIAL}
        PROCESSORS ${weight}
        COST ${arg_TIMEOUT} # whoever may take long begins early
        ENVIRONMENT_MODIFICATION "${modifications}")
endfunction()

# Those of the words SERIAL, WORKS, SERVERS and RELEASE_ONLY that the caller was given.
macro(holdfast_get_manner out)
    set(${out} "")
    foreach(word SERIAL WORKS SERVERS RELEASE_ONLY)
        if(arg_${word})
            list(APPEND ${out} ${word})
        endif()
    endforeach()
endmacro()

function(holdfast_add_test)
    cmake_parse_arguments(PARSE_ARGV 0 arg "SERIAL;WORKS;SERVERS;RELEASE_ONLY;NO_MAIN;NO_ENTRIES" "NAME;TIMEOUT;SHARDS"
        "SOURCES;PRECOMPILE;LIBS;LABELS;DEPENDS;ARGS;ENVIRONMENT")
    if(arg_UNPARSED_ARGUMENTS OR NOT arg_NAME OR NOT arg_SOURCES)
        message(FATAL_ERROR "holdfast_add_test(${arg_NAME}): bad arguments ${arg_UNPARSED_ARGUMENTS}")
    endif()
    string(REGEX REPLACE "\\..*" "" kind "${arg_NAME}")
    list(APPEND arg_LABELS ${kind})
    list(REMOVE_DUPLICATES arg_LABELS)

    string(REPLACE "." "_" target "${arg_NAME}")
    add_executable(${target} ${arg_SOURCES})
    list(LENGTH arg_SOURCES sources)
    if(sources GREATER 3) # for fewer it costs more than it saves
        holdfast_precompile(${target} <gtest/gtest.h> ${arg_PRECOMPILE})
    endif()
    if(HOLDFAST_SANITIZE)
        target_compile_options(${target} PRIVATE -O0) # a third less time to compile; what they test keeps its level
    endif()
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin/tests")
    target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
    target_link_libraries(${target} PRIVATE ${arg_LIBS} holdfast_warnings)
    if(arg_NO_MAIN)
        target_link_libraries(${target} PRIVATE GTest::gtest)
    else()
        target_link_libraries(${target} PRIVATE GTest::gtest_main)
    endif()
    add_dependencies(${target} holdfast_stores ${arg_DEPENDS})
    add_dependencies(holdfast_tests ${target})
    if("sanitize" IN_LIST arg_LABELS OR ("asan" IN_LIST arg_LABELS AND NOT HOLDFAST_SANITIZE STREQUAL "thread"))
        add_dependencies(holdfast_sanitize_tests ${target})
    endif()
    if("simulation" IN_LIST arg_LABELS)
        add_dependencies(holdfast_simulation_tests ${target})
    endif()

    if(NOT arg_NO_ENTRIES)
        holdfast_get_manner(how)
        holdfast_add_entries(NAME ${arg_NAME} TARGET ${target} ${how} SHARDS ${arg_SHARDS} TIMEOUT ${arg_TIMEOUT}
            LABELS ${arg_LABELS} ARGS ${arg_ARGS} ENVIRONMENT ${arg_ENVIRONMENT})
    endif()
endfunction()

# holdfast_add_entries(NAME conformance.redis TARGET conformance_stores ...) with the words of holdfast_add_test that
# say how a test runs
#
# adds ctest entries for a test program that is there. Several sets may run parts of one program.
function(holdfast_add_entries)
    cmake_parse_arguments(PARSE_ARGV 0 arg "SERIAL;WORKS;SERVERS;RELEASE_ONLY" "NAME;TARGET;TIMEOUT;SHARDS"
        "LABELS;ARGS;ENVIRONMENT")
    string(REGEX REPLACE "\\..*" "" kind "${arg_NAME}")
    list(APPEND arg_LABELS ${kind})
    list(REMOVE_DUPLICATES arg_LABELS)
    if(NOT arg_SHARDS)
        set(arg_SHARDS 1)
    endif()
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 60)
    endif()
    if(HOLDFAST_SANITIZE)
        math(EXPR arg_TIMEOUT "${arg_TIMEOUT} * 5")
    endif()
    holdfast_get_manner(how)
    foreach(shard RANGE 1 ${arg_SHARDS})
        set(test ${arg_NAME})
        set(sharding "")
        if(arg_SHARDS GREATER 1)
            math(EXPR index "${shard} - 1")
            string(APPEND test ".${shard}")
            set(sharding GTEST_TOTAL_SHARDS=${arg_SHARDS} GTEST_SHARD_INDEX=${index})
        endif()
        add_test(NAME ${test} COMMAND ${arg_TARGET} ${arg_ARGS})
        holdfast_set_test_properties(${test} ${how} TIMEOUT ${arg_TIMEOUT} LABELS ${arg_LABELS}
            ENVIRONMENT ${sharding} ${arg_ENVIRONMENT})
    endforeach()
endfunction()

# holdfast_add_script_test(NAME style.includes COMMAND program arguments... [LABELS ...] [TIMEOUT 60] [WORKS] [SERIAL])
# defines a test that is a script.
function(holdfast_add_script_test)
    cmake_parse_arguments(PARSE_ARGV 0 arg "SERIAL;WORKS;SERVERS;RELEASE_ONLY" "NAME;TIMEOUT" "COMMAND;LABELS;ENVIRONMENT")
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 60)
    endif()
    string(REGEX REPLACE "\\..*" "" kind "${arg_NAME}")
    holdfast_get_manner(how)
    add_test(NAME ${arg_NAME} COMMAND ${arg_COMMAND})
    holdfast_set_test_properties(${arg_NAME} ${how} TIMEOUT ${arg_TIMEOUT} LABELS ${arg_LABELS} ${kind}
        ENVIRONMENT ${arg_ENVIRONMENT})
endfunction()
