/* broad plan: what a run of given sizes takes, on one machine or on many. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "io/json.h"
#include "io/progress.h"
#include "run/show.h"
#include "values.h"

/* Of the peak of a core that training reaches as a whole; large products come nearer to it, the rest does not. */
static const double USUAL = 0.4;

typedef struct planned {
    broad_options options;
    size_t rows, inputs, outputs, ranks, threads;
    double peak, bandwidth,
        latency; /* operations of a core and bytes of the network per second; seconds of a message */
    broad_plan plan;
    broad_ranks_plan part;
    double seconds_rows, seconds_same, seconds_exchange;
} planned;

/* A number that may be written as 1e10. */
static int take_number(double *out, const cli_arguments *arguments, const char *name, double least)
{
    const char *text = cli_value(arguments, name);
    char *end = NULL;
    if (!text) return BROAD_OK;
    *out = strtod(text, &end);
    if (end != text && *end == 0 && *out >= least && *out <= 1e15) return BROAD_OK;
    return cli_fail(BROAD_USAGE, "--%s: '%s' is not a number of at least %g, such as 1000 or 1e6", name, text, least);
}

static int take_count(size_t *out, const cli_arguments *arguments, const char *name)
{
    double number = (double)*out;
    int status = take_number(&number, arguments, name, 1);
    *out = (size_t)number;
    return status;
}

/* Of one core, in operations per second. */
static double measured_peak(void)
{
    broad_speed speed;
    broad_speed_init(&speed);
    return broad_machine_measure(&speed, 1, 1) ? 0 : 1e9 * speed.peak.one;
}

static int take_sizes(planned *p, const cli_arguments *arguments)
{
    double gigabytes = 0, microseconds = 0, gigaflops = 0;
    *p = (planned){.ranks = 1};
    int status = cli_training_options(&p->options, arguments);
    p->options.comm = NULL;
    if (!status) status = take_count(&p->rows, arguments, "rows");
    if (!status) status = take_count(&p->inputs, arguments, "inputs");
    if (!status) status = take_count(&p->outputs, arguments, "outputs");
    if (!status) status = take_count(&p->ranks, arguments, "ranks");
    if (!status) status = take_number(&gigabytes, arguments, "bandwidth", 1e-6);
    if (!status) status = take_number(&microseconds, arguments, "latency", 0);
    if (!status) status = take_number(&gigaflops, arguments, "peak", 1e-3);
    if (!status && (!p->rows || !p->inputs))
        status = cli_fail_usage(arguments->command, "the sizes of the data are missing: give --rows and --inputs");
    p->bandwidth = 1e9 * gigabytes;
    p->latency = 1e-6 * microseconds;
    p->peak = 1e9 * gigaflops;
    return status;
}

static int make_plan(planned *p)
{
    broad_machine machine;
    broad_plan_init(&p->plan);
    broad_ranks_plan_init(&p->part);
    broad_machine_init(&machine);
    int status = broad_machine_inspect(&machine, 0);
    if (!status) status = broad_plan_run(&p->plan, &p->options, NULL, p->rows, p->inputs, p->outputs);
    if (!status) status = broad_plan_ranks(&p->part, &p->options, p->rows, p->inputs, p->outputs, p->ranks);
    if (status) return status;
    if (!(p->peak > 0)) p->peak = measured_peak();
    p->threads = p->options.threads ? p->options.threads : machine.processors;
    double speed = USUAL * p->peak, layers = (double)p->options.enhance_layers;
    p->seconds_rows = p->part.flops_rows / (speed * (double)p->threads);
    p->seconds_same = p->part.flops_same / (speed * (double)p->threads);
    /* Each of the messages that wait for each other carries all of the sums. */
    if (p->part.divided)
        p->seconds_exchange =
            layers * p->part.steps_layer * (p->latency + (p->part.sums + 1) * sizeof(double) / p->bandwidth);
    if (p->part.messages_joint > 0)
        p->seconds_exchange +=
            p->part.steps_joint * (p->latency + p->part.bytes_joint / p->part.messages_joint / p->bandwidth);
    return BROAD_OK;
}

/* ---- what is shown ------------------------------------------------------------------------------------------------- */

static json_t *ranks_json(const planned *p)
{
    const broad_ranks_plan *part = &p->part;
    json_t *object = json_object();
    cli_json_put(object, "ranks", json_integer((json_int_t)p->ranks));
    cli_json_put(object, "ranks_used", cli_json_real(part->ranks));
    cli_json_put(object, "divided", json_boolean(part->divided));
    cli_json_put(object, "threads", json_integer((json_int_t)p->threads));
    cli_json_put(object, "rows", cli_json_real(part->rows));
    cli_json_put(object, "flops_rows", cli_json_real(part->flops_rows));
    cli_json_put(object, "flops_same", cli_json_real(part->flops_same));
    cli_json_put(object, "bytes_data", cli_json_real(part->bytes_data));
    cli_json_put(object, "bytes_rows", cli_json_real(part->bytes_rows));
    cli_json_put(object, "bytes_sums", cli_json_real(part->bytes_sums));
    cli_json_put(object, "messages_layer", cli_json_real(part->messages_layer));
    cli_json_put(object, "bytes_layer", cli_json_real(part->bytes_layer));
    cli_json_put(object, "bytes_first", cli_json_real(part->bytes_first));
    cli_json_put(object, "messages_joint", cli_json_real(part->messages_joint));
    cli_json_put(object, "bytes_joint", cli_json_real(part->bytes_joint));
    cli_json_put(object, "bytes_refine", cli_json_real(part->bytes_refine));
    cli_json_put(object, "bytes_total", cli_json_real(part->bytes_total));
    return object;
}

