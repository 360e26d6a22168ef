# The target libmariadb::libmariadb. The library itself installs no package for CMake.

find_path(LIBMARIADB_INCLUDE_DIR mysql.h PATH_SUFFIXES mariadb)
find_library(LIBMARIADB_LIBRARY mariadb PATH_SUFFIXES mariadb)
mark_as_advanced(LIBMARIADB_INCLUDE_DIR LIBMARIADB_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(libmariadb REQUIRED_VARS LIBMARIADB_LIBRARY LIBMARIADB_INCLUDE_DIR)

if(libmariadb_FOUND AND NOT TARGET libmariadb::libmariadb)
    add_library(libmariadb::libmariadb UNKNOWN IMPORTED)
    set_target_properties(libmariadb::libmariadb PROPERTIES
        IMPORTED_LOCATION "${LIBMARIADB_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${LIBMARIADB_INCLUDE_DIR}")
endif()
