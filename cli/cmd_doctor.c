/* broad doctor: this machine, what runs on it, how fast, and what could be better. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/json.h"
#include "io/machine.h"
#include "io/progress.h"
#include "io/ranks.h"
#include "values.h"

enum { ADVICE_MAX = 16, ADVICE_BYTES = 400 };

typedef struct diagnosis {
    broad_machine machine;
    cli_machine system;
    broad_speed speed;
    int measured;
    broad_gpu gpu;
    int gpu_there;
    char gpu_absent[ADVICE_BYTES]; /* why not */
    int mpi;                       /* ranks of MPI are possible */
    char mpi_text[ADVICE_BYTES];   /* by which MPI, or why not */
    char fault[ADVICE_BYTES];      /* what the self-test says; "" if it passed */
    size_t advice_count;
    char advice[ADVICE_MAX][ADVICE_BYTES];
} diagnosis;

/* ---- advice ---------------------------------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void advise(diagnosis *d, const char *format, ...)
{
    if (d->advice_count == ADVICE_MAX) return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(d->advice[d->advice_count++], ADVICE_BYTES, format, arguments);
    va_end(arguments);
}

static void advise_on_kernels(diagnosis *d)
{
    const broad_machine *m = &d->machine;
    if (d->fault[0]) advise(d, "%s", d->fault);
    if (getenv("BROAD_KERNELS"))
        advise(d, "BROAD_KERNELS=%s is set, so the kernels are %s instead of the best ones", getenv("BROAD_KERNELS"),
               m->kernels);
    else if (strcmp(m->kernels, "plain") == 0 && strstr(d->system.vectors, "sse2"))
        advise(d,
               "this processor has no AVX2 with FMA: the kernels are plain, and models differ in their last bits from "
               "those of newer processors");
}

static void advise_on_speed(diagnosis *d)
{
    const broad_speed *s = &d->speed;
    if (s->busy > 0.1)
        advise(d, "other programs used %.0f %% of the processors during the measurement; they slow down training too",
               100 * s->busy);
    if (s->spread > 0.1)
        advise(
            d,
            "the peak speed varied by %.0f %% within a second: the processor is throttled (heat, power) or shared with "
            "other virtual machines",
            100 * s->spread);
    if (s->peak.one > 0 && s->threads > 1 && s->peak.all < 0.7 * s->peak.one * (double)s->threads && s->busy <= 0.1)
        advise(d,
               "%zu threads reach only %.1f times the peak speed of one, so they may share cores; try --threads %.0f",
               s->threads, s->peak.all / s->peak.one, fmax(1, round(s->peak.all / s->peak.one)));
}

static void advise_on_limits(diagnosis *d)
{
    const cli_machine *s = &d->system;
    double processors = (double)d->machine.processors;
    if (s->quota > 0 && s->quota < processors)
        advise(
            d,
            "a control group limits this process to %.1f processors, but %.0f threads would run; give --threads %.0f",
            s->quota, processors, fmax(1, floor(s->quota)));
    if (s->available > 0 && s->available < 512e6) advise(d, "less than 0.5 GB of memory is available");
    if (s->limit_addresses > 0 && s->limit_addresses < 1e9)
        advise(d, "addresses are limited to %.2f GB (ulimit -v), and threads and files take some of them",
               s->limit_addresses / 1e9);
    if (s->limit_group > 0 && s->limit_group < s->available)
        advise(d, "a control group limits memory to %.2f GB; for large tables give --memory with less than that",
               s->limit_group / 1e9);
    if (s->temporary_in_memory)
        advise(d, "%s is kept in memory, so --memory would save nothing; set TMPDIR to a folder on a disk",
               s->temporary);
    else if (s->temporary_free > 0 && s->temporary_free < 2e9)
        advise(d, "%s has only %.1f GB free for the temporary files of --memory; set TMPDIR to a larger folder",
               s->temporary, s->temporary_free / 1e9);
}

static void advise_on_ranks(diagnosis *d)
{
    if (cli_ranks_here() > d->system.online)
        advise(d,
               "%zu ranks share the %zu processors of this machine, and wait for each other; start fewer, or on more "
               "machines",
               cli_ranks_here(), d->system.online);
    if (!cli_ranks_apart()) return;
    advise(d,
           "mpirun has started this process as one of several, which cannot work together without libbroad-mpi; build "
           "broad where Open MPI is installed (Debian: apt install libopenmpi-dev)");
    if (d->mpi_text[0]) advise(d, "libbroad-mpi cannot be loaded: %.300s", d->mpi_text);
}

/* ---- as JSON --------------------------------------------------------------------------------------------------- */

