# Warnings for our own sources only. Targets link holdfast_warnings PRIVATE; it is never installed. They are errors in our own
# tests alone: neither a project that includes holdfast nor `make install` fails by a warning of a newer compiler.

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
            -Wno-array-bounds -Wno-maybe-uninitialized -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread)
        if(CMAKE_UNITY_BUILD)
            # What a source has to itself counts as seen by others when the source is included.
            target_compile_options(holdfast_warnings INTERFACE -Wno-subobject-linkage)
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
