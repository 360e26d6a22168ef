# holdfast_add_store(
#     NAME file                                       # module holdfast_store_file.so, entry holdfast_store_file_v1()
#     SCHEMES file                                    # the URL schemes that it serves
#     SOURCES store.cpp schema.cpp                    # in the folder of the caller
#     [DEPENDENCIES "SQLite3 YIELDS SQLite::SQLite3"] # arguments of find_package, then the targets to link
#     [PKG_CONFIG sqlite3]                            # the same dependencies by their pkg-config names
#     [LIBRARIES holdfast_lease])                     # our own static libraries, shared by a family of stores
#
# defines one store and its option HOLDFAST_STORE_<NAME>: ON (a missing dependency is an error), OFF, or AUTO (built
# when its dependencies are there). It makes the archive holdfast_store_<name>_static, for unit tests, and from it
# either a module that the library loads on first use of a scheme, or a part of the library itself.

set_property(GLOBAL PROPERTY HOLDFAST_STORES "")

function(holdfast_add_store)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME" "SCHEMES;SOURCES;DEPENDENCIES;PKG_CONFIG;LIBRARIES")
    if(arg_UNPARSED_ARGUMENTS OR NOT arg_NAME OR NOT arg_SCHEMES)
        message(FATAL_ERROR "holdfast_add_store: bad arguments ${arg_UNPARSED_ARGUMENTS}")
    endif()
    string(TOUPPER "${arg_NAME}" upper)
    set(option HOLDFAST_STORE_${upper})
    set(${option} AUTO CACHE STRING "Build the store ${arg_NAME}: ON, OFF or AUTO")
    set_property(CACHE ${option} PROPERTY STRINGS AUTO ON OFF)

    holdfast_find_store_dependencies(state links packages "${option}" ${arg_DEPENDENCIES})
    list(JOIN arg_SCHEMES " " schemes)
    set_property(GLOBAL APPEND PROPERTY HOLDFAST_STORES ${arg_NAME})
    set_property(GLOBAL PROPERTY HOLDFAST_STORE_${arg_NAME}_SCHEMES "${schemes}")
    set_property(GLOBAL PROPERTY HOLDFAST_STORE_${arg_NAME}_STATE "${state}")
    if(NOT state STREQUAL "built")
        return()
    endif()

    set(archive holdfast_store_${arg_NAME}_static)
    add_library(${archive} STATIC ${arg_SOURCES})
    holdfast_precompile(${archive})
    target_link_libraries(${archive}
        PUBLIC holdfast_base holdfast_seam ${arg_LIBRARIES} ${links}
        PRIVATE holdfast_warnings)

    if(HOLDFAST_LINK_STORES)
        target_link_libraries(${archive} PUBLIC holdfast_objects) # each needs the other: archives may
        set_property(GLOBAL APPEND PROPERTY HOLDFAST_LINKED_ARCHIVES ${archive} ${arg_LIBRARIES})
        set_property(GLOBAL APPEND PROPERTY HOLDFAST_LINKED_LIBRARIES ${links})
        set_property(GLOBAL APPEND PROPERTY HOLDFAST_LINKED_PACKAGES ${packages})
        set_property(GLOBAL APPEND PROPERTY HOLDFAST_LINKED_PC_MODULES ${arg_PKG_CONFIG})
    else()
        holdfast_add_store_module(${arg_NAME} ${archive})
    endif()
endfunction()

function(holdfast_add_store_module name archive)
    set(module holdfast_store_${name})
    add_library(${module} MODULE $<TARGET_OBJECTS:${archive}>)
    set_target_properties(${module} PROPERTIES
        PREFIX ""
        LINKER_LANGUAGE CXX
        LIBRARY_OUTPUT_DIRECTORY "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/holdfast/stores"
        BUILD_WITH_INSTALL_RPATH ON) # none, unless asked for: the library is there before its modules, and
                                     # a path costs the start 24 looks for each other library
    # The library comes first: what it exports, such as the category of errors, must not get a copy in the module.
    target_link_libraries(${module} PRIVATE holdfast ${archive})
    holdfast_use_symbol_map(${module} "${PROJECT_SOURCE_DIR}/cmake/store_module.map")
    add_dependencies(holdfast_stores ${module})
    set_property(GLOBAL APPEND PROPERTY HOLDFAST_STORE_MODULES ${module})
endfunction()