static int show_json(const cli_arguments *arguments, const planned *p)
{
    json_t *object = cli_json_object("plan"), *seconds = json_object(), *machine = json_object();
    cli_json_put(object, "rows", json_integer((json_int_t)p->rows));
    cli_json_put(object, "inputs", json_integer((json_int_t)p->inputs));
    cli_json_put(object, "outputs", json_integer((json_int_t)p->outputs));
    cli_json_put(object, "nodes", cli_json_real(p->plan.nodes));
    cli_json_put(object, "bytes_data", cli_json_real(p->plan.bytes_data));
    cli_json_put(object, "flops_total", cli_json_real(p->plan.flops_total));
    cli_json_put(object, "flops_trials", cli_json_real(p->plan.flops_trials));
    cli_json_put(object, "rank", ranks_json(p));
    cli_json_put(machine, "peak", cli_json_real(p->peak));
    cli_json_put(machine, "bandwidth", cli_json_real(p->bandwidth));
    cli_json_put(machine, "latency", cli_json_real(p->latency));
    cli_json_put(object, "machine", machine);
    cli_json_put(seconds, "rows", cli_json_real(p->seconds_rows));
    cli_json_put(seconds, "same", cli_json_real(p->seconds_same));
    cli_json_put(seconds, "exchange", cli_json_real(p->seconds_exchange));
    cli_json_put(seconds, "total", cli_json_real(p->seconds_rows + p->seconds_same + p->seconds_exchange));
    cli_json_put(object, "seconds", seconds);
    return cli_json_give(arguments, object);
}

static void print_ranks(const planned *p)
{
    char layer[32], joint[32], total[32];
    const broad_ranks_plan *part = &p->part;
    if (p->ranks == 1) return;
    if (!part->divided) {
        cli_print("ranks    %zu, and each does all of the work: these passes are not shared out (docs/scale.md)\n",
                  p->ranks);
        return;
    }
    cli_format_bytes(layer, sizeof layer, part->bytes_layer);
    cli_format_bytes(total, sizeof total, part->bytes_total);
    cli_print("ranks    %zu, with at most %.0f rows each", p->ranks, part->rows);
    if (part->ranks < (double)p->ranks) cli_print("; %.0f of them have rows, the others nothing to do", part->ranks);
    cli_print("\ntraffic  %s per layer in %.0f messages, at the rank that has most", layer, part->messages_layer);
    cli_format_bytes(joint, sizeof joint, part->bytes_joint);
    if (part->messages_joint > 0) cli_print("; %s in %.0f for joint weights", joint, part->messages_joint);
    cli_print("; %s in all\n", total);
}

static void print_time(const planned *p)
{
    char rows[32], same[32], exchange[32], total[32];
    cli_format_duration(rows, sizeof rows, p->seconds_rows);
    cli_format_duration(same, sizeof same, p->seconds_same);
    cli_format_duration(exchange, sizeof exchange, p->seconds_exchange);
    cli_format_duration(total, sizeof total, p->seconds_rows + p->seconds_same + p->seconds_exchange);
    cli_print("time     about %s: %s for the rows, %s for what every rank does", total, rows, same);
    if (p->part.divided) cli_print(", %s for messages", exchange);
    cli_print("\nmachine  %zu thread%s%s of %.1f GFLOP/s at most", p->threads, cli_plural(p->threads),
              p->ranks > 1 ? " per rank" : "", p->peak / 1e9);
    if (p->part.divided)
        cli_print("; a network of %.3g GB/s and %.3g microseconds", p->bandwidth / 1e9, 1e6 * p->latency);
    putchar('\n');
}

static void show_text(const planned *p)
{
    char table[32], own[32], rows[32], sums[32], work[32], trials[32];
    cli_format_bytes(own, sizeof own, p->part.bytes_data);
    cli_format_bytes(table, sizeof table, p->plan.bytes_data);
    cli_format_bytes(rows, sizeof rows, p->part.divided ? p->part.bytes_rows : p->plan.bytes_training);
    cli_format_bytes(sums, sizeof sums, p->part.bytes_sums);
    cli_format_flops(work, sizeof work, p->plan.flops_total);
    cli_format_flops(trials, sizeof trials, p->plan.flops_trials);
    cli_print("run      %zu row%s, %zu input%s, %zu output%s; %.0f nodes at the end\n", p->rows, cli_plural(p->rows),
              p->inputs, cli_plural(p->inputs), p->outputs, cli_plural(p->outputs), p->plan.nodes);
    cli_print("work     %s, if the first draw of each layer is kept", work);
    if (p->plan.flops_trials > 0) cli_print("; %s of trials before that", trials);
    putchar('\n');
    print_ranks(p);
    cli_print("memory   %s for the table", table);
    if (p->part.divided) cli_print(", of which a rank holds %s", own);
    cli_print("; %s for nodes and residuals%s", rows, p->part.divided ? " of a rank, " : "\n");
    if (p->part.divided) cli_print("%s for its sums\n", sums);
    print_time(p);
}

int cli_plan(const cli_arguments *arguments)
{
    planned p;
    int status = take_sizes(&p, arguments);
    if (!status) status = make_plan(&p);
    if (status) return status;
    if (cli_given(arguments, "json")) return show_json(arguments, &p);
    show_text(&p);
    return BROAD_OK;
}
