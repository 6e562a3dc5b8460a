/* broad plan: what a run of given sizes takes, on one machine or on many. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "io/disk_speed.h"
#include "io/json.h"
#include "io/machine.h"
#include "io/progress.h"
#include "run/show.h"
#include "values.h"

/* Of the peak of a core that training reaches as a whole; large products come nearer to it, the rest does not. */
static const double USUAL = 0.4;
/* Of the speed of a large product on a GPU that the products of wide layers reach: docs/gpu.md. Those of narrow ones wait for
 * its memory, which is counted beside them. */
static const double USUAL_CARD = 0.6;

/* Where the rows of a run on a GPU are, in the order of broad_ranks_plan.card. */
typedef enum card_way { CARD_KEPT, CARD_LAYERS_AGAIN, CARD_ALL_AGAIN, CARD_NOT } card_way;

typedef struct machines {
    double peak, bandwidth,
        latency;             /* operations of a core and bytes of the network per second; seconds of a message */
    double disk, hash, sums; /* bytes per second; disk 0: unknown */
    double search;           /* rows per second */
    double card_peak, card_bandwidth, card_memory;
} machines;

typedef struct lasting {
    double read, look, told; /* reading; copies, fingerprint and scaling; what all ranks are told of all rows */
    double rows, same, exchange;
} lasting;

typedef struct planned {
    broad_options options;
    size_t rows, inputs, outputs, ranks, threads;
    machines at;
    broad_plan plan;
    broad_ranks_plan part;
    card_way card; /* CARD_NOT: the processor does the work */
    lasting seconds;
} planned;

static double seconds_of(const planned *p)
{
    const lasting *s = &p->seconds;
    return s->read + s->look + s->told + s->rows + s->same + s->exchange;
}

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

/* A number with a unit, in plain ones. */
static int take_scaled(double *out, const cli_arguments *arguments, const char *name, double unit, double least)
{
    double number = 0;
    int status = take_number(&number, arguments, name, least);
    *out = unit * number;
    return status;
}

static int take_machines(machines *at, const cli_arguments *arguments)
{
    double scan = 0;
    int status = take_scaled(&at->bandwidth, arguments, "bandwidth", 1e9, 1e-6);
    if (!status) status = take_scaled(&at->latency, arguments, "latency", 1e-6, 0);
    if (!status) status = take_scaled(&at->peak, arguments, "peak", 1e9, 1e-3);
    if (!status) status = take_scaled(&at->disk, arguments, "disk", 1e9, 1e-6);
    if (!status) status = take_scaled(&scan, arguments, "scan", 1e9, 1e-6);
    if (!status) status = take_scaled(&at->search, arguments, "search", 1e6, 1e-6);
    if (!status) status = take_scaled(&at->card_peak, arguments, "gpu-peak", 1e9, 1e-3);
    if (!status) status = take_scaled(&at->card_bandwidth, arguments, "gpu-bandwidth", 1e9, 1e-6);
    if (!status) status = take_scaled(&at->card_memory, arguments, "gpu-memory", 1e9, 1e-6);
    at->hash = at->sums = scan;
    return status;
}

static int take_sizes(planned *p, const cli_arguments *arguments)
{
    *p = (planned){.ranks = 1, .card = CARD_NOT};
    int status = cli_training_options(&p->options, arguments);
    p->options.comm = NULL;
    if (!status) status = take_count(&p->rows, arguments, "rows");
    if (!status) status = take_count(&p->inputs, arguments, "inputs");
    if (!status) status = take_count(&p->outputs, arguments, "outputs");
    if (!status) status = take_count(&p->ranks, arguments, "ranks");
    if (!status) status = take_machines(&p->at, arguments);
    if (!status && (!p->rows || !p->inputs))
        status = cli_fail_usage(arguments->command, "the sizes of the data are missing: give --rows and --inputs");
    return status;
}

