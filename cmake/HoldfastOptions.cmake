# What a person who builds holdfast can choose. Inside another project everything but the library is off.

option(HOLDFAST_BUILD_CLI "Build the holdfast command" ${PROJECT_IS_TOP_LEVEL})
option(HOLDFAST_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(HOLDFAST_BUILD_BENCH "Build the benchmarks" ${PROJECT_IS_TOP_LEVEL})
option(HOLDFAST_BUILD_EXAMPLES "Build the examples" ${PROJECT_IS_TOP_LEVEL})
option(HOLDFAST_INSTALL "Define the install rules" ${PROJECT_IS_TOP_LEVEL})
option(HOLDFAST_WARNINGS_AS_ERRORS "Compile holdfast itself with -Werror, as the presets for its own tests do" OFF)
option(HOLDFAST_STATIC_STORES "Link the stores into the library instead of loading them on first use" OFF)

if(PROJECT_IS_TOP_LEVEL)
    option(BUILD_SHARED_LIBS "Build a shared library; OFF gives a static one with all stores linked in" ON)
elseif(NOT DEFINED BUILD_SHARED_LIBS)
    set(BUILD_SHARED_LIBS ON) # this directory only: the project around us keeps its own default
endif()

# A static library has no place of its own from which it could load modules.
set(HOLDFAST_LINK_STORES ${HOLDFAST_STATIC_STORES})
if(NOT BUILD_SHARED_LIBS)
    set(HOLDFAST_LINK_STORES ON)
endif()

set(HOLDFAST_SANITIZE "" CACHE STRING "Sanitizers of the whole build: empty, address,undefined or thread")
set_property(CACHE HOLDFAST_SANITIZE PROPERTY STRINGS "" "address,undefined" "thread")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)

if(PROJECT_IS_TOP_LEVEL)
    set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
    if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
        set(CMAKE_BUILD_TYPE Release CACHE STRING "Kind of build" FORCE)
    endif()
    find_program(HOLDFAST_CCACHE ccache)
    mark_as_advanced(HOLDFAST_CCACHE)
    if(HOLDFAST_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
        set(CMAKE_CXX_COMPILER_LAUNCHER "${HOLDFAST_CCACHE}")
    endif()
endif()

if(HOLDFAST_SANITIZE)
    add_compile_options(-fsanitize=${HOLDFAST_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${HOLDFAST_SANITIZE})
endif()

# Fewer mappings for each file that is loaded: the command starts 3 % sooner.
include(CheckLinkerFlag)
check_linker_flag(CXX "LINKER:-z,noseparate-code" HOLDFAST_HAS_NOSEPARATE_CODE)
if(HOLDFAST_HAS_NOSEPARATE_CODE)
    add_link_options("LINKER:-z,noseparate-code")
endif()

# Symbols that a linker map does not name stay inside of a library. The sanitizers need some of theirs.
function(holdfast_use_symbol_map target map)
    if(HOLDFAST_HAS_VERSION_SCRIPT AND NOT HOLDFAST_SANITIZE)
        target_link_options(${target} PRIVATE "LINKER:--version-script=${map}")
        set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${map}")
    endif()
endfunction()
check_linker_flag(CXX "LINKER:--version-script=${CMAKE_CURRENT_LIST_DIR}/store_module.map" HOLDFAST_HAS_VERSION_SCRIPT)

# What changes when programs must be compiled again: the minor version before 1.0, the major one from then on.
set(HOLDFAST_ABI ${PROJECT_VERSION_MAJOR})
if(PROJECT_VERSION_MAJOR EQUAL 0)
    set(HOLDFAST_ABI ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
endif()

find_package(Threads REQUIRED)
# Headers only, in src/core, src/runtime, the stores memory and redis, and in the public asio.hpp. boost::unordered_flat_map
# came with 1.81.
find_package(Boost 1.81 REQUIRED)
