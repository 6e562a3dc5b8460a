/*
 * OpenBLAS starts its threads when it is loaded, before main(). Where the address space is limited that goes wrong in two
 * ways: a thread that cannot be started ends the process, and one that was asks for its work buffer for ever, with the end
 * of the process waiting for it. So the tool starts itself once more with OPENBLAS_NUM_THREADS=1, from the one place that
 * comes before the constructors of all libraries. The tool needs no such threads: it brings its own.
 */
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { VARIABLES_MAX = 8192 };

#if defined(__clang__) || __GNUC__ >= 8
#define BEFORE_SANITIZERS __attribute__((no_sanitize("address", "undefined", "thread")))
#else
#define BEFORE_SANITIZERS
#endif

BEFORE_SANITIZERS static void start_with_one_thread(int count, char **words, char **variables)
{
    static const char name[] = "OPENBLAS_NUM_THREADS=";
    static char one_thread[] = "OPENBLAS_NUM_THREADS=1";
    static char *more[VARIABLES_MAX + 2];
    struct rlimit limit;
    (void)count;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
    size_t n = 0;
    for (; variables[n]; n++) {
        if (n == VARIABLES_MAX || strncmp(variables[n], name, sizeof name - 1) == 0) return;
        more[n] = variables[n];
    }
    more[n] = one_thread;
    execve("/proc/self/exe", words, more);
}

__attribute__((section(".preinit_array"), used)) static void (*const early)(int, char **,
                                                                            char **) = start_with_one_thread;
