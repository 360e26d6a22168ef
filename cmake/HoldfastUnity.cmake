# The builds for developers set CMAKE_UNITY_BUILD (see CMakePresets.json): several sources are compiled as one, in a third of
# the time. Names in their unnamed namespaces then meet each other, so helpers that several sources need stand in a header, and
# those that are alike by design stay apart by
#
#     holdfast_compile_alone(one.cpp other.cpp)
#
# in the folder that lists the sources. The release build compiles each source by itself, and so do the package tests.

function(holdfast_compile_alone)
    set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