# Sets state to "built" or "off", links to the targets and packages to the names of the packages.
function(holdfast_find_store_dependencies state_out links_out packages_out option)
    set(state built)
    set(links "")
    set(packages "")
    if(NOT ${option})
        if(NOT "${${option}}" STREQUAL "AUTO")
            set(state off)
        endif()
    endif()
    foreach(dependency IN LISTS ARGN)
        if(state STREQUAL "off")
            break()
        endif()
        separate_arguments(words UNIX_COMMAND "${dependency}")
        list(FIND words YIELDS at)
        if(at LESS 1)
            message(FATAL_ERROR "holdfast_add_store: expected \"PACKAGE [...] YIELDS TARGET...\": ${dependency}")
        endif()
        list(SUBLIST words 0 ${at} find)
        math(EXPR after "${at} + 1")
        list(SUBLIST words ${after} -1 targets)
        list(GET find 0 package)
        find_package(${find} QUIET)
        if(${package}_FOUND)
            # Those who link the store are elsewhere. find_package(... GLOBAL) would do it from CMake 3.24 on.
            foreach(target IN LISTS targets)
                get_target_property(real ${target} ALIASED_TARGET)
                if(NOT real)
                    set(real ${target})
                endif()
                get_target_property(imported ${real} IMPORTED)
                get_target_property(global ${real} IMPORTED_GLOBAL)
                if(imported AND NOT global)
                    set_target_properties(${real} PROPERTIES IMPORTED_GLOBAL TRUE)
                endif()
            endforeach()
            list(APPEND links ${targets})
            list(APPEND packages ${package})
        elseif("${${option}}" STREQUAL "AUTO")
            set(state off)
            message(STATUS "holdfast: ${package} not found, so ${option}=AUTO is off")
        else()
            message(FATAL_ERROR "${option}=${${option}} needs ${package}, which was not found")
        endif()
    endforeach()
    set(${state_out} ${state} PARENT_SCOPE)
    set(${links_out} "${links}" PARENT_SCOPE)
    set(${packages_out} "${packages}" PARENT_SCOPE)
endfunction()

# Writes the tables of src/runtime/static_stores.hpp. To be called once, after the last holdfast_add_store.
function(holdfast_generate_store_tables output)
    get_property(stores GLOBAL PROPERTY HOLDFAST_STORES)
    set(HOLDFAST_ENTRY_POINTS "")
    set(HOLDFAST_STATIC_ROWS "")
    set(HOLDFAST_KNOWN_ROWS "")
    set(linked 0)
    list(LENGTH stores known)
    foreach(store IN LISTS stores)
        get_property(schemes GLOBAL PROPERTY HOLDFAST_STORE_${store}_SCHEMES)
        get_property(state GLOBAL PROPERTY HOLDFAST_STORE_${store}_STATE)
        set(built false)
        if(state STREQUAL "built")
            set(built true)
        endif()
        string(APPEND HOLDFAST_KNOWN_ROWS "    {\"${store}\", \"${schemes}\", ${built}},\n")
        if(HOLDFAST_LINK_STORES AND built)
            set(entry holdfast_store_${store}_v1)
            string(APPEND HOLDFAST_ENTRY_POINTS "holdfast::seam::store_module const* ${entry}();\n")
            string(APPEND HOLDFAST_STATIC_ROWS "    {\"${store}\", \"${schemes}\", &${entry}},\n")
            math(EXPR linked "${linked} + 1")
        endif()
    endforeach()
    set(HOLDFAST_STATIC_COUNT ${linked})
    set(HOLDFAST_KNOWN_COUNT ${known})
    configure_file("${PROJECT_SOURCE_DIR}/cmake/static_stores.cpp.in" "${output}" @ONLY)
endfunction()

function(holdfast_report_stores)
    get_property(stores GLOBAL PROPERTY HOLDFAST_STORES)
    set(words memory)
    foreach(store IN LISTS stores)
        get_property(state GLOBAL PROPERTY HOLDFAST_STORE_${store}_STATE)
        if(NOT state STREQUAL "built")
            list(APPEND words "${store} (off)")
        elseif(HOLDFAST_LINK_STORES)
            list(APPEND words "${store} (linked)")
        else()
            list(APPEND words "${store} (module)")
        endif()
    endforeach()
    list(JOIN words ", " text)
    message(STATUS "holdfast stores: ${text}")
endfunction()
