# broad_embed(TARGET FILE...): files as C arrays in a target. FILE report.js becomes `const char *const cli_asset_report_js`, and
# of a script also `cli_asset_report_js_sha256`, its hash in base64 as a Content-Security-Policy names it. Editing a file
# makes the array again.
#
# The same file is the script that the build runs: cmake -DOUTPUT=... -DFILES=... -P BroadEmbed.cmake

function(broad_base64 out hex)
    set(digits "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    string(LENGTH "${hex}" length)
    math(EXPR missing "(6 - ${length} % 6) % 6 / 2")
    string(REPEAT "00" ${missing} padding)
    string(REGEX MATCHALL "......" triples "${hex}${padding}")
    set(text "")
    foreach(triple ${triples})
        foreach(shift 18 12 6 0)
            math(EXPR digit "(0x${triple} >> ${shift}) & 63")
            string(SUBSTRING "${digits}" ${digit} 1 letter)
            string(APPEND text "${letter}")
        endforeach()
    endforeach()
    string(LENGTH "${text}" length)
    math(EXPR kept "${length} - ${missing}")
    string(SUBSTRING "${text}" 0 ${kept} text)
    string(REPEAT "=" ${missing} padding)
    set(${out} "${text}${padding}" PARENT_SCOPE)
endfunction()

# The bytes of a file as numbers of an array in C, each with a comma.
function(broad_read_bytes out file)
    file(READ "${file}" bytes HEX)
    string(REGEX REPLACE "(................................)" "\\1\n    " bytes "${bytes}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    set(${out} "${bytes}" PARENT_SCOPE)
endfunction()

function(broad_write_embedded output files)
    set(content "#include \"page/assets.h\"\n\n")
    foreach(file ${files})
        cmake_path(GET file FILENAME name)
        string(MAKE_C_IDENTIFIER "${name}" name)
        broad_read_bytes(bytes "${file}")
        string(APPEND content "static const unsigned char ${name}[] = {\n    ${bytes}0};\n"
            "const char *const cli_asset_${name} = (const char *)${name};\n\n")
        if(name MATCHES "_js$")
            file(SHA256 "${file}" hash)
            broad_base64(hash "${hash}")
            string(APPEND content "const char *const cli_asset_${name}_sha256 = \"${hash}\";\n\n")
        endif()
    endforeach()
    file(WRITE "${output}" "${content}")
endfunction()

function(broad_embed target)
    set(output ${CMAKE_CURRENT_BINARY_DIR}/${target}_assets.c)
    add_custom_command(OUTPUT ${output}
        COMMAND ${CMAKE_COMMAND} "-DOUTPUT=${output}" "-DFILES=${ARGN}" -P ${PROJECT_SOURCE_DIR}/cmake/BroadEmbed.cmake
        DEPENDS ${ARGN} ${PROJECT_SOURCE_DIR}/cmake/BroadEmbed.cmake
        COMMENT "Embedding the assets of ${target}" VERBATIM)
    target_sources(${target} PRIVATE ${output})
endfunction()

# broad_embed_page(TARGET FILE...): files of a web page, as the table of serve/page_files.h.
function(broad_write_page output files)
    set(content "#include \"serve/page_files.h\"\n\n")
    set(table "")
    set(count 0)
    foreach(file ${files})
        cmake_path(GET file FILENAME name)
        cmake_path(GET file EXTENSION LAST_ONLY extension)
        set(type "application/octet-stream")
        if(extension STREQUAL ".html")
            set(type "text/html; charset=utf-8")
        elseif(extension STREQUAL ".css")
            set(type "text/css; charset=utf-8")
        elseif(extension STREQUAL ".js")
            set(type "text/javascript; charset=utf-8")
        elseif(extension STREQUAL ".svg")
            set(type "image/svg+xml")
        endif()
        set(path "/${name}")
        if(name STREQUAL "index.html")
            set(path "/")
        endif()
        broad_read_bytes(bytes "${file}")
        string(APPEND content "static const unsigned char file_${count}[] = {\n    ${bytes}0};\n\n")
        string(APPEND table "    {\"${path}\", \"${type}\", (const char *)file_${count}, sizeof file_${count} - 1},\n")
        math(EXPR count "${count} + 1")
    endforeach()
    string(APPEND content "const serve_page_file serve_page_files[] = {\n${table}};\n"
        "const size_t serve_page_file_count = ${count};\n")
    file(WRITE "${output}" "${content}")
endfunction()

function(broad_embed_page target)
    set(output ${CMAKE_CURRENT_BINARY_DIR}/${target}_page.c)
    add_custom_command(OUTPUT ${output}
        COMMAND ${CMAKE_COMMAND} "-DOUTPUT=${output}" "-DPAGE=${ARGN}" -P ${PROJECT_SOURCE_DIR}/cmake/BroadEmbed.cmake
        DEPENDS ${ARGN} ${PROJECT_SOURCE_DIR}/cmake/BroadEmbed.cmake
        COMMENT "Embedding the page of ${target}" VERBATIM)
    target_sources(${target} PRIVATE ${output})
endfunction()

if(CMAKE_SCRIPT_MODE_FILE AND PAGE)
    broad_write_page("${OUTPUT}" "${PAGE}")
elseif(CMAKE_SCRIPT_MODE_FILE)
    broad_write_embedded("${OUTPUT}" "${FILES}")
endif()
