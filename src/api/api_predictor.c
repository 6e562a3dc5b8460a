/* Entry points of broad.h: the predictor. */
#include <stdint.h>

#include "api/api_check.h"
#include "base/common.h"
#include "base/status.h"
#include "model/predict/predictor.h"
#include "store/store.h"

enum { ALIGNMENT = 64 }; /* of the working area; a caller's scratch may have any */

int broad_predictor_load(broad_predictor **out, const char *path)
{
    if (out) *out = NULL;
    if (!out || !path) return broad__missing_argument("broad_predictor_load");
    return broad__store_load_predictor(out, path);
}

int broad_predictor_from_memory(broad_predictor **out, const void *bytes, size_t count)
{
    if (out) *out = NULL;
    if (!out || !bytes) return broad__missing_argument("broad_predictor_from_memory");
    return broad__store_predictor(out, bytes, count);
}

int broad_predictor_from_model(broad_predictor **out, const broad_model *model)
{
    if (out) *out = NULL;
    if (!out || !model) return broad__missing_argument("broad_predictor_from_model");
    return broad__predictor_make(out, model, NULL);
}

broad_task broad_predictor_task(const broad_predictor *predictor)
{
    return predictor ? predictor->network.task : BROAD_TASK_AUTO;
}

size_t broad_predictor_inputs(const broad_predictor *predictor) { return predictor ? predictor->network.inputs : 0; }
size_t broad_predictor_outputs(const broad_predictor *predictor) { return predictor ? predictor->network.outputs : 0; }

const char *broad_predictor_output_name(const broad_predictor *predictor, size_t output)
{
    return output < broad_predictor_outputs(predictor) ? predictor->network.output_names[output] : "";
}

size_t broad_predictor_bytes(const broad_predictor *predictor)
{
    if (!predictor) return 0;
    return sizeof *predictor + predictor->network.bytes + (predictor->file.mapped ? 0 : predictor->file.count);
}

size_t broad_predictor_scratch(const broad_predictor *predictor, size_t rows)
{
    if (!predictor) return 0;
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
    if (!out || !predictor || !x || !scratch) return broad__missing_argument("broad_predictor_row");
    int status = broad__network_check(&predictor->network, x, 1, 0);
    if (status == BROAD_OK && !broad__network_block(out, &predictor->network, x, 0, 1, aligned(scratch)))
        status = broad__network_overflow(&predictor->network, out, 1);
    return status;
}

int broad_predictor_rows(double *out, const broad_predictor *predictor, const double *x, size_t rows, size_t stride,
                         void *scratch, size_t bytes)
{
    if (!out || !predictor || (!x && rows) || !scratch) return broad__missing_argument("broad_predictor_rows");
    const broad__network *network = &predictor->network;
    if (stride == 0) stride = network->inputs;
    if (stride < network->inputs)
        return broad__fail(BROAD_USAGE, "broad_predictor_rows: the stride %zu is smaller than the %zu inputs", stride,
                           network->inputs);
    size_t least = broad_predictor_scratch(predictor, 1);
    if (bytes < least)
        return broad__fail(BROAD_USAGE, "broad_predictor_rows: the scratch has %zu bytes; at least %zu are needed",
                           bytes, least);
    int status = broad__network_check(network, x, rows, stride), finite = 1;
    size_t most = least > ALIGNMENT ? (bytes - ALIGNMENT) / (least - ALIGNMENT) : BROAD__PREDICT_ROWS;
    if (most > BROAD__PREDICT_ROWS) most = BROAD__PREDICT_ROWS;
    for (size_t first = 0; first < rows && status == BROAD_OK; first += most)
        finite &= broad__network_block(out + first * network->outputs, network, x + first * stride, stride,
                                       rows - first < most ? rows - first : most, aligned(scratch));
    return finite ? status : broad__network_overflow(network, out, rows);
}

size_t broad_predictor_best_class(const broad_predictor *predictor, const double *scores)
{
    return predictor && scores ? broad__largest(scores, predictor->network.outputs) : 0;
}

int broad_predictor_probabilities(double *out, const broad_predictor *predictor, const double *scores, size_t rows)
{
    if (!predictor || ((!out || !scores) && rows)) return broad__missing_argument("broad_predictor_probabilities");
    return broad__probabilities(out, &predictor->network.confidence, scores, rows);
}

int broad_predictor_interval(double *out, const broad_predictor *predictor, double level)
{
    if (!out || !predictor) return broad__missing_argument("broad_predictor_interval");
    return broad__interval(out, &predictor->network.confidence, level);
}

int broad_predictor_intervals(double *out, const broad_predictor *predictor, const double *values, size_t rows,
                              double level)
{
    if (!predictor || ((!out || !values) && rows)) return broad__missing_argument("broad_predictor_intervals");
    return broad__intervals(out, &predictor->network.confidence, values, rows, level);
}
