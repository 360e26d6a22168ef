// The version of the headers, for #if; and the language that they need.
#pragma once

#if defined(_MSVC_LANG)
#define HOLDFAST_LANGUAGE _MSVC_LANG
#else
#define HOLDFAST_LANGUAGE __cplusplus
#endif
#if HOLDFAST_LANGUAGE < 202002L
#error "holdfast needs C++20: compile with -std=c++20, or set CMAKE_CXX_STANDARD to 20"
#endif
#undef HOLDFAST_LANGUAGE

/// Three numbers, changed with every release. Before 1.0 a minor version may change the interface.
#define HOLDFAST_VERSION_MAJOR 0
#define HOLDFAST_VERSION_MINOR 1
#define HOLDFAST_VERSION_PATCH 0

/// "0.1.0".
#define HOLDFAST_VERSION_STRING "0.1.0"

/// One number that rises with the version: 100 for 0.1.0, 10203 for 1.2.3.
#define HOLDFAST_VERSION \
    (HOLDFAST_VERSION_MAJOR * 10000 + HOLDFAST_VERSION_MINOR * 100 + HOLDFAST_VERSION_PATCH)
