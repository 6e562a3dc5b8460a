# broad_flags: what every file of the project is compiled with. Linked privately, so that users of the library get none
# of it. -ffp-contract=off keeps results the same on machines with and without fused multiply-add.
add_library(broad_flags INTERFACE)
target_compile_definitions(broad_flags INTERFACE _GNU_SOURCE)
target_compile_options(broad_flags INTERFACE -ffp-contract=off -fno-math-errno)

set(broad_warnings -Wall -Wextra)
set(broad_warning_summary "-Wall -Wextra")
if(BROAD_WERROR)
    list(APPEND broad_warnings -Wshadow -Wconversion -Wpedantic -Wstrict-prototypes -Wmissing-prototypes -Wundef -Wvla
        -Wformat=2 -Werror)
    set(broad_warning_summary "full set, as errors")
endif()
target_compile_options(broad_flags INTERFACE ${broad_warnings})

# A damaged stack or a string that overruns its array ends the process; addresses of functions are read-only once they are known.
if(BROAD_HARDEN AND NOT BROAD_SANITIZE AND NOT BROAD_COVERAGE)
    target_compile_options(broad_flags INTERFACE -fstack-protector-strong
        $<$<CONFIG:Release,RelWithDebInfo>:-U_FORTIFY_SOURCE> $<$<CONFIG:Release,RelWithDebInfo>:-D_FORTIFY_SOURCE=2>)
endif()
if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    target_link_options(broad_flags INTERFACE -Wl,-z,relro,-z,now)
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