/* What was not given, of this machine. */
static int measure_processor(machines *at)
{
    broad_speed speed;
    cli_machine machine;
    broad_speed_init(&speed);
    if (!(at->peak > 0) || !(at->hash > 0) || !(at->search > 0)) {
        int status = broad_machine_measure(&speed, 1, 2);
        if (status) return status;
    }
    if (!(at->peak > 0)) at->peak = 1e9 * speed.peak.one;
    if (!(at->hash > 0)) at->hash = 1e9 * speed.hash, at->sums = 1e9 * speed.sums;
    if (!(at->search > 0)) at->search = 1e6 * speed.search;
    if (at->disk > 0) return BROAD_OK;
    cli_machine_look(&machine);
    at->disk = cli_disk_speed(machine.temporary);
    return BROAD_OK;
}

static int measure_card(machines *at)
{
    broad_gpu gpu;
    broad_gpu_init(&gpu);
    if (at->card_peak > 0 && at->card_bandwidth > 0 && at->card_memory > 0) return BROAD_OK;
    if (broad_gpu_inspect(&gpu, 1))
        return cli_fail(BROAD_FAILED,
                        "there is no GPU here to measure (%s): describe that of the run by --gpu-peak, --gpu-bandwidth "
                        "and --gpu-memory, as 'broad doctor' prints them there",
                        broad_error_message());
    if (!(at->card_peak > 0)) at->card_peak = 1e9 * gpu.gigaflops;
    if (!(at->card_bandwidth > 0)) at->card_bandwidth = 1e9 * gpu.gigabytes;
    if (!(at->card_memory > 0)) at->card_memory = (double)gpu.available;
    return BROAD_OK;
}

/* The first way in which the rows fit. */
static card_way choose_way(const planned *p)
{
    card_way way = p->part.card[CARD_KEPT].bytes > 0 ? CARD_KEPT : CARD_NOT;
    while (way < CARD_NOT && p->part.card[way].bytes > p->at.card_memory) way++;
    return way;
}

/* The search for copies, the fingerprint, the scaling. The hash is one thread's, beside those that add up columns. */
static double look_seconds(const planned *p)
{
    double hash = p->part.bytes_hashed / p->at.hash, sums = p->part.bytes_summed / p->at.sums;
    double both = p->part.divided || p->threads == 1 ? hash + sums : fmax(hash, sums / (double)(p->threads - 1));
    return p->part.rows_searched / p->at.search + both;
}

/* What all ranks are told has to come, and to be looked at. */
static double told_seconds(const planned *p)
{
    return p->part.bytes_told / p->at.bandwidth + p->part.bytes_told / p->at.hash;
}

static double exchange_seconds(const planned *p)
{
    const broad_ranks_plan *part = &p->part;
    double layers = (double)p->options.enhance_layers, seconds = 0;
    /* Each of the messages that wait for each other carries all of the sums. */
    if (part->divided)
        seconds = layers * part->steps_layer * (p->at.latency + (part->sums + 1) * sizeof(double) / p->at.bandwidth);
    if (part->messages_joint > 0)
        seconds += part->steps_joint * (p->at.latency + part->bytes_joint / part->messages_joint / p->at.bandwidth);
    return seconds;
}

static void plan_seconds(planned *p)
{
    double speed = USUAL * p->at.peak * (double)p->threads;
    p->seconds = (lasting){.look = look_seconds(p),
                           .told = told_seconds(p),
                           .rows = p->part.flops_rows / speed,
                           .same = p->part.flops_same / speed,
                           .exchange = exchange_seconds(p)};
    if (p->at.disk > 0) p->seconds.read = p->part.bytes_read / p->at.disk;
    if (p->card == CARD_NOT) return;
    const broad_card_plan *card = &p->part.card[p->card];
    p->seconds.rows = card->flops / (USUAL_CARD * p->at.card_peak) + card->moved / p->at.card_bandwidth;
    p->seconds.same = p->plan.flops_trials / speed;
}

