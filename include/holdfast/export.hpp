#pragma once

/// @file
/// HOLDFAST_EXPORT marks what programs may link to; everything else in the library is hidden.
///
/// HOLDFAST_STATIC is defined for everyone who links the static library (the CMake package and pkg-config do it);
/// HOLDFAST_BUILDING only while the library itself is compiled.

#include <holdfast/version.hpp>

#if defined(HOLDFAST_STATIC)
#define HOLDFAST_EXPORT
#elif defined(_WIN32)
#if defined(HOLDFAST_BUILDING)
#define HOLDFAST_EXPORT __declspec(dllexport)
#else
#define HOLDFAST_EXPORT __declspec(dllimport)
#endif
#else
#define HOLDFAST_EXPORT [[gnu::visibility("default")]]
#endif
