#include "export/onnx_graph.h"

#include <string.h>

#include "base/status.h"

/* Field numbers of onnx.proto. */
enum { IR_VERSION = 7, OPSET = 13 };
enum {
    MODEL_IR = 1,
    MODEL_PRODUCER = 2,
    MODEL_VERSION = 3,
    MODEL_WORDS = 6,
    MODEL_GRAPH = 7,
    MODEL_OPSET = 8,
    MODEL_METADATA = 14
};
enum { GRAPH_NODE = 1, GRAPH_NAME = 2, GRAPH_TENSOR = 5, GRAPH_INPUT = 11, GRAPH_OUTPUT = 12 };
enum { NODE_INPUT = 1, NODE_OUTPUT = 2, NODE_NAME = 3, NODE_OP = 4, NODE_ATTRIBUTE = 5 };
enum { ATTRIBUTE_NAME = 1, ATTRIBUTE_INT = 3, ATTRIBUTE_TYPE = 20, TYPE_INT = 2 };
enum { TENSOR_DIM = 1, TENSOR_TYPE = 2, TENSOR_TEXT = 6, TENSOR_NAME = 8, TENSOR_RAW = 9 };
enum {
    VALUE_NAME = 1,
    VALUE_TYPE = 2,
    TYPE_TENSOR = 1,
    SHAPED_TYPE = 1,
    SHAPED_SHAPE = 2,
    SHAPE_DIM = 1,
    DIM_VALUE = 1,
    DIM_NAME = 2
};
enum { WIRE_NUMBER = 0, WIRE_BYTES = 2 };

#define MOST_BYTES 0x7fffffffu /* of a message: readers take no more */

/* ---- protocol buffers ------------------------------------------------------------------------------------------ */

static void put_varint(broad__draft *to, uint64_t value)
{
    unsigned char bytes[10];
    size_t count = 0;
    do {
        bytes[count++] = (unsigned char)((value & 0x7F) | (value > 0x7F ? 0x80 : 0));
        value >>= 7;
    } while (value);
    broad__draft_bytes(to, bytes, count);
}

static void put_whole(broad__draft *to, unsigned field, int64_t value)
{
    put_varint(to, field << 3 | WIRE_NUMBER);
    put_varint(to, (uint64_t)value);
}

static void put_bytes(broad__draft *to, unsigned field, const void *bytes, size_t count)
{
    put_varint(to, field << 3 | WIRE_BYTES);
    put_varint(to, count);
    broad__draft_bytes(to, bytes, count);
}

static void put_text(broad__draft *to, unsigned field, const char *text) { put_bytes(to, field, text, strlen(text)); }

/* `length` characters of a name, in which @ becomes the prefix. */
static void put_name(broad__draft *to, unsigned field, const broad__onnx_graph *graph, const char *name, size_t length)
{
    size_t whole = length;
    for (size_t i = 0; i < length; i++) whole += name[i] == '@' ? strlen(graph->prefix) - 1 : 0;
    put_varint(to, field << 3 | WIRE_BYTES);
    put_varint(to, whole);
    for (size_t i = 0; i < length; i++) {
        if (name[i] == '@') broad__draft_text(to, graph->prefix);
        else broad__draft_bytes(to, name + i, 1);
    }
}

/* A message inside another one, which is cleared. */
static void put_message(broad__draft *to, unsigned field, broad__draft *inside)
{
    if (inside->status && !to->status) to->status = inside->status;
    put_bytes(to, field, inside->bytes, inside->count);
    broad__draft_clear(inside);
}

void broad__onnx_clear(broad__onnx_graph *graph)
{
    broad__draft_clear(&graph->node);
    broad__draft_clear(&graph->tensor);
    broad__draft_clear(&graph->input);
    broad__draft_clear(&graph->output);
    broad__draft_clear(&graph->metadata);
}

/* ---- nodes ----------------------------------------------------------------------------------------------------- */

static broad__draft begin_node(broad__onnx_graph *graph, const char *op, const char *output, const char *inputs)
{
    broad__draft node = {0};
    while (*inputs) {
        size_t length = strcspn(inputs, " ");
        put_name(&node, NODE_INPUT, graph, inputs, length);
        inputs += length + strspn(inputs + length, " ");
    }
    put_name(&node, NODE_OUTPUT, graph, output, strlen(output));
    put_name(&node, NODE_NAME, graph, output, strlen(output));
    put_text(&node, NODE_OP, op);
    graph->nodes++;
    return node;
}

