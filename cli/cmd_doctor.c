/* broad doctor: this machine, and the linear algebra below. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "json.h"

enum { ADVICE_MAX = 4, ADVICE_BYTES = 320 };

typedef struct diagnosis {
    broad_machine machine;
    char processor[128];
    double memory, available; /* bytes */
    size_t advice_count;
    char advice[ADVICE_MAX][ADVICE_BYTES];
} diagnosis;

/* The text after "name ... :" of the first such line. */
static void read_field(char *out, size_t bytes, const char *path, const char *name)
{
    char line[512];
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

static void find_advice(diagnosis *out)
{
    const broad_machine *machine = &out->machine;
    if (!machine->self_test)
        snprintf(out->advice[out->advice_count++], ADVICE_BYTES,
                 "the BLAS gives wrong results on this machine; install another one (Debian: libopenblas0-pthread)");
    if (strcmp(machine->blas_core, machine->best_core))
        snprintf(out->advice[out->advice_count++], ADVICE_BYTES,
                 "the BLAS chose its %s kernels, but this processor can run %s: set OPENBLAS_CORETYPE=%s "
                 "(the tool does so by itself unless OPENBLAS_CORETYPE or BROAD_REEXEC is set)",
                 machine->blas_core, machine->best_core, machine->best_core);
    if (out->available > 0 && out->available < 512e6)
        snprintf(out->advice[out->advice_count++], ADVICE_BYTES, "less than half a gigabyte of memory is free");
}

static int report_json(const diagnosis *found)
{
    const broad_machine *machine = &found->machine;
    json_t *object = cli_json_object("doctor"), *advice = json_array();
    for (size_t i = 0; i < found->advice_count; i++) cli_json_append(advice, cli_json_text(found->advice[i]));
    cli_json_put(object, "version", cli_json_text(broad_version()));
    cli_json_put(object, "processor", cli_json_text(found->processor));
    cli_json_put(object, "processors", json_integer((json_int_t)machine->processors));
    cli_json_put(object, "memory", json_integer((json_int_t)found->memory));
    cli_json_put(object, "memory_available", json_integer((json_int_t)found->available));
    cli_json_put(object, "blas", cli_json_text(machine->blas));
    cli_json_put(object, "blas_core", cli_json_text(machine->blas_core));
    cli_json_put(object, "best_core", cli_json_text(machine->best_core));
    cli_json_put(object, "gflops", cli_json_real(machine->gflops));
    cli_json_put(object, "self_test", json_boolean(machine->self_test));
    cli_json_put(object, "advice", advice);
    return cli_json_print(object);
}

static void report_text(const diagnosis *found)
{
    const broad_machine *machine = &found->machine;
    printf("broad      %s\n", broad_version());
    printf("processor  %s, %zu in use\n", found->processor, machine->processors);
    printf("memory     %.1f GB, %.1f GB available\n", found->memory / 1e9, found->available / 1e9);
    printf("BLAS       %s\n", machine->blas);
    printf("kernels    %s (best for this processor: %s)%s\n", machine->blas_core, machine->best_core,
           getenv("BROAD_REEXEC") ? ", chosen by broad" : "");
    printf("speed      %.1f GFLOP/s a thread (dgemm)\n", machine->gflops);
    printf("self-test  %s\n", machine->self_test ? "passed: BLAS agrees with plain C" : "FAILED");
    if (!found->advice_count) printf("advice     none: all is well\n");
    for (size_t i = 0; i < found->advice_count; i++) printf("advice     %s\n", found->advice[i]);
}

int cli_doctor(const cli_arguments *arguments)
{
    diagnosis found;
    memset(&found, 0, sizeof found);
    int status = broad_machine_inspect(&found.machine, 1);
    if (status) return status;
    read_field(found.processor, sizeof found.processor, "/proc/cpuinfo", "model name");
    found.memory = read_kilobytes("MemTotal");
    found.available = read_kilobytes("MemAvailable");
    find_advice(&found);
    if (cli_given(arguments, "json")) status = report_json(&found);
    else report_text(&found);
    return !status && !found.machine.self_test ? -BROAD_FAILED : status;
}
