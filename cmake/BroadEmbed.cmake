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

function(broad_write_embedded output files)
    set(content "#include \"page/assets.h\"\n\n")
    foreach(file ${files})
        cmake_path(GET file FILENAME name)
        string(MAKE_C_IDENTIFIER "${name}" name)
        file(READ "${file}" bytes HEX)
        string(REGEX REPLACE "(................................)" "\\1\n    " bytes "${bytes}")
        string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
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

if(CMAKE_SCRIPT_MODE_FILE)
    broad_write_embedded("${OUTPUT}" "${FILES}")
endif()
