# Run by CPack when the parts of the installation stand ready to be packed: adds the directory of the superuser's default
# store to the command's. dpkg removes it with the package unless there is something in it.
set(directory "${CPACK_TEMPORARY_DIRECTORY}/command/var/lib/holdfast")
file(MAKE_DIRECTORY "${directory}")
file(CHMOD "${directory}" DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