static json_t *limit_json(double value) { return value > 0 ? cli_json_real(value) : json_null(); }

static void put_rate(json_t *object, const char *name, broad_rate rate)
{
    json_t *pair = json_object();
    cli_json_put(pair, "one", cli_json_real(rate.one));
    cli_json_put(pair, "all", cli_json_real(rate.all));
    cli_json_put(object, name, pair);
}

static json_t *speed_json(const broad_speed *s)
{
    json_t *object = json_object();
    cli_json_put(object, "threads", json_integer((json_int_t)s->threads));
    cli_json_put(object, "instructions", cli_json_text(s->instructions));
    put_rate(object, "peak", s->peak);
    put_rate(object, "dgemm", s->dgemm);
    put_rate(object, "layer", s->layer);
    put_rate(object, "nodes", s->nodes);
    put_rate(object, "gram", s->gram);
    put_rate(object, "read", s->read);
    put_rate(object, "copy", s->copy);
    cli_json_put(object, "hash", cli_json_real(s->hash));
    cli_json_put(object, "sums", cli_json_real(s->sums));
    cli_json_put(object, "search", cli_json_real(s->search));
    cli_json_put(object, "spread", cli_json_real(s->spread));
    cli_json_put(object, "busy", cli_json_real(s->busy));
    return object;
}

static json_t *words_json(const char *text)
{
    json_t *list = json_array();
    char copy[CLI_MACHINE_TEXT], *rest = NULL;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        cli_json_append(list, cli_json_text(word));
    return list;
}

static void put_system(json_t *object, const cli_machine *s)
{
    static const char *const levels[] = {"l1", "l2", "l3"};
    json_t *caches = json_object(), *limits = json_object(), *temporary = json_object();
    cli_json_put(object, "processor", cli_json_text(s->processor));
    cli_json_put(object, "processors_online", json_integer((json_int_t)s->online));
    cli_json_put(object, "vectors", words_json(s->vectors));
    for (size_t i = 0; i < 3; i++) cli_json_put(caches, levels[i], json_integer((json_int_t)s->cache[i]));
    cli_json_put(object, "caches", caches);
    cli_json_put(object, "memory", json_integer((json_int_t)s->memory));
    cli_json_put(object, "memory_available", json_integer((json_int_t)s->available));
    cli_json_put(limits, "processors", limit_json(s->quota));
    cli_json_put(limits, "addresses", limit_json(s->limit_addresses));
    cli_json_put(limits, "memory", limit_json(s->limit_group));
    cli_json_put(object, "limits", limits);
    cli_json_put(temporary, "folder", cli_json_text(s->temporary));
    cli_json_put(temporary, "free", json_integer((json_int_t)s->temporary_free));
    cli_json_put(temporary, "in_memory", json_boolean(s->temporary_in_memory));
    cli_json_put(object, "temporary", temporary);
}

static json_t *gpu_json(const broad_gpu *gpu)
{
    json_t *object = json_object();
    cli_json_put(object, "name", cli_json_text(gpu->name));
    cli_json_put(object, "devices", json_integer((json_int_t)gpu->devices));
    cli_json_put(object, "memory", json_integer((json_int_t)gpu->memory));
    cli_json_put(object, "memory_available", json_integer((json_int_t)gpu->available));
    cli_json_put(object, "dgemm", gpu->gigaflops > 0 ? cli_json_real(gpu->gigaflops) : json_null());
    cli_json_put(object, "copy", gpu->gigabytes > 0 ? cli_json_real(gpu->gigabytes) : json_null());
    return object;
}

/* What computes: the processor, and behind it the GPU where there is one. */
static json_t *devices_json(const diagnosis *d)
{
    json_t *list = json_array(), *cpu = json_object();
    cli_json_put(cpu, "name", cli_json_text("cpu"));
    cli_json_put(cpu, "what", cli_json_text(d->system.processor));
    cli_json_put(cpu, "kernels", cli_json_text(d->machine.kernels));
    cli_json_put(cpu, "gflops", d->measured ? cli_json_real(d->speed.peak.all) : json_null());
    cli_json_put(cpu, "product_gflops", d->measured ? cli_json_real(d->speed.dgemm.all) : json_null());
    cli_json_put(cpu, "bandwidth", d->measured ? cli_json_real(d->speed.read.all) : json_null());
    cli_json_append(list, cpu);
    if (!d->gpu_there) return list;
    json_t *gpu = gpu_json(&d->gpu);
    cli_json_put(gpu, "name", cli_json_text("cuda"));
    cli_json_put(gpu, "what", cli_json_text(d->gpu.name));
    cli_json_append(list, gpu);
    return list;
}

