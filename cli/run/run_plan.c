#include "run/run_plan.h"

#include <stdio.h>
#include <unistd.h>

#include "run/show.h"

static json_t *limit_json(const broad_plan *plan)
{
    static const char again[] = "made"
                                " again"; /* for the programs that read it since 0.1 */
    json_t *object = json_object();
    cli_json_put(object, "memory", cli_json_real(plan->memory));
    cli_json_put(object, "bytes_least", cli_json_real(plan->bytes_least));
    cli_json_put(object, "can_spill", json_boolean(plan->can_spill));
    cli_json_put(object, "spilled", json_boolean(plan->spilled));
    cli_json_put(object, "features", cli_json_text(plan->features_recomputed ? again : "kept"));
    cli_json_put(object, "layers", cli_json_text(plan->spilled || plan->features_recomputed ? again : "kept"));
    cli_json_put(object, "passes", cli_json_real(plan->passes));
    cli_json_put(object, "bytes_disk", cli_json_real(plan->bytes_disk));
    cli_json_put(object, "bytes_disk_free", cli_json_real(plan->bytes_disk_free));
    cli_json_put(object, "automatic", json_boolean(plan->memory_automatic));
    return object;
}

static double work_of(const broad_plan *plan) { return plan->flops_total + plan->flops_trials; }

/* A quick look at one core; large products come near its peak, the rest does not. */
static double plan_seconds(const broad_plan *plan, size_t threads)
{
    const double usual = 0.4;
    broad_machine machine;
    broad_speed speed;
    broad_machine_init(&machine);
    broad_speed_init(&speed);
    if (broad_machine_inspect(&machine, 0) || broad_machine_measure(&speed, 1, 1) || !(speed.peak.one > 0)) return 0;
    double cores = (double)(threads ? threads : machine.processors);
    return work_of(plan) / (usual * 1e9 * speed.peak.one * cores);
}

static json_t *plan_json(const broad_plan *plan, double seconds, broad_effort effort)
{
    json_t *object = json_object();
    cli_json_put(object, "rows", cli_json_real(plan->rows));
    cli_json_put(object, "inputs", cli_json_real(plan->inputs));
    cli_json_put(object, "outputs", cli_json_real(plan->outputs));
    cli_json_put(object, "nodes", cli_json_real(plan->nodes));
    cli_json_put(object, "bytes_data", cli_json_real(plan->bytes_data));
    cli_json_put(object, "bytes_training", cli_json_real(plan->bytes_training));
    cli_json_put(object, "bytes_available", cli_json_real(plan->bytes_available));
    cli_json_put(object, "flops_features", cli_json_real(plan->flops_features));
    cli_json_put(object, "flops_layer", cli_json_real(plan->flops_layer));
    cli_json_put(object, "flops_total", cli_json_real(plan->flops_total));
    cli_json_put(object, "flops_trials", cli_json_real(plan->flops_trials));
    cli_json_put(object, "effort", cli_json_text(broad_enum_name(BROAD_ENUM_EFFORT, (int)effort)));
    cli_json_put(object, "seconds", cli_json_real(seconds));
    cli_json_put(object, "bytes_peak", cli_json_real(plan->bytes_peak));
    cli_json_put(object, "fits", json_boolean(plan->fits));
    if (plan->memory > 0) cli_json_put(object, "limit", limit_json(plan));
    return object;
}

static void print_limit(const broad_plan *plan)
{
    char limit[32], least[32], disk[32], room[32];
    cli_format_bytes(limit, sizeof limit, plan->memory);
    cli_format_bytes(least, sizeof least, plan->bytes_least);
    cli_format_bytes(disk, sizeof disk, plan->bytes_disk);
    cli_format_bytes(room, sizeof room, plan->bytes_disk_free);
    cli_print("limit    %s%s; this run needs %s%s\n", limit,
              plan->memory_automatic ? " by half of what is available" : "", plan->memory_automatic ? "" : "at least ",
              least);
    if (!plan->spilled) {
        cli_print("rows     in memory\n");
        if (plan->features_recomputed)
            cli_print("nodes    recomputed in each pass, of which there are about %.0f\n", plan->passes);
        return;
    }
    cli_print("rows     in temporary files: %s of %s free; about %.0f passes\n", disk, room, plan->passes);
    cli_print("nodes    feature nodes are %s; layers are recomputed in each pass\n",
              plan->features_recomputed ? "recomputed in each pass" : "kept in files");
}

static void print_plan(const broad_plan *plan, double seconds, broad_effort effort)
{
    char time[32];
    char peak[32];
    char table[32], training[32], available[32], features[32], layer[32], total[32];
    cli_format_bytes(table, sizeof table, plan->bytes_data);
    cli_format_bytes(training, sizeof training, plan->bytes_training);
    cli_format_bytes(available, sizeof available, plan->bytes_available);
    cli_format_flops(features, sizeof features, plan->flops_features);
    cli_format_flops(layer, sizeof layer, plan->flops_layer);
    cli_format_flops(total, sizeof total, plan->flops_total);
    cli_print("run      %.0f row%s, %.0f input%s, %.0f output%s; %.0f nodes at the end\n", plan->rows,
              cli_plural((size_t)plan->rows), plan->inputs, cli_plural((size_t)plan->inputs), plan->outputs,
              cli_plural((size_t)plan->outputs), plan->nodes);
    cli_format_bytes(peak, sizeof peak, plan->bytes_peak);
    cli_print("memory   %s for the table, %s more to train; %s available; process peak %s\n", table, training,
              available, peak);
    if (plan->memory > 0) print_limit(plan);
    cli_print("work     %s for the features, %s per layer, %s in total, if the first draw of each layer is kept\n",
              features, layer, total);
    if (plan->flops_trials > 0) {
        cli_format_flops(total, sizeof total, plan->flops_trials);
        cli_print("trials   %s before that, to choose the nodes at effort %s\n", total,
                  broad_enum_name(BROAD_ENUM_EFFORT, (int)effort));
    }
    cli_format_duration(time, sizeof time, seconds);
    cli_print("time     about %s on this machine, if nothing else runs on it\n", time);
    cli_print("verdict  %s\n", plan->fits ? "fits in memory" : "does NOT fit in memory");
}