static void put_attribute(broad__draft *node, const char *name, int64_t value)
{
    broad__draft attribute = {0};
    put_text(&attribute, ATTRIBUTE_NAME, name);
    put_whole(&attribute, ATTRIBUTE_INT, value);
    put_whole(&attribute, ATTRIBUTE_TYPE, TYPE_INT);
    put_message(node, NODE_ATTRIBUTE, &attribute);
}

void broad__onnx_node(broad__onnx_graph *graph, const char *op, const char *output, const char *inputs)
{
    broad__draft node = begin_node(graph, op, output, inputs);
    put_message(&graph->node, GRAPH_NODE, &node);
}

void broad__onnx_node_with(broad__onnx_graph *graph, const char *op, const char *output, const char *inputs,
                           const char *attribute, int64_t value)
{
    broad__draft node = begin_node(graph, op, output, inputs);
    put_attribute(&node, attribute, value);
    put_message(&graph->node, GRAPH_NODE, &node);
}

void broad__onnx_argmax(broad__onnx_graph *graph, const char *output, const char *input)
{
    broad__draft node = begin_node(graph, "ArgMax", output, input);
    put_attribute(&node, "axis", 1);
    put_attribute(&node, "keepdims", 0);
    put_attribute(&node, "select_last_index", 0);
    put_message(&graph->node, GRAPH_NODE, &node);
}

void broad__onnx_sum(broad__onnx_graph *graph, const char *output, const char *inputs)
{
    broad__onnx_node_with(graph, "ReduceSum", output, inputs, "keepdims", 0);
}

/* ---- constants ------------------------------------------------------------------------------------------------- */

static broad__draft begin_tensor(const broad__onnx_graph *graph, const char *name, broad__onnx_type type, size_t rows,
                                 size_t columns)
{
    broad__draft tensor = {0};
    if (rows || columns) put_whole(&tensor, TENSOR_DIM, (int64_t)rows);
    if (columns) put_whole(&tensor, TENSOR_DIM, (int64_t)columns);
    put_whole(&tensor, TENSOR_TYPE, type);
    put_name(&tensor, TENSOR_NAME, graph, name, strlen(name));
    return tensor;
}

/* Bits, the lowest byte first, as every machine reads them back. */
static void put_bits(broad__draft *to, uint64_t bits, size_t bytes)
{
    unsigned char out[8];
    for (size_t i = 0; i < bytes; i++) out[i] = (unsigned char)(bits >> 8 * i);
    broad__draft_bytes(to, out, bytes);
}

static void put_real(broad__draft *to, broad__onnx_type type, double value)
{
    float narrow = (float)value;
    uint32_t few;
    uint64_t many;
    memcpy(&few, &narrow, sizeof few);
    memcpy(&many, &value, sizeof many);
    if (type == BROAD__ONNX_DOUBLE) put_bits(to, many, sizeof many);
    else put_bits(to, few, sizeof few);
}

/* One that is made of `count` elements of `bytes` bytes; they follow. */
static void begin_raw(broad__draft *tensor, size_t count, size_t bytes)
{
    put_varint(tensor, TENSOR_RAW << 3 | WIRE_BYTES);
    put_varint(tensor, count * bytes);
}

static void put_reals(broad__onnx_graph *graph, const char *name, broad__onnx_type type, const double *values,
                      size_t rows, size_t columns)
{
    size_t count = columns ? rows * columns : rows ? rows : 1;
    broad__draft tensor = begin_tensor(graph, name, type, rows, columns);
    begin_raw(&tensor, count, type == BROAD__ONNX_DOUBLE ? sizeof(double) : sizeof(float));
    for (size_t i = 0; i < count; i++) put_real(&tensor, type, values[i]);
    put_message(&graph->tensor, GRAPH_TENSOR, &tensor);
}

void broad__onnx_numbers(broad__onnx_graph *graph, const char *name, const double *values, size_t rows, size_t columns)
{
    put_reals(graph, name, graph->real, values, rows, columns);
}

void broad__onnx_number(broad__onnx_graph *graph, const char *name, double value)
{
    put_reals(graph, name, graph->real, &value, 0, 0);
}

void broad__onnx_single(broad__onnx_graph *graph, const char *name, float value)
{
    double wide = (double)value;
    put_reals(graph, name, BROAD__ONNX_FLOAT, &wide, 0, 0);
}

