# install: header, both libraries, pkg-config file, CMake package, tool, manual pages of both, completion, licence.
include(CMakePackageConfigHelpers)

set(broad_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/broad)

install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES include/broad/broad.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/broad)
install(TARGETS broad_shared EXPORT broadTargets)
install(TARGETS broad_static EXPORT broadStaticTargets)
install(EXPORT broadTargets NAMESPACE broad:: DESTINATION ${broad_package_dir})
install(EXPORT broadStaticTargets NAMESPACE broad:: DESTINATION ${broad_package_dir})

configure_package_config_file(cmake/broadConfig.cmake.in ${PROJECT_BINARY_DIR}/broadConfig.cmake
    INSTALL_DESTINATION ${broad_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/broadConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/broadConfig.cmake ${PROJECT_BINARY_DIR}/broadConfigVersion.cmake
    cmake/BroadDependencies.cmake DESTINATION ${broad_package_dir})

# The .pc file finds its folders from its own place, so that a moved tree works.
file(RELATIVE_PATH broad_pc_to_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
# Private libraries by name: as packages they would give their include folders to programs that never see them.
set(broad_pc_libraries "")
foreach(name JANSSON JPEG PNG EXIF WEBP TIFF ZLIB)
    foreach(library ${BROAD_${name}_LIBRARIES})
        string(APPEND broad_pc_libraries "-l${library} ")
    endforeach()
endforeach()
configure_file(cmake/broad.pc.in ${PROJECT_BINARY_DIR}/broad.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/broad.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(TARGET broad)
    install(TARGETS broad)
endif()
if(TARGET broad_mpi)
    install(FILES include/broad/mpi.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/broad)
    install(TARGETS broad_mpi)
endif()
if(TARGET broad-serve)
    install(TARGETS broad-serve RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/broad)
endif()

# The manual pages and the completion are made by the tool from its own option tables.
if(TARGET broad AND EXISTS ${PROJECT_SOURCE_DIR}/cli/cmd_help.c)
    set(broad_pages ${PROJECT_BINARY_DIR}/man)
    set(broad_completion ${PROJECT_BINARY_DIR}/completion)
    add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/pages.stamp
        COMMAND ${CMAKE_COMMAND} -E make_directory ${broad_pages} ${broad_completion}
        COMMAND broad help --write-man ${broad_pages}
        COMMAND broad help --completion bash > ${broad_completion}/broad.bash
        COMMAND broad help --completion zsh > ${broad_completion}/_broad
        COMMAND broad help --completion fish > ${broad_completion}/broad.fish
        COMMAND ${CMAKE_COMMAND} -E touch ${PROJECT_BINARY_DIR}/pages.stamp
        DEPENDS broad COMMENT "Writing manual pages and completion" VERBATIM)
    add_custom_target(broad_pages ALL DEPENDS ${PROJECT_BINARY_DIR}/pages.stamp)
    add_dependencies(product broad_pages)

    install(DIRECTORY ${broad_pages}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 FILES_MATCHING PATTERN "*.1")
    install(FILES ${broad_completion}/broad.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
        RENAME broad)
    install(FILES ${broad_completion}/_broad DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
    install(FILES ${broad_completion}/broad.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

# The manual pages of the library are made from its header.
find_package(Python3 COMPONENTS Interpreter QUIET)
if(Python3_Interpreter_FOUND)
    set(broad_library_pages ${PROJECT_BINARY_DIR}/man3)
    add_custom_command(OUTPUT ${broad_library_pages}/libbroad.3
        COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/make_api_reference --man ${broad_library_pages}
        DEPENDS include/broad/broad.h scripts/make_api_reference VERSION
        COMMENT "Writing the manual pages of the library" VERBATIM)
    add_custom_target(broad_library_pages ALL DEPENDS ${broad_library_pages}/libbroad.3)
    add_dependencies(product broad_library_pages)
    install(DIRECTORY ${broad_library_pages}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man3 FILES_MATCHING PATTERN "*.3")
else()
    message(STATUS "Python was not found: the manual pages of the library (section 3) are left out")
endif()