static json_t *ranks_json(const diagnosis *d)
{
    json_t *object = json_object();
    cli_json_put(object, "possible", json_boolean(d->mpi));
    cli_json_put(object, "mpi", d->mpi ? cli_json_text(d->mpi_text) : json_null());
    cli_json_put(object, "ranks", json_integer((json_int_t)cli_ranks_started()));
    cli_json_put(object, "here", json_integer((json_int_t)cli_ranks_here()));
    return object;
}

static int report_json(const cli_arguments *arguments, const diagnosis *d)
{
    const broad_machine *m = &d->machine;
    json_t *object = cli_json_object("doctor"), *advice = json_array();
    for (size_t i = 0; i < d->advice_count; i++) cli_json_append(advice, cli_json_text(d->advice[i]));
    cli_json_put(object, "version", cli_json_text(broad_version()));
    cli_json_put(object, "processors", json_integer((json_int_t)m->processors));
    put_system(object, &d->system);
    cli_json_put(object, "kernels", cli_json_text(m->kernels));
    cli_json_put(object, "pictures", cli_json_text(broad_picture_formats()));
    cli_json_put(object, "self_test", json_boolean(m->self_test));
    cli_json_put(object, "speed", d->measured ? speed_json(&d->speed) : json_null());
    cli_json_put(object, "cuda", d->gpu_there ? gpu_json(&d->gpu) : json_null());
    cli_json_put(object, "devices", devices_json(d));
    cli_json_put(object, "ranks", ranks_json(d));
    cli_json_put(object, "advice", advice);
    return cli_json_give(arguments, object);
}

/* ---- as text --------------------------------------------------------------------------------------------------- */

static void format_cache(char *out, size_t bytes, double size)
{
    if (size < 1 << 20) snprintf(out, bytes, "%.0f KiB", size / 1024);
    else snprintf(out, bytes, "%.3g MiB", size / (1 << 20));
}

static void print_processor(const diagnosis *d)
{
    const cli_machine *s = &d->system;
    char level[3][32];
    for (size_t i = 0; i < 3; i++) format_cache(level[i], sizeof level[i], s->cache[i]);
    cli_print("processor  %s, %zu in use of %zu\n", s->processor[0] ? s->processor : "unknown", d->machine.processors,
              s->online);
    if (s->vectors[0]) cli_print("vectors    %s\n", s->vectors);
    if (s->cache[0] > 0) cli_print("caches     level 1 %s, level 2 %s, level 3 %s\n", level[0], level[1], level[2]);
    if (s->quota > 0) cli_print("quota      %.1f processors, set by a control group\n", s->quota);
}

static void print_memory(const cli_machine *s)
{
    cli_print("memory     %.1f GB, %.1f GB available", s->memory / 1e9, s->available / 1e9);
    if (s->limit_addresses > 0) cli_print(", addresses limited to %.2f GB", s->limit_addresses / 1e9);
    if (s->limit_group > 0) cli_print(", limited to %.2f GB by a control group", s->limit_group / 1e9);
    if (s->limit_addresses <= 0 && s->limit_group <= 0) cli_print(", no limit");
    cli_print("\ntemporary  %s, %.1f GB free%s (used by --memory)\n", s->temporary, s->temporary_free / 1e9,
              s->temporary_in_memory ? ", in memory" : "");
}

static void print_software(const broad_machine *m)
{
    cli_print("kernels    %s\n", m->kernels);
    cli_print("pictures   %s\n", broad_picture_formats());
    cli_print("self-test  %s\n", m->self_test ? "passed: the kernels agree with plain C" : "FAILED");
}

static void print_devices(const diagnosis *d)
{
    cli_print("devices    cpu (%s kernels)", d->machine.kernels);
    if (d->measured) cli_print(": %.1f GFLOP/s at most, %.1f GB/s from memory", d->speed.peak.all, d->speed.read.all);
    putchar('\n');
    if (!d->mpi)
        cli_print("ranks      %s: no libbroad-mpi\n", cli_ranks_apart() ? "several, apart" : "this process alone");
    else if (cli_ranks_started() > 1)
        cli_print("ranks      %zu, of which %zu on this machine, by %s\n", cli_ranks_started(), cli_ranks_here(),
                  d->mpi_text);
    else cli_print("ranks      this process alone; mpirun may start several, by %s\n", d->mpi_text);
}

