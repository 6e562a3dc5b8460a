# Finds what libbroad stands on and makes broad::dependencies of it. Used by the build and, for the static library, by
# the installed package.
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

    # Further formats of pictures, each where its library is there; BROAD_WITH_... OFF leaves it out.
    set(broad_codecs_missing "")
    foreach(codec HEIF:libheif>=1.12 WEBP:libwebp>=1.0 TIFF:libtiff-4>=4.5)
        string(REGEX REPLACE ":.*" "" name ${codec})
        string(REGEX REPLACE ".*:" "" module ${codec})
        if(NOT DEFINED BROAD_WITH_${name} OR BROAD_WITH_${name})
            pkg_check_modules(BROAD_${name} QUIET IMPORTED_TARGET ${module})
            if(NOT BROAD_${name}_FOUND)
                list(APPEND broad_codecs_missing ${name})
            endif()
        endif()
    endforeach()

    # The page of `broad serve`, of the tool alone.
    if(NOT DEFINED BROAD_WITH_SERVE OR BROAD_WITH_SERVE)
        pkg_check_modules(BROAD_MICROHTTPD QUIET IMPORTED_TARGET libmicrohttpd>=0.9.71)
        pkg_check_modules(BROAD_SQLITE QUIET IMPORTED_TARGET sqlite3>=3.34)
    endif()

    if(BROAD_JANSSON_FOUND AND BROAD_ZLIB_FOUND AND BROAD_XXHASH_FOUND AND BROAD_JPEG_FOUND AND BROAD_PNG_FOUND
       AND BROAD_EXIF_FOUND AND Threads_FOUND)
        set(BROAD_DEPENDENCIES_FOUND TRUE)
        if(NOT TARGET broad::dependencies)
            add_library(broad::dependencies INTERFACE IMPORTED)
            # xxhash is used from its header alone.
            target_include_directories(broad::dependencies INTERFACE ${BROAD_XXHASH_INCLUDE_DIRS})
            target_link_libraries(broad::dependencies INTERFACE PkgConfig::BROAD_JANSSON PkgConfig::BROAD_ZLIB
                PkgConfig::BROAD_JPEG PkgConfig::BROAD_PNG PkgConfig::BROAD_EXIF
                Threads::Threads m ${CMAKE_DL_LIBS})
            # libheif is loaded with the first picture that needs it: of the package only the header, and the name of the
            # library as it is found when a program runs.
            if(BROAD_HEIF_FOUND)
                list(GET BROAD_HEIF_LINK_LIBRARIES 0 broad_heif_file)
                file(REAL_PATH "${broad_heif_file}" broad_heif_file)
                string(REGEX MATCH "libheif[^/]*\\.so\\.[0-9]+" broad_heif_name "${broad_heif_file}")
                if(NOT broad_heif_name)
                    set(broad_heif_name libheif.so.1)
                endif()
                target_include_directories(broad::dependencies INTERFACE ${BROAD_HEIF_INCLUDE_DIRS})
                target_compile_definitions(broad::dependencies INTERFACE BROAD_WITH_HEIF=1
                    BROAD_HEIF_LIBRARY="${broad_heif_name}")
            endif()
            foreach(name WEBP TIFF)
                if(BROAD_${name}_FOUND)
                    target_link_libraries(broad::dependencies INTERFACE PkgConfig::BROAD_${name})
                    target_compile_definitions(broad::dependencies INTERFACE BROAD_WITH_${name}=1)
                endif()
            endforeach()
        endif()
    else()
        set(BROAD_DEPENDENCIES_FOUND FALSE)
    endif()
endmacro()
