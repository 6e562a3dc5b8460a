/*
 * Lists that people write and files that the tool goes on from: the labels of photos, corrections of a report, the state of a search. The
 * first byte chooses which. Photos that are named are some of those there are; what is refused is refused with a reason.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "arguments.h"
#include "base/memory.h"
#include "broad/broad.h"
#include "data/photo/photos_labels.h"
#include "run/corrections_file.h"
#include "sample_model.h"
#include "tune/tune_state.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

enum { FORMS = 3, PHOTOS = 4 };
static const char *const photos[PHOTOS] = {"a.jpg", "x/b.jpg", "y/b.jpg", "c d.png"};

static void must(int holds)
{
    if (!holds) abort();
}

static int sound(int status)
{
    return status == BROAD_OK || (status < 0 && status != BROAD_BUG && broad_error_message()[0]);
}

/* ---- labels ---- */

static void try_labels(const char *path)
{
    broad__photo_list list = {0};
    broad__photo_labels labels = {0};
    broad_read_options options;
    broad_read_options_init_sized(&options, sizeof options);
    options.labels = path;
    for (size_t i = 0; i < PHOTOS; i++) must(broad__photo_list_add(&list, photos[i], photos[i], NULL) == BROAD_OK);
    int status = broad__photo_labels_read(&labels, &list, &options, NULL);
    must(sound(status));
    size_t found = 0;
    for (size_t i = 0; !status && i < PHOTOS; i++) {
        must(list.items[i].unlisted == (labels.lines[i] == SIZE_MAX));
        must(labels.lines[i] == SIZE_MAX || labels.lines[i] < labels.content.rows);
        found += labels.lines[i] != SIZE_MAX;
    }
    if (!status) must(found > 0 && list.count == PHOTOS + labels.content.rows - found);
    broad__photo_labels_clear(&labels);
    broad__photo_list_clear(&list);
}

/* ---- corrections ---- */

static void try_corrections(const char *path)
{
    static broad_model *model;
    if (!model) {
        const sample_form form = {.seed = 7,
                                  .task = BROAD_TASK_CLASSIFY,
                                  .inputs = 2,
                                  .outputs = 3,
                                  .groups = 1,
                                  .group_nodes = 2,
                                  .layers = 1,
                                  .layer_nodes = 2,
                                  .kind = BROAD_KIND_BRLS};
        model = sample_model(&form);
    }
    cli_corrections corrections;
    int status = cli_corrections_read(&corrections, path, "/", model, 1);
    must(sound(status));
    if (!status) must(corrections.count > 0 && corrections.list >= 0);
    for (size_t i = 0; i < corrections.count; i++) {
        must(access(corrections.files[i], F_OK) == 0 && corrections.labels[i][0]);
        for (size_t k = 0; k < i; k++) must(strcmp(corrections.files[i], corrections.files[k]) != 0);
    }
    cli_corrections_clear(&corrections);
}

/* ---- the state of a search ---- */

static void try_state(const char *path)
{
    static cli_arguments arguments;
    static int parsed;
    static char data[] = "data.csv", *words[] = {data};
    if (!parsed) parsed = cli_arguments_parse(&arguments, cli_command_find("tune"), 1, words) == BROAD_OK;
    must(parsed);
    tune_search search;
    tune_state state;
    must(tune_search_begin(&search, &arguments) == BROAD_OK);
    json_t *key = json_object();
    must(key && json_object_set_new(key, "seed", json_string("1")) == 0);
    /* What was read cannot be written again: the file has no name. */
    must(sound(tune_state_open(&state, &search, path, key)));
    for (size_t i = 0; i < search.count; i++) {
        const tune_trial *trial = &search.trials[i];
        must(trial->arguments && trial->network && strlen(trial->reason) < sizeof trial->reason);
        must(trial->end == TUNE_FAILED || (trial->count && isfinite(trial->score)));
    }
    tune_state_close(&state);
    tune_search_end(&search);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    static int file = -1;
    char path[32];
    if (file < 0) {
        file = memfd_create("list", MFD_CLOEXEC);
        stderr = fopen("/dev/null", "w"); /* what is said of each line; the engine has its own */
    }
    must(file >= 0 && stderr != NULL);
    if (!count || ftruncate(file, 0) || pwrite(file, bytes + 1, count - 1, 0) != (ssize_t)count - 1) return 0;
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    switch (bytes[0] % FORMS) {
    case 0: try_labels(path); break;
    case 1: try_corrections(path); break;
    default: try_state(path); break;
    }
    return 0;
}