static void print_flops(const char *name, broad_rate rate, broad_rate peak)
{
    cli_print("  %-22s %7.1f", name, rate.one);
    if (peak.one > 0) cli_print("  %4.0f %%", 100 * rate.one / peak.one);
    cli_print("   %9.1f", rate.all);
    if (peak.all > 0) cli_print("  %4.0f %%", 100 * rate.all / peak.all);
    putchar('\n');
}

static void print_speed(const broad_speed *s)
{
    char peak[64];
    snprintf(peak, sizeof peak, "peak%s%s", s->instructions[0] ? ", " : "", s->instructions);
    cli_print("speed                   one thread, of peak   %2zu threads, of peak\n", s->threads);
    cli_print("GFLOP/s\n");
    if (s->peak.one > 0) print_flops(peak, s->peak, s->peak);
    print_flops("large product", s->dgemm, s->peak);
    print_flops("pass over the rows", s->layer, s->peak);
    print_flops("  its nodes", s->nodes, s->peak);
    print_flops("  its sums K'K", s->gram, s->peak);
    cli_print("GB/s\n");
    cli_print("  %-22s %7.1f   %16.1f\n", "memory, read", s->read.one, s->read.all);
    cli_print("  %-22s %7.1f   %16.1f\n", "memory, copied", s->copy.one, s->copy.all);
    cli_print("  %-22s %7.1f\n", "fingerprint", s->hash);
    cli_print("  %-22s %7.1f\n", "sums of columns", s->sums);
    cli_print("million rows/s\n");
    cli_print("  %-22s %7.1f\n", "search for copies", s->search);
}

static void print_gpu(const diagnosis *d)
{
    if (!d->gpu_there) {
        cli_print("cuda       none: %s\n", d->gpu_absent);
        return;
    }
    cli_print("cuda       %s, %.1f GB, %.1f GB available", d->gpu.name, (double)d->gpu.memory / 1e9,
              (double)d->gpu.available / 1e9);
    if (d->gpu.devices > 1) cli_print(", the first of %zu", d->gpu.devices);
    cli_print("\n");
    if (d->gpu.gigaflops > 0)
        cli_print("           large product %.0f GFLOP/s, memory copied at %.0f GB/s\n", d->gpu.gigaflops,
                  d->gpu.gigabytes);
}

static void report_text(const diagnosis *d)
{
    cli_print("broad      %s\n", broad_version());
    print_processor(d);
    print_memory(&d->system);
    print_software(&d->machine);
    print_devices(d);
    if (d->measured) print_speed(&d->speed);
    print_gpu(d);
    if (!d->advice_count) cli_print("advice     none: everything is fine\n");
    for (size_t i = 0; i < d->advice_count; i++) cli_print("advice     %s\n", d->advice[i]);
}

int cli_doctor(const cli_arguments *arguments)
{
    diagnosis d;
    size_t threads = 0;
    memset(&d, 0, sizeof d);
    int status = cli_threads(&threads, arguments);
    broad_machine_init(&d.machine);
    broad_speed_init(&d.speed);
    if (!status) status = broad_machine_inspect(&d.machine, 1);
    if (status) return status;
    if (!d.machine.self_test) snprintf(d.fault, sizeof d.fault, "%s", cli_error());
    cli_machine_look(&d.system);
    d.mpi = cli_ranks_known(d.mpi_text, sizeof d.mpi_text);
    if (d.machine.self_test && !cli_given(arguments, "quick")) {
        status = broad_machine_measure(&d.speed, threads, 0);
        if (status) return status;
        d.measured = 1;
    }
    broad_gpu_init(&d.gpu);
    d.gpu_there = broad_gpu_inspect(&d.gpu, d.measured) == BROAD_OK;
    if (!d.gpu_there) snprintf(d.gpu_absent, sizeof d.gpu_absent, "%s", cli_error());
    advise_on_kernels(&d);
    if (d.measured) advise_on_speed(&d);
    advise_on_limits(&d);
    advise_on_ranks(&d);
    if (cli_given(arguments, "json")) status = report_json(arguments, &d);
    else report_text(&d);
    return !status && !d.machine.self_test ? -BROAD_FAILED : status;
}
