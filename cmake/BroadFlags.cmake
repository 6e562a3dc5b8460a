# broad_flags: what every file of the project is compiled with. Linked privately, so that users of the library get none
# of it. -ffp-contract=off keeps results the same on machines with and without fused multiply-add.
add_library(broad_flags INTERFACE)
target_compile_definitions(broad_flags INTERFACE _GNU_SOURCE)
target_compile_options(broad_flags INTERFACE -ffp-contract=off -fno-math-errno)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^s390")
    # There gcc computes floats as doubles, as C11 allows: other bits, and no vectors of floats.
    target_compile_options(broad_flags INTERFACE -fexcess-precision=fast)
endif()
# Nothing that is installed knows where it was built.
target_compile_options(broad_flags INTERFACE $<$<CONFIG:RelWithDebInfo>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}=.>)

set(broad_warnings -Wall -Wextra)
set(broad_warning_summary "-Wall -Wextra")
if(BROAD_WERROR)
    list(APPEND broad_warnings -Wshadow -Wconversion -Wpedantic -Wstrict-prototypes -Wmissing-prototypes -Wundef -Wvla
        -Wformat=2 -Werror)
    set(broad_warning_summary "full set, as errors")
endif()
target_compile_options(broad_flags INTERFACE ${broad_warnings})

# A damaged stack, a jump to where no function begins or a string that overruns its array ends the process; addresses of functions are
# read-only once they are known, no page is both written and run, and everything lies at random addresses. Each as far as the
# compiler has it; scripts/check_hardening looks at what is linked.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
include(CheckPIESupported)
check_pie_supported(LANGUAGES C)
if(BROAD_HARDEN AND NOT BROAD_SANITIZE AND NOT BROAD_COVERAGE)
    include(CheckCCompilerFlag)
    include(CheckCSourceCompiles)
    foreach(flag stack-protector-strong stack-clash-protection cf-protection=full)
        string(MAKE_C_IDENTIFIER "broad_has_${flag}" known)
        check_c_compiler_flag(-f${flag} ${known})
        if(${known})
            target_compile_options(broad_flags INTERFACE -f${flag})
        endif()
    endforeach()
    # A C library that does not know level 3 says so by a warning.
    set(CMAKE_REQUIRED_FLAGS "-O2 -Werror -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3")
    check_c_source_compiles("#include <stdio.h>\nint main(void) { return 0; }" broad_has_fortify_3)
    unset(CMAKE_REQUIRED_FLAGS)
    set(broad_fortify 2)
    if(broad_has_fortify_3)
        set(broad_fortify 3)
    endif()
    target_compile_options(broad_flags INTERFACE
        $<$<CONFIG:Release,RelWithDebInfo>:-U_FORTIFY_SOURCE> $<$<CONFIG:Release,RelWithDebInfo>:-D_FORTIFY_SOURCE=${broad_fortify}>)
endif()
if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    target_link_options(broad_flags INTERFACE -Wl,-z,relro,-z,now,-z,noexecstack)
endif()

set(broad_sanitize_summary "none")
if(BROAD_SANITIZE)
    target_compile_options(broad_flags INTERFACE -fsanitize=${BROAD_SANITIZE} -fno-sanitize-recover=all
        -fno-omit-frame-pointer)
    target_link_options(broad_flags INTERFACE -fsanitize=${BROAD_SANITIZE})
    set(broad_sanitize_summary "${BROAD_SANITIZE}")
endif()

if(BROAD_COVERAGE)
    target_compile_options(broad_flags INTERFACE --coverage -fprofile-update=atomic)
    target_link_options(broad_flags INTERFACE --coverage)
endif()
