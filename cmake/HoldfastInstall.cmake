# What is installed, in parts: runtime (the library), store_NAME (the module of a store), development (headers, CMake
# package, pkg-config) and command. All paths are relative, so an installation can be moved as a whole.

include(CMakePackageConfigHelpers)

set(holdfast_config_dir "${CMAKE_INSTALL_LIBDIR}/cmake/holdfast")
get_property(holdfast_store_modules GLOBAL PROPERTY HOLDFAST_STORE_MODULES)
get_property(HOLDFAST_PACKAGES GLOBAL PROPERTY HOLDFAST_LINKED_PACKAGES)
get_property(holdfast_pc_modules GLOBAL PROPERTY HOLDFAST_LINKED_PC_MODULES)

install(TARGETS holdfast EXPORT holdfastTargets
    RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT runtime
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime NAMELINK_COMPONENT development
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development)
set(holdfast_store_packages "") # component:package
foreach(module IN LISTS holdfast_store_modules)
    string(REGEX REPLACE "^holdfast_" "" component ${module})
    string(REGEX REPLACE "^store_" "" name ${component})
    install(TARGETS ${module}
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/holdfast/stores" COMPONENT ${component})
    list(APPEND holdfast_store_packages ${component}:libholdfast${HOLDFAST_ABI}-${name})
endforeach()

install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/holdfast"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT development
    FILES_MATCHING PATTERN "*.hpp")

install(EXPORT holdfastTargets NAMESPACE holdfast::
    DESTINATION "${holdfast_config_dir}" COMPONENT development)
configure_package_config_file(
    "${PROJECT_SOURCE_DIR}/cmake/holdfastConfig.cmake.in" "${PROJECT_BINARY_DIR}/generated/holdfastConfig.cmake"
    INSTALL_DESTINATION "${holdfast_config_dir}"
    NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/generated/holdfastConfigVersion.cmake"
    COMPATIBILITY SameMinorVersion)
install(FILES
    "${PROJECT_BINARY_DIR}/generated/holdfastConfig.cmake"
    "${PROJECT_BINARY_DIR}/generated/holdfastConfigVersion.cmake"
    "${PROJECT_SOURCE_DIR}/cmake/Findhiredis.cmake"
    "${PROJECT_SOURCE_DIR}/cmake/Findlibmariadb.cmake"
    DESTINATION "${holdfast_config_dir}" COMPONENT development)

# pkg-config finds the prefix from the place of the file itself. Where only the static library is there, everyone who
# asks gets what it needs, not only those who say --static.
file(RELATIVE_PATH HOLDFAST_PC_PREFIX "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
string(REGEX REPLACE "/$" "" HOLDFAST_PC_PREFIX "${HOLDFAST_PC_PREFIX}")
list(REMOVE_DUPLICATES holdfast_pc_modules)
list(JOIN holdfast_pc_modules " " HOLDFAST_PC_REQUIRES)
list(TRANSFORM CMAKE_DL_LIBS PREPEND "-l" OUTPUT_VARIABLE holdfast_dl_flags)
list(JOIN holdfast_dl_flags " " holdfast_dl_flags)
set(HOLDFAST_PC_LINK "-pthread ${holdfast_dl_flags}")
if(BUILD_SHARED_LIBS)
    set(HOLDFAST_PC_PRIVATE .private)
    set(HOLDFAST_PC_CFLAGS "")
else()
    set(HOLDFAST_PC_PRIVATE "")
    set(HOLDFAST_PC_CFLAGS " -DHOLDFAST_STATIC")
    set(HOLDFAST_PC_LIBS " ${HOLDFAST_PC_LINK}")
endif()
configure_file("${PROJECT_SOURCE_DIR}/cmake/holdfast.pc.in" "${PROJECT_BINARY_DIR}/generated/holdfast.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/generated/holdfast.pc"
    DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT development)

if(TARGET holdfast_cli)
    install(TARGETS holdfast_cli RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT command)
    install(FILES "${PROJECT_SOURCE_DIR}/man/holdfast.1"
        DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT command OPTIONAL)
    install(FILES "${PROJECT_SOURCE_DIR}/completions/holdfast.bash"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" RENAME holdfast
        COMPONENT command OPTIONAL)
    install(FILES "${PROJECT_SOURCE_DIR}/completions/_holdfast"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions" COMPONENT command OPTIONAL)
    install(FILES "${PROJECT_SOURCE_DIR}/completions/holdfast.fish"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d" COMPONENT command OPTIONAL)
    install(DIRECTORY "${PROJECT_SOURCE_DIR}/examples/systemd" "${PROJECT_SOURCE_DIR}/examples/cron"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/holdfast/examples" COMPONENT command)
endif()

foreach(component_package IN ITEMS runtime:libholdfast${HOLDFAST_ABI} development:libholdfast-dev command:holdfast
        LISTS holdfast_store_packages)
    string(REPLACE ":" ";" pair ${component_package})
    list(GET pair 0 component)
    list(GET pair 1 package)
    install(FILES "${PROJECT_SOURCE_DIR}/LICENSE"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/${package}" RENAME copyright COMPONENT ${component})
endforeach()
