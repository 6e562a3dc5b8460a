#include "base/available.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { LINE_BYTES = 4096, PATH_BYTES = 4200 };

/* The number behind `key` at the start of a line in a file of the system, times `unit`; INFINITY where there is none. */
static double number_in(const char *path, const char *key, double unit)
{
    FILE *file = fopen(path, "r");
    double value = INFINITY;
    char line[128];
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, key, strlen(key)) != 0) continue;
        char *digits = line + strlen(key), *end;
        unsigned long long number = strtoull(digits, &end, 10);
        if (end == digits) continue;
        value = unit * (double)number;
        break;
    }
    if (file) fclose(file);
    return value;
}

/* What the control group in this folder leaves: its limit without what it uses. Files that are only cached count as free. */
static double group_leaves(const char *folder, const char *limit_file, const char *used_file, const char *cached_key)
{
    char path[PATH_BYTES + 64];
    snprintf(path, sizeof path, "%s/%s", folder, limit_file);
    double limit = number_in(path, "", 1);
    if (!isfinite(limit) || limit > 1e18) return INFINITY;
    snprintf(path, sizeof path, "%s/%s", folder, used_file);
    double used = number_in(path, "", 1);
    snprintf(path, sizeof path, "%s/memory.stat", folder);
    double cached = number_in(path, cached_key, 1);
    return fmax(0, limit - (isfinite(used) ? used : 0) + (isfinite(cached) ? cached : 0));
}

/* The path of the process's group in the second version of control groups, without the newline; "" where there is none. */
static void find_group(char out[LINE_BYTES])
{
    FILE *file = fopen("/proc/self/cgroup", "r");
    char line[LINE_BYTES];
    out[0] = 0;
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, "0::", 3) != 0) continue;
        line[strcspn(line, "\n")] = 0;
        snprintf(out, LINE_BYTES, "%s", strcmp(line + 3, "/") == 0 ? "" : line + 3);
    }
    if (file) fclose(file);
}

/* The least that the group and those it lies in leave. */
static double groups_leave(void)
{
    char group[LINE_BYTES], folder[PATH_BYTES];
    find_group(group);
    double least =
        group_leaves("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file ");
    for (;;) {
        snprintf(folder, sizeof folder, "/sys/fs/cgroup%s", group);
        least = fmin(least, group_leaves(folder, "memory.max", "memory.current", "inactive_file "));
        char *parent = strrchr(group, '/');
        if (!parent) return least;
        *parent = 0;
    }
}

double broad__memory_available(void)
{
    double machine = number_in("/proc/meminfo", "MemAvailable:", 1024);
    struct rlimit limit;
    double own = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY
                     ? fmax(0, (double)limit.rlim_cur - number_in("/proc/self/statm", "", 4096))
                     : INFINITY;
    return fmin(machine, fmin(groups_leave(), own));
}

double broad__memory_resident(void) { return number_in("/proc/self/status", "VmRSS:", 1024); }
double broad__memory_peak(void) { return number_in("/proc/self/status", "VmHWM:", 1024); }
