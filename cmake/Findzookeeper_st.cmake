# The target zookeeper::st: ZooKeeper's C client without threads of its own. It comes without a package of any kind.

find_path(ZOOKEEPER_INCLUDE_DIR zookeeper/zookeeper.h)
find_library(ZOOKEEPER_ST_LIBRARY zookeeper_st)
mark_as_advanced(ZOOKEEPER_INCLUDE_DIR ZOOKEEPER_ST_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(zookeeper_st REQUIRED_VARS ZOOKEEPER_ST_LIBRARY ZOOKEEPER_INCLUDE_DIR)

if(zookeeper_st_FOUND AND NOT TARGET zookeeper::st)
    add_library(zookeeper::st UNKNOWN IMPORTED)
    set_target_properties(zookeeper::st PROPERTIES
        IMPORTED_LOCATION "${ZOOKEEPER_ST_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${ZOOKEEPER_INCLUDE_DIR}")
endif()
