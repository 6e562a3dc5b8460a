/*
 * Models that the reader takes, as inputs of what comes after it: the predictor, and the writers of ONNX and C. The first
 * byte chooses the options of the export; the rest is a model file whose checksums are repaired first. A predictor answers
 * with finite scores or fails with a reason, and what is exported is whole. Where not all is checked of every input
 * (see depth.h), the first byte also chooses between predictor and export.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "broad/broad.h"
#include "depth.h"
#include "model_mutator.h"
#include "sample_model.h"
#include "store/store.h"

enum { NODES_MOST = 1 << 12, INPUTS_MOST = 1 << 10 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

static void must(int holds)
{
    if (!holds) abort();
}

static int sound(int status) { return status == BROAD_OK || (status != BROAD_BUG && broad_error_message()[0]); }

static void try_predictor(const void *bytes, size_t count, uint8_t choice)
{
    static const double some[] = {0, 1, -1.5, 1e300, 4.9e-324, 1e15};
    broad_predictor *predictor = NULL;
    int status = broad_predictor_from_memory(&predictor, bytes, count);
    must(sound(status) && !predictor == (status != BROAD_OK));
    if (status) return;
    size_t inputs = broad_predictor_inputs(predictor), outputs = broad_predictor_outputs(predictor);
    double *x = malloc(inputs * sizeof *x), *scores = malloc(outputs * sizeof *scores);
    void *scratch = malloc(broad_predictor_scratch(predictor, 1));
    for (size_t i = 0; i < inputs; i++) x[i] = some[(i + choice) % (sizeof some / sizeof some[0])];
    status = broad_predictor_row(scores, predictor, x, scratch);
    must(sound(status));
    for (size_t i = 0; i < outputs && !status; i++) must(isfinite(scores[i]));
    if (!status && broad_predictor_task(predictor) == BROAD_TASK_CLASSIFY)
        must(broad_predictor_best_class(predictor, scores) < outputs);
    free(scratch);
    free(scores);
    free(x);
    broad_predictor_free(predictor);
}

static void try_exports(const broad_model *model, uint8_t choice)
{
    static const double levels[] = {0, 0.5, 0.9, 0.999};
    broad_export_options options;
    broad_export_options_init_sized(&options, sizeof options);
    options.precision = (broad_export_precision)(choice % 3);
    options.compact = choice >> 2 & 1;
    options.level = levels[choice >> 3 & 3];
    char *text = NULL;
    void *bytes = NULL;
    size_t count = 0;
    int status = broad_model_export_c(&text, &count, NULL, model, &options);
    must(sound(status) && !text == (status != BROAD_OK));
    if (!status) must(strlen(text) == count && count > 0);
    broad_free(text);
    status = broad_model_export_onnx(&bytes, &count, NULL, model, &options);
    must(sound(status) && !bytes == (status != BROAD_OK));
    broad_free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1) return 0;
    broad_model *model = NULL;
    unsigned char *bytes = malloc(size);
    memcpy(bytes, data + 1, size - 1);
    sample_repair(bytes, size - 1);
    int status = broad__store_decode(&model, bytes, size - 1);
    must(sound(status) && !model == (status != BROAD_OK));
    if (!status && model->inputs <= INPUTS_MOST && broad_model_nodes(model) <= NODES_MOST) {
        int deep = fuzz_deep(data, size);
        if (deep || data[0] & 128) try_predictor(bytes, size - 1, data[0]);
        if (deep || !(data[0] & 128)) try_exports(model, data[0]);
    }
    broad_model_free(model);
    free(bytes);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    size_t made = seed % 16 ? fuzz_mutate_model(data, size, max_size, seed) : 0;
    if (made && seed % 4 == 0) data[0] = (uint8_t)(seed >> 8);
    return made ? made : LLVMFuzzerMutate(data, size, max_size);
}