void broad__onnx_wholes(broad__onnx_graph *graph, const char *name, const int64_t *values, size_t count)
{
    broad__draft tensor = begin_tensor(graph, name, BROAD__ONNX_INT64, count, 0);
    begin_raw(&tensor, count, sizeof *values);
    for (size_t i = 0; i < count; i++) put_bits(&tensor, (uint64_t)values[i], sizeof *values);
    put_message(&graph->tensor, GRAPH_TENSOR, &tensor);
}

void broad__onnx_truths(broad__onnx_graph *graph, const char *name, const unsigned char *values, size_t count)
{
    broad__draft tensor = begin_tensor(graph, name, BROAD__ONNX_BOOL, count, 0);
    put_bytes(&tensor, TENSOR_RAW, values, count);
    put_message(&graph->tensor, GRAPH_TENSOR, &tensor);
}

void broad__onnx_texts(broad__onnx_graph *graph, const char *name, char *const *texts, size_t count)
{
    broad__draft tensor = begin_tensor(graph, name, BROAD__ONNX_STRING, count, 0);
    for (size_t i = 0; i < count; i++) put_text(&tensor, TENSOR_TEXT, texts[i]);
    put_message(&graph->tensor, GRAPH_TENSOR, &tensor);
}

/* ---- inputs and outputs ---------------------------------------------------------------------------------------- */

static void put_value(broad__draft *to, unsigned field, const char *name, broad__onnx_type type, const size_t *dims,
                      size_t count)
{
    broad__draft dim = {0}, shape = {0}, shaped = {0}, any = {0}, value = {0};
    put_text(&dim, DIM_NAME, "rows");
    put_message(&shape, SHAPE_DIM, &dim);
    for (size_t i = 0; i < count; i++) {
        put_whole(&dim, DIM_VALUE, (int64_t)dims[i]);
        put_message(&shape, SHAPE_DIM, &dim);
    }
    put_whole(&shaped, SHAPED_TYPE, type);
    put_message(&shaped, SHAPED_SHAPE, &shape);
    put_message(&any, TYPE_TENSOR, &shaped);
    put_text(&value, VALUE_NAME, name);
    put_message(&value, VALUE_TYPE, &any);
    put_message(to, field, &value);
}

void broad__onnx_input(broad__onnx_graph *graph, const char *name, broad__onnx_type type, const size_t *dims,
                       size_t count)
{
    put_value(&graph->input, GRAPH_INPUT, name, type, dims, count);
}

void broad__onnx_output(broad__onnx_graph *graph, const char *name, broad__onnx_type type, const size_t *dims,
                        size_t count)
{
    put_value(&graph->output, GRAPH_OUTPUT, name, type, dims, count);
}

void broad__onnx_metadata(broad__onnx_graph *graph, const char *key, const char *value)
{
    broad__draft entry = {0};
    put_text(&entry, 1, key);
    put_text(&entry, 2, value);
    put_message(&graph->metadata, MODEL_METADATA, &entry);
}

/* ---- the model ------------------------------------------------------------------------------------------------- */

static void add(broad__draft *to, const broad__draft *part)
{
    if (part->status && !to->status) to->status = part->status;
    broad__draft_bytes(to, part->bytes, part->count);
}

int broad__onnx_give(void **out, size_t *out_bytes, broad__onnx_graph *graph, const char *words)
{
    broad__draft model = {0}, inside = {0}, opset = {0};
    add(&inside, &graph->node);
    put_text(&inside, GRAPH_NAME, "broad");
    add(&inside, &graph->tensor);
    add(&inside, &graph->input);
    add(&inside, &graph->output);
    put_whole(&model, MODEL_IR, IR_VERSION);
    put_text(&model, MODEL_PRODUCER, "broad");
    put_text(&model, MODEL_VERSION, broad_version());
    put_text(&model, MODEL_WORDS, words);
    put_message(&model, MODEL_GRAPH, &inside);
    put_text(&opset, 1, "");
    put_whole(&opset, 2, OPSET);
    put_message(&model, MODEL_OPSET, &opset);
    add(&model, &graph->metadata);
    broad__onnx_clear(graph);
    if (!model.status && model.count > MOST_BYTES)
        model.status = broad__fail(BROAD_BAD_MODEL, "the model would take %zu bytes, and an ONNX file can have 2 GiB",
                                   model.count);
    return broad__draft_give(out, out_bytes, &model);
}
