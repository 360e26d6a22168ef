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
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        # Guesses of the optimizer, wrong about std::string and Boost containers in GCC 12 and dependent on -O.
        # AddressSanitizer looks at the same things and knows.
        target_compile_options(holdfast_warnings INTERFACE
            -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread)
        if(HOLDFAST_SANITIZE)
            # The instrumentation hides from the optimizer what it would need to know.
            target_compile_options(holdfast_warnings INTERFACE -Wno-maybe-uninitialized)
        endif()
        if(HOLDFAST_SANITIZE STREQUAL "thread")
            # ThreadSanitizer does not understand fences; Boost has some.
            target_compile_options(holdfast_warnings INTERFACE -Wno-tsan)
        endif()
    endif()
endif()

if(HOLDFAST_WARNINGS_AS_ERRORS)
    target_compile_options(holdfast_warnings INTERFACE -Werror)
endif()