static int make_plan(planned *p)
{
    broad_machine machine;
    broad_plan_init(&p->plan);
    broad_ranks_plan_init(&p->part);
    broad_machine_init(&machine);
    int cuda = p->options.device == BROAD_DEVICE_CUDA, status = broad_machine_inspect(&machine, 0);
    if (!status) status = broad_plan_run(&p->plan, &p->options, NULL, p->rows, p->inputs, p->outputs);
    if (!status) status = broad_plan_ranks(&p->part, &p->options, p->rows, p->inputs, p->outputs, p->ranks);
    if (!status && cuda) status = measure_card(&p->at);
    if (!status) status = measure_processor(&p->at);
    if (status) return status;
    p->threads = p->options.threads ? p->options.threads : machine.processors;
    if (cuda) p->card = choose_way(p);
    plan_seconds(p);
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
    cli_json_put(object, "bytes_search", cli_json_real(part->bytes_search));
    cli_json_put(object, "bytes_read", cli_json_real(part->bytes_read));
    cli_json_put(object, "bytes_told", cli_json_real(part->bytes_told));
    cli_json_put(object, "rows_searched", cli_json_real(part->rows_searched));
    cli_json_put(object, "bytes_hashed", cli_json_real(part->bytes_hashed));
    cli_json_put(object, "bytes_summed", cli_json_real(part->bytes_summed));
    return object;
}

/* Of the way that is taken; where none fits, of the one that needs least. */
static json_t *card_json(const planned *p)
{
    static const char *const ways[] = {"kept", "layers recomputed", "all recomputed", "not used"};
    const broad_card_plan *card = &p->part.card[p->card == CARD_NOT ? CARD_ALL_AGAIN : p->card];
    json_t *object = json_object();
    cli_json_put(object, "nodes", cli_json_text(ways[p->card]));
    cli_json_put(object, "bytes", cli_json_real(card->bytes));
    cli_json_put(object, "flops", cli_json_real(card->flops));
    cli_json_put(object, "bytes_moved", cli_json_real(card->moved));
    cli_json_put(object, "peak", cli_json_real(p->at.card_peak));
    cli_json_put(object, "bandwidth", cli_json_real(p->at.card_bandwidth));
    cli_json_put(object, "memory", cli_json_real(p->at.card_memory));
    return object;
}

static json_t *machine_json(const machines *at)
{
    json_t *object = json_object();
    cli_json_put(object, "peak", cli_json_real(at->peak));
    cli_json_put(object, "bandwidth", cli_json_real(at->bandwidth));
    cli_json_put(object, "latency", cli_json_real(at->latency));
    cli_json_put(object, "disk", at->disk > 0 ? cli_json_real(at->disk) : json_null());
    cli_json_put(object, "hash", cli_json_real(at->hash));
    cli_json_put(object, "sums", cli_json_real(at->sums));
    cli_json_put(object, "search", cli_json_real(at->search));
    return object;
}

static json_t *seconds_json(const planned *p)
{
    const lasting *s = &p->seconds;
    json_t *object = json_object();
    cli_json_put(object, "read", p->at.disk > 0 ? cli_json_real(s->read) : json_null());
    cli_json_put(object, "look", cli_json_real(s->look));
    cli_json_put(object, "told", cli_json_real(s->told));
    cli_json_put(object, "rows", cli_json_real(s->rows));
    cli_json_put(object, "same", cli_json_real(s->same));
    cli_json_put(object, "exchange", cli_json_real(s->exchange));
    cli_json_put(object, "total", cli_json_real(seconds_of(p)));
    return object;
}

