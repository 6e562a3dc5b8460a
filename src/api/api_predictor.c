/* Entry points of broad.h: the predictor. */
#include <stdint.h>

#include "base/common.h"
#include "base/status.h"
#include "model/predict/predictor.h"
#include "store/store.h"

enum { ALIGNMENT = 64 }; /* of what is worked in; a caller's scratch may lie anywhere */

static int missing_argument(const char *function)
{
    return broad__fail(BROAD_USAGE, "%s: an argument is NULL", function);
}

int broad_predictor_load(broad_predictor **out, const char *path)
{
    *out = NULL;
    return path ? broad__store_load_predictor(out, path) : missing_argument("broad_predictor_load");
}

int broad_predictor_from_memory(broad_predictor **out, const void *bytes, size_t count)
{
    *out = NULL;
    return bytes ? broad__store_predictor(out, bytes, count) : missing_argument("broad_predictor_from_memory");
}

int broad_predictor_from_model(broad_predictor **out, const broad_model *model)
{
    *out = NULL;
    return model ? broad__predictor_make(out, model, NULL) : missing_argument("broad_predictor_from_model");
}

broad_task broad_predictor_task(const broad_predictor *predictor) { return predictor->network.task; }
size_t broad_predictor_inputs(const broad_predictor *predictor) { return predictor->network.inputs; }
size_t broad_predictor_outputs(const broad_predictor *predictor) { return predictor->network.outputs; }

const char *broad_predictor_output_name(const broad_predictor *predictor, size_t output)
{
    return output < predictor->network.outputs ? predictor->network.output_names[output] : "";
}

size_t broad_predictor_bytes(const broad_predictor *predictor)
{
    return sizeof *predictor + predictor->network.bytes + (predictor->file.mapped ? 0 : predictor->file.count);
}

size_t broad_predictor_scratch(const broad_predictor *predictor, size_t rows)
{
    if (rows < 1) rows = 1;
    if (rows > BROAD__PREDICT_ROWS) rows = BROAD__PREDICT_ROWS;
    return ALIGNMENT + broad__network_scratch(&predictor->network, rows) * sizeof(double);
}

static double *aligned(void *scratch)
{
    uintptr_t past = (uintptr_t)scratch % ALIGNMENT;
    void *place = (char *)scratch + (past ? ALIGNMENT - past : 0);
    return place;
}

int broad_predictor_row(double *out, const broad_predictor *predictor, const double *x, void *scratch)
{
    if (!out || !predictor || !x || !scratch) return missing_argument("broad_predictor_row");
    int status = broad__network_check(&predictor->network, x, 1, 0);
    if (status == BROAD_OK) broad__network_block(out, &predictor->network, x, 0, 1, aligned(scratch));
    return status;
}

int broad_predictor_rows(double *out, const broad_predictor *predictor, const double *x, size_t rows, size_t stride,
                         void *scratch, size_t bytes)
{
    if (!out || !predictor || (!x && rows) || !scratch) return missing_argument("broad_predictor_rows");
    const broad__network *network = &predictor->network;
    if (stride == 0) stride = network->inputs;
    if (stride < network->inputs)
        return broad__fail(BROAD_USAGE, "broad_predictor_rows: a stride of %zu for %zu inputs", stride,
                           network->inputs);
    size_t least = broad_predictor_scratch(predictor, 1);
    if (bytes < least)
        return broad__fail(BROAD_USAGE, "broad_predictor_rows: a scratch of %zu bytes where %zu are the least", bytes,
                           least);
    int status = broad__network_check(network, x, rows, stride);
    size_t most = least > ALIGNMENT ? (bytes - ALIGNMENT) / (least - ALIGNMENT) : BROAD__PREDICT_ROWS;
    if (most > BROAD__PREDICT_ROWS) most = BROAD__PREDICT_ROWS;
    for (size_t first = 0; first < rows && status == BROAD_OK; first += most)
        broad__network_block(out + first * network->outputs, network, x + first * stride, stride,
                             rows - first < most ? rows - first : most, aligned(scratch));
    return status;
}

size_t broad_predictor_best_class(const broad_predictor *predictor, const double *scores)
{
    return broad__largest(scores, predictor->network.outputs);
}

int broad_predictor_probabilities(double *out, const broad_predictor *predictor, const double *scores, size_t rows)
{
    if (!predictor || ((!out || !scores) && rows)) return missing_argument("broad_predictor_probabilities");
    return broad__probabilities(out, &predictor->network.confidence, scores, rows);
}

int broad_predictor_interval(double *out, const broad_predictor *predictor, double level)
{
    if (!out || !predictor) return missing_argument("broad_predictor_interval");
    return broad__interval(out, &predictor->network.confidence, level);
}
