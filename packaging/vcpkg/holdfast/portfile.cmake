# An overlay port, which builds the tree that it lies in:
#
#     vcpkg install 'holdfast[redis,tool]' --overlay-ports=PATH-OF-HOLDFAST/packaging/vcpkg
#
# For a registry, replace the next line with vcpkg_from_github(...) of a release.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

vcpkg_check_features(OUT_FEATURE_OPTIONS feature_options FEATURES
    file HOLDFAST_STORE_FILE
    redis HOLDFAST_STORE_REDIS
    etcd HOLDFAST_STORE_ETCD
    postgres HOLDFAST_STORE_POSTGRES
    mysql HOLDFAST_STORE_MYSQL
    zookeeper HOLDFAST_STORE_ZOOKEEPER
    quorum HOLDFAST_STORE_QUORUM
    tool HOLDFAST_BUILD_CLI)

vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS
        -DHOLDFAST_BUILD_TESTS=OFF
        -DHOLDFAST_BUILD_BENCH=OFF
        -DHOLDFAST_BUILD_EXAMPLES=OFF
        -DHOLDFAST_WARNINGS_AS_ERRORS=OFF
        ${feature_options})
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/holdfast)
vcpkg_fixup_pkgconfig()

if("tool" IN_LIST FEATURES)
    vcpkg_copy_tools(TOOL_NAMES holdfast AUTO_CLEAN)
endif()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
