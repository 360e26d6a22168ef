# Warnings for our own sources only. Targets link holdfast_warnings PRIVATE; it is never installed, and a project that
# includes holdfast by add_subdirectory is not made to fail by a warning of a newer compiler.

add_library(holdfast_warnings INTERFACE)

if(PROJECT_IS_TOP_LEVEL)
    target_compile_options(holdfast_warnings INTERFACE
        -Wall
        -Wextra
        -Wpedantic
        -Wcast-align
        -Wconversion
        -Wdouble-promotion
        -Wextra-semi
        -Wformat=2
        -Wnon-virtual-dtor
        -Wold-style-cast
        -Woverloaded-virtual
        -Wshadow
        -Wsign-conversion
        -Wundef
        -Wunused
        $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-branches>
        $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-cond>
        $<$<CXX_COMPILER_ID:GNU>:-Wlogical-op>
        $<$<CXX_COMPILER_ID:GNU>:-Wsuggest-override>
        $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>)
    if(HOLDFAST_SANITIZE)
        # The instrumentation hides from the optimizer what it would need to know: this one then reports falsely.
        target_compile_options(holdfast_warnings INTERFACE -Wno-null-dereference -Wno-maybe-uninitialized)
        if(HOLDFAST_SANITIZE STREQUAL "thread")
            # Fences are understood by neither; ours are never the only synchronization.
            target_compile_options(holdfast_warnings INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
        endif()
    endif()
endif()

if(HOLDFAST_WARNINGS_AS_ERRORS)
    target_compile_options(holdfast_warnings INTERFACE -Werror)
endif()
