# Finds what libbroad stands on and makes broad::dependencies of it. Used by the build and, for the static library, by
# the installed package.
#
# OpenBLAS comes in several builds that Debian exchanges behind one name. Its OpenMP build hangs after a fork, so the
# pthread build is taken by its own path where it is there.
macro(broad_find_dependencies)
    set(broad_required ${ARGN})
    find_package(PkgConfig ${broad_required} QUIET)
    find_package(Threads ${broad_required} QUIET)
    pkg_check_modules(BROAD_JANSSON ${broad_required} QUIET IMPORTED_TARGET jansson>=2.13)
    pkg_check_modules(BROAD_ZLIB ${broad_required} QUIET IMPORTED_TARGET zlib)
    pkg_check_modules(BROAD_XXHASH ${broad_required} QUIET IMPORTED_TARGET libxxhash>=0.8)
    pkg_check_modules(BROAD_JPEG ${broad_required} QUIET IMPORTED_TARGET libjpeg>=2)
    pkg_check_modules(BROAD_PNG ${broad_required} QUIET IMPORTED_TARGET libpng>=1.6)
    pkg_check_modules(BROAD_EXIF ${broad_required} QUIET IMPORTED_TARGET libexif>=0.6.22)

    find_library(BROAD_OPENBLAS_LIBRARY NAMES openblas PATHS
        /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-pthread NO_DEFAULT_PATH)
    find_path(BROAD_OPENBLAS_INCLUDE NAMES cblas.h PATHS
        /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-pthread NO_DEFAULT_PATH)
    find_library(BROAD_OPENBLAS_LIBRARY NAMES openblas)
    find_path(BROAD_OPENBLAS_INCLUDE NAMES cblas.h PATH_SUFFIXES openblas)

    if(BROAD_OPENBLAS_LIBRARY AND BROAD_OPENBLAS_INCLUDE AND BROAD_JANSSON_FOUND AND BROAD_ZLIB_FOUND
       AND BROAD_XXHASH_FOUND AND BROAD_JPEG_FOUND AND BROAD_PNG_FOUND AND BROAD_EXIF_FOUND AND Threads_FOUND)
        set(BROAD_DEPENDENCIES_FOUND TRUE)
        if(NOT TARGET broad::dependencies)
            add_library(broad::dependencies INTERFACE IMPORTED)
            # xxhash is used from its header alone.
            target_include_directories(broad::dependencies INTERFACE ${BROAD_OPENBLAS_INCLUDE}
                ${BROAD_XXHASH_INCLUDE_DIRS})
            target_link_libraries(broad::dependencies INTERFACE PkgConfig::BROAD_JANSSON PkgConfig::BROAD_ZLIB
                PkgConfig::BROAD_JPEG PkgConfig::BROAD_PNG PkgConfig::BROAD_EXIF
                ${BROAD_OPENBLAS_LIBRARY} Threads::Threads m)
        endif()
    else()
        set(BROAD_DEPENDENCIES_FOUND FALSE)
        if(broad_required)
            message(FATAL_ERROR "OpenBLAS was not found; on Debian: scripts/setup, or apt-get install "
                "libopenblas-pthread-dev")
        endif()
    endif()
endmacro()
