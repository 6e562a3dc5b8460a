#include "io/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

/* The text after "name ... :" of the first such line. */
static void read_field(char *out, size_t bytes, const char *path, const char *name)
{
    char line[8192];
    FILE *file = fopen(path, "r");
    out[0] = 0;
    while (file && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, name, strlen(name)) || !colon) continue;
        colon += 1 + strspn(colon + 1, " \t");
        snprintf(out, bytes, "%.*s", (int)strcspn(colon, "\n"), colon);
        break;
    }
    if (file) fclose(file);
}

static double read_kilobytes(const char *name)
{
    char text[64];
    read_field(text, sizeof text, "/proc/meminfo", name);
    return strtod(text, NULL) * 1024;
}

/* ---- processor ---- */

/* Of the flags those that say how fast sums of products can be. */
static void find_vectors(cli_machine *out)
{
    static const char *const known[] = {"sse2",    "sse4_2",   "avx",      "avx2",     "fma",
                                        "avx512f", "avx512dq", "avx512bw", "avx512vl", "asimd",
                                        "sve",     "sve2",     "amx_tile", "avx_vnni", "avx512_bf16"};
    char flags[8192], padded[8200], word[32];
    read_field(flags, sizeof flags, "/proc/cpuinfo", "flags");
    if (!flags[0]) read_field(flags, sizeof flags, "/proc/cpuinfo", "Features");
    snprintf(padded, sizeof padded, " %s ", flags);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        snprintf(word, sizeof word, " %s ", known[i]);
        size_t used = strlen(out->vectors);
        if (strstr(padded, word))
            snprintf(out->vectors + used, sizeof out->vectors - used, "%s%s", used ? " " : "", known[i]);
    }
}

static void find_caches(cli_machine *out)
{
    static const int names[] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE};
    for (size_t i = 0; i < 3; i++) {
        long bytes = sysconf(names[i]);
        out->cache[i] = bytes > 0 ? (double)bytes : 0;
    }
}

/* ---- limits ---- */

/* The first `count` numbers of a file, "max" being 0; how many there are. */
static size_t read_numbers(double *out, size_t count, const char *path)
{
    char text[128] = {0}, *at = text, *end;
    FILE *file = fopen(path, "r");
    if (file && !fgets(text, sizeof text, file)) text[0] = 0;
    if (file) fclose(file);
    size_t found = 0;
    for (; found < count && *at; at = end + strspn(end, " \n")) {
        out[found] = strncmp(at, "max", 3) ? strtod(at, &end) : 0;
        if (strncmp(at, "max", 3) == 0) end = at + 3;
        if (end == at) break;
        found++;
    }
    return found;
}

static void take_lower(double *limit, double value)
{
    if (value > 0 && (*limit == 0 || value < *limit)) *limit = value;
}

/* What this process's group and all those above it allow. */
static void find_group_limits(cli_machine *out)
{
    char group[512], path[640];
    double values[2];
    read_field(group, sizeof group, "/proc/self/cgroup", "0:"); /* version 2: "0::/path" */
    const char *start = group[0] == ':' ? group + 1 : group;
    for (size_t length = strlen(start);;) {
        snprintf(path, sizeof path, "/sys/fs/cgroup%.*s/memory.max", (int)length, start);
        if (read_numbers(values, 1, path) == 1) take_lower(&out->limit_group, values[0]);
        snprintf(path, sizeof path, "/sys/fs/cgroup%.*s/cpu.max", (int)length, start);
        if (read_numbers(values, 2, path) == 2 && values[1] > 0) take_lower(&out->quota, values[0] / values[1]);
        if (length == 0) break;
        while (length > 0 && start[--length] != '/') continue;
    }
    if (read_numbers(values, 1, "/sys/fs/cgroup/memory/memory.limit_in_bytes") == 1 && values[0] < 1e18)
        take_lower(&out->limit_group, values[0]);
    double period = 0;
    if (read_numbers(values, 1, "/sys/fs/cgroup/cpu/cpu.cfs_quota_us") == 1 && values[0] > 0 &&
        read_numbers(&period, 1, "/sys/fs/cgroup/cpu/cpu.cfs_period_us") == 1 && period > 0)
        take_lower(&out->quota, values[0] / period);
}

/* ---- where --memory puts what does not fit ---- */

static void find_temporary(cli_machine *out)
{
    enum { TMPFS = 0x01021994, RAMFS = (int)0x858458f6 };
    const char *folder = getenv("TMPDIR");
    struct statvfs space;
    struct statfs about;
    snprintf(out->temporary, sizeof out->temporary, "%s", folder && *folder ? folder : "/var/tmp");
    if (statvfs(out->temporary, &space) == 0) out->temporary_free = (double)space.f_bavail * (double)space.f_frsize;
    if (statfs(out->temporary, &about) == 0)
        out->temporary_in_memory = (int)about.f_type == TMPFS || (int)about.f_type == RAMFS;
}

void cli_machine_look(cli_machine *out)
{
    memset(out, 0, sizeof *out);
    read_field(out->processor, sizeof out->processor, "/proc/cpuinfo", "model name");
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    out->online = online > 0 ? (size_t)online : 1;
    find_vectors(out);
    find_caches(out);
    out->memory = read_kilobytes("MemTotal");
    out->available = read_kilobytes("MemAvailable");
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        out->limit_addresses = (double)limit.rlim_cur;
    find_group_limits(out);
    find_temporary(out);
}