static int show_plan(const cli_run *run, const broad_plan *plan)
{
    int status = BROAD_OK;
    double seconds = plan_seconds(plan, run->options.threads);
    if (cli_given(run->arguments, "json")) {
        json_t *object = cli_json_object(run->arguments->command->name);
        cli_json_put(object, "plan", plan_json(plan, seconds, run->options.effort));
        status = cli_json_give(run->arguments, object);
    } else {
        print_plan(plan, seconds, run->options.effort);
    }
    return status || plan->fits ? status : -BROAD_NO_MEMORY;
}

/* ---- time, before it is spent ---- */

/* Work, and seconds: a run of less is over before it is read about. */
static const double WORK_TOLD = 5e9, SECONDS_TOLD = 3;

/* Part of the work that the least effort leaves; 1: it has that effort, or no trials that there could be fewer of. */
static double fast_part(const broad_plan *plan, const broad_options *options)
{
    broad_plan fast = {.size = sizeof fast};
    broad_options o = *options;
    if (!(plan->flops_trials > 0) || o.effort == BROAD_EFFORT_FAST) return 1;
    o.effort = BROAD_EFFORT_FAST;
    int status = broad_plan_run(&fast, &o, NULL, (size_t)plan->rows, (size_t)plan->inputs, (size_t)plan->outputs);
    return status ? 1 : work_of(&fast) / work_of(plan);
}

static void tell_time(const cli_run *run, const broad_plan *plan, const broad_options *options, size_t times)
{
    const double worth = 0.7;
    char time[32], less[64] = "", fast[32];
    double limit = options->max_seconds;
    if (!isatty(STDERR_FILENO) || cli_given(run->arguments, "quiet") || (double)times * work_of(plan) < WORK_TOLD)
        return;
    double seconds = (double)times * plan_seconds(plan, options->threads), part = fast_part(plan, options);
    if (seconds < SECONDS_TOLD) return;
    cli_format_duration(time, sizeof time, limit > 0 && limit < seconds ? limit : seconds);
    cli_format_duration(fast, sizeof fast, part * seconds);
    if (limit > 0 && limit < seconds) snprintf(less, sizeof less, ", to which --max-seconds cuts it");
    else if (!run->model && part < worth) snprintf(less, sizeof less, "; with --effort fast about %s", fast);
    cli_note(run->arguments, "this takes about %s if nothing else runs on this machine%s", time, less);
}

/* ---- the plan ---- */

/* Layers of the increment that the rules on size leave. */
static size_t layers_at_most(const cli_run *run)
{
    const broad_options *rules = &run->options;
    size_t layers = run->increment.layers, width = run->increment.nodes + run->increment.group_nodes;
    size_t nodes = run->model ? broad_model_nodes(run->model) : rules->feature_groups * rules->feature_nodes;
    size_t more = rules->max_layers > run->layers_before ? rules->max_layers - run->layers_before : 0;
    if (rules->max_layers && layers > more) layers = more;
    more = width && rules->max_nodes > nodes ? (rules->max_nodes - nodes) / width : 0;
    return rules->max_nodes && layers > more ? more : layers;
}

int cli_run_plan(int *out_done, cli_run *run, size_t rows, size_t inputs, size_t outputs, size_t times)
{
    broad_plan plan = {.size = sizeof plan};
    broad_options options = run->options;
    options.enhance_nodes = run->increment.nodes;
    options.enhance_layers = layers_at_most(run);
    if (run->model) {
        options.feature_groups = run->increment.groups ? options.enhance_layers : 0;
        options.feature_nodes = run->increment.group_nodes;
    }
    *out_done = cli_given(run->arguments, "plan") != NULL;
    int status = broad_plan_run(&plan, &options, run->model, rows, inputs, outputs);
    if (status) return status;
    if (*out_done) return show_plan(run, &plan);
    /* A limit that was asked for is kept or refused by the trainer. */
    int forced = !plan.fits && !cli_given(run->arguments, "memory") && cli_given(run->arguments, "force") != NULL;
    if (forced) run->options.memory = SIZE_MAX;
    if (plan.fits || forced || cli_given(run->arguments, "memory")) {
        tell_time(run, &plan, &options, times);
        return BROAD_OK;
    }
    char table[32], training[32], available[32];
    cli_format_bytes(table, sizeof table, plan.bytes_data);
    cli_format_bytes(training, sizeof training, plan.bytes_training);
    cli_format_bytes(available, sizeof available, plan.bytes_available);
    return cli_fail(BROAD_NO_MEMORY,
                    "training needs %s of memory in addition to %s for the table, but only %s is available; use fewer "
                    "nodes, layers or rows (--max-layers and --max-nodes help), or give --force to try anyway",
                    training, table, available);
}
