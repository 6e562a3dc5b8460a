#include "io/profile_table.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/profile.h"
#include "values.h"

static size_t threads_used(const cli_arguments *arguments)
{
    broad_machine machine = {.size = sizeof machine};
    size_t threads = 0;
    if (cli_threads(&threads, arguments) || threads) return threads ? threads : 1;
    return broad_machine_inspect(&machine, 0) ? 1 : machine.processors;
}

int cli_profile_begin(cli_profile *out, cli_arguments *arguments)
{
    *out = (cli_profile){.arguments = arguments};
    if (!cli_given(arguments, "profile")) return BROAD_OK;
    broad_speed_init(&out->machine);
    int status = broad_machine_measure(&out->machine, 1, 1);
    if (!status) status = broad_profile_open(&out->profile);
    if (status) return status;
    out->threads = threads_used(arguments);
    if (cli_given(arguments, "json")) arguments->result = &out->result;
    out->start = broad__seconds();
    out->processor = broad__process_seconds();
    broad__profile_enter(out->profile);
    return BROAD_OK;
}

/* ---- figures --------------------------------------------------------------------------------------------------- */

typedef struct figures {
    broad_stage stage;
    double share;          /* of the time of all threads */
    double gflops, gbytes; /* a second of one thread     */
    double of_peak;        /* 0: no operations, or no peak known */
} figures;

/* 0: the stage did not happen. */
static int figures_of(figures *out, const cli_profile *p, size_t stage, double wall)
{
    *out = (figures){0};
    broad_stage_init(&out->stage);
    if (broad_profile_stage(&out->stage, p->profile, stage) || out->stage.calls == 0) return 0;
    double seconds = out->stage.seconds;
    out->share = wall > 0 ? seconds / (wall * (double)p->threads) : 0;
    if (seconds > 0) out->gflops = 1e-9 * out->stage.flops / seconds;
    if (seconds > 0) out->gbytes = 1e-9 * out->stage.bytes / seconds;
    if (p->machine.peak.one > 0) out->of_peak = out->gflops / p->machine.peak.one;
    return 1;
}

/* ---- as JSON --------------------------------------------------------------------------------------------------- */

static json_t *stage_json(const figures *f)
{
    json_t *object = json_object();
    cli_json_put(object, "name", cli_json_text(f->stage.name));
    cli_json_put(object, "group", cli_json_text(f->stage.group));
    cli_json_put(object, "calls", json_integer((json_int_t)f->stage.calls));
    cli_json_put(object, "seconds", cli_json_real(f->stage.seconds));
    cli_json_put(object, "share", cli_json_real(f->share));
    cli_json_put(object, "flops", cli_json_real(f->stage.flops));
    cli_json_put(object, "bytes", cli_json_real(f->stage.bytes));
    cli_json_put(object, "gflops", cli_json_real(f->gflops));
    cli_json_put(object, "gbytes", cli_json_real(f->gbytes));
    cli_json_put(object, "of_peak", f->of_peak > 0 ? cli_json_real(f->of_peak) : json_null());
    return object;
}

static json_t *profile_json(const cli_profile *p, double wall)
{
    json_t *object = json_object(), *stages = json_array();
    figures f;
    double counted = 0;
    for (size_t i = 0; i < broad_profile_stages(); i++) {
        if (!figures_of(&f, p, i, wall)) continue;
        counted += f.stage.seconds;
        cli_json_append(stages, stage_json(&f));
    }
    cli_json_put(object, "seconds", cli_json_real(wall));
    cli_json_put(object, "threads", json_integer((json_int_t)p->threads));
    cli_json_put(object, "counted", cli_json_real(counted));
    cli_json_put(object, "peak_gflops", cli_json_real(p->machine.peak.one));
    cli_json_put(object, "read_gbytes", cli_json_real(p->machine.read.one));
    cli_json_put(object, "stages", stages);
    return object;
}

/* ---- as text --------------------------------------------------------------------------------------------------- */

static void print_stage(const figures *f)
{
    fprintf(stderr, "  %-13s %8zu %10.4f %6.1f %%", f->stage.name, f->stage.calls, f->stage.seconds, 100 * f->share);
    if (f->stage.flops > 0) fprintf(stderr, " %10.3f %8.1f", 1e-9 * f->stage.flops, f->gflops);
    else fprintf(stderr, " %10s %8s", "", "");
    if (f->of_peak > 0) fprintf(stderr, " %5.0f %%", 100 * f->of_peak);
    else fprintf(stderr, " %7s", "");
    if (f->stage.bytes > 0) fprintf(stderr, " %9.4f %7.2f", 1e-9 * f->stage.bytes, f->gbytes);
    fprintf(stderr, "   %s\n", f->stage.help);
}

static void print_profile(const cli_profile *p, double wall)
{
    figures f;
    double counted = 0, all = wall * (double)p->threads;
    fprintf(stderr, "profile: %.4f s on %zu thread%s; one core reaches %.1f GFLOP/s (%s) and reads %.1f GB/s\n", wall,
            p->threads, p->threads == 1 ? "" : "s", p->machine.peak.one,
            p->machine.instructions[0] ? p->machine.instructions : "not measured", p->machine.read.one);
    fprintf(stderr, "  %-13s %8s %10s %8s %10s %8s %7s %9s %7s\n", "stage", "calls", "thread s", "of all", "GFLOP",
            "GFLOP/s", "of peak", "GB", "GB/s");
    for (size_t i = 0; i < broad_profile_stages(); i++) {
        if (!figures_of(&f, p, i, wall)) continue;
        counted += f.stage.seconds;
        print_stage(&f);
    }
    double rest = all > counted ? all - counted : 0;
    fprintf(stderr, "  %-13s %8s %10.4f %6.1f %%   work outside the stages\n", "rest", "", rest,
            all > 0 ? 100 * rest / all : 0);
}

int cli_profile_end(cli_profile *p, int status)
{
    if (!p->profile) return status;
    double wall = broad__seconds() - p->start;
    broad__profile_wait(p->profile, wall, p->threads, broad__process_seconds() - p->processor);
    broad__profile_leave((broad__profile_scope){0});
    if (cli_given(p->arguments, "json")) {
        if (p->result) {
            cli_json_put(p->result, "profile", profile_json(p, wall));
            int printed = cli_json_print(p->result);
            if (!status) status = printed;
        }
    } else if (status >= 0) {
        print_profile(p, wall);
    }
    broad_profile_close(p->profile);
    return status;
}
