# `make package`: a .deb file for each part of the installation. The module of each store is one, so that nobody who locks
# with a file installs what Redis needs.

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME holdfast)
set(CPACK_PACKAGE_VENDOR "holdfast")
set(CPACK_PACKAGE_CONTACT "holdfast maintainers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL runtime development command)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}")
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(library libholdfast${HOLDFAST_ABI})
set(exactly "(= ${PROJECT_VERSION})")

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME ${library})
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION "The library, with the store memory:. Other stores have packages of their own.")

set(store_packages "")
foreach(component_package IN LISTS holdfast_store_packages)
    string(REPLACE ":" ";" pair ${component_package})
    list(GET pair 0 component)
    list(GET pair 1 package)
    list(APPEND CPACK_COMPONENTS_ALL ${component})
    list(APPEND store_packages ${package})
    string(REGEX REPLACE "^store_" "" name ${component})
    get_property(schemes GLOBAL PROPERTY HOLDFAST_STORE_${name}_SCHEMES)
    string(REPLACE " " ":, " schemes "${schemes}")
    string(TOUPPER ${component} upper)
    set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${package})
    set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION libs)
    set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${library} ${exactly}")
    set(CPACK_DEBIAN_${upper}_DESCRIPTION "The store ${schemes}: as a module that the library loads on first use.")
endforeach()
list(JOIN store_packages ", " store_packages)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS "${store_packages}")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libholdfast-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${library} ${exactly}")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "libboost1.81-dev | libboost-dev (>= 1.81)")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "Headers, CMake package and pkg-config file.")

set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME holdfast)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_COMMAND_PACKAGE_DEPENDS "${library} ${exactly}")
if("store_file:${library}-file" IN_LIST holdfast_store_packages)
    # Its default store.
    string(APPEND CPACK_DEBIAN_COMMAND_PACKAGE_DEPENDS ", ${library}-file ${exactly}")
endif()
set(CPACK_DEBIAN_COMMAND_PACKAGE_SUGGESTS "${store_packages}")
set(CPACK_DEBIAN_COMMAND_DESCRIPTION "The command: run a program under a lock, list and free locks.")

# The superuser's default store lies outside of the prefix, so no install() rule makes its directory.
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/cmake/HoldfastPackageTree.cmake")

include(CPack)