static int show_json(const cli_arguments *arguments, const planned *p)
{
    json_t *object = cli_json_object("plan");
    cli_json_put(object, "rows", json_integer((json_int_t)p->rows));
    cli_json_put(object, "inputs", json_integer((json_int_t)p->inputs));
    cli_json_put(object, "outputs", json_integer((json_int_t)p->outputs));
    cli_json_put(object, "nodes", cli_json_real(p->plan.nodes));
    cli_json_put(object, "bytes_data", cli_json_real(p->plan.bytes_data));
    cli_json_put(object, "flops_total", cli_json_real(p->plan.flops_total));
    cli_json_put(object, "flops_trials", cli_json_real(p->plan.flops_trials));
    cli_json_put(object, "rank", ranks_json(p));
    if (p->options.device == BROAD_DEVICE_CUDA) cli_json_put(object, "card", card_json(p));
    cli_json_put(object, "machine", machine_json(&p->at));
    cli_json_put(object, "seconds", seconds_json(p));
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

/* Before the first layer. */
static void print_before(const planned *p)
{
    char read[32], look[32], told[32];
    cli_format_duration(read, sizeof read, p->seconds.read);
    cli_format_duration(look, sizeof look, p->seconds.look);
    cli_format_duration(told, sizeof told, p->seconds.told);
    cli_print("before   ");
    if (p->at.disk > 0) cli_print("%s to read the table, ", read);
    cli_print("%s for copies, fingerprint and scaling", look);
    if (p->part.divided) cli_print(", %s for what all ranks are told of all rows", told);
    cli_print("%s\n", p->at.disk > 0
                          ? ""
                          : "; reading is not counted: no file can be written to measure the disk, give --disk");
}

static void print_machine(const planned *p)
{
    const machines *at = &p->at;
    cli_print("machine  %zu thread%s%s of %.1f GFLOP/s at most", p->threads, cli_plural(p->threads),
              p->ranks > 1 ? " per rank" : "", at->peak / 1e9);
    if (p->options.device == BROAD_DEVICE_CUDA)
        cli_print("; a GPU of %.0f GFLOP/s, %.0f GB/s and %.1f GB", at->card_peak / 1e9, at->card_bandwidth / 1e9,
                  at->card_memory / 1e9);
    if (p->part.divided)
        cli_print("; a network of %.3g GB/s and %.3g microseconds", at->bandwidth / 1e9, 1e6 * at->latency);
    if (at->disk > 0) cli_print("; a disk of %.3g GB/s", at->disk / 1e9);
    putchar('\n');
}

static void print_time(const planned *p)
{
    char rows[32], same[32], exchange[32], total[32];
    cli_format_duration(rows, sizeof rows, p->seconds.rows);
    cli_format_duration(same, sizeof same, p->seconds.same);
    cli_format_duration(exchange, sizeof exchange, p->seconds.exchange);
    cli_format_duration(total, sizeof total, seconds_of(p));
    print_before(p);
    cli_print("time     about %s in all: %s for the rows, %s for what every rank does", total, rows, same);
    if (p->part.divided) cli_print(", %s for messages", exchange);
    putchar('\n');
    print_machine(p);
}

static void print_card(const planned *p)
{
    static const char *const ways[] = {"", "; there is no room for the columns of a layer, which are computed twice",
                                       "; there is no room for nodes, which are computed from the inputs in each pass"};
    char needed[32];
    double work = p->part.flops_rows + p->part.flops_same - p->plan.flops_trials;
    if (p->options.device != BROAD_DEVICE_CUDA) return;
    cli_format_bytes(needed, sizeof needed, p->part.card[p->card == CARD_NOT ? CARD_ALL_AGAIN : p->card].bytes);
    if (!(p->part.card[CARD_KEPT].bytes > 0))
        cli_print("card     not used: this stays on the processor (docs/gpu.md)\n");
    else if (p->card == CARD_NOT) cli_print("card     not used: the rows need at least %s there\n", needed);
    else
        cli_print("card     %s for rows%s; %.0f %% of its speed\n", needed, ways[p->card],
                  100 * work / (p->seconds.rows * p->at.card_peak));
}

static void show_text(const planned *p)
{
    char table[32], own[32], rows[32], sums[32], all[32], work[32], trials[32];
    cli_format_bytes(all, sizeof all, p->part.bytes_search);
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
    cli_print("; %s for nodes and residuals", rows);
    if (p->part.divided) cli_print(" of a rank, %s for its sums; %s while it looks for copies", sums, all);
    putchar('\n');
    print_card(p);
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
