/*
 * An ONNX graph in the making: protocol buffers by hand, from the field numbers of onnx.proto. Nodes are of the plain domain
 * ai.onnx, opset 13, and are put in the order in which they are computed.
 *
 * Names of inputs are one text with blanks between, and @ in a name stands for the graph's prefix. A tensor of `numbers` has the type of the graph, double or float.
 */
#ifndef BROAD_EXPORT_ONNX_GRAPH_H
#define BROAD_EXPORT_ONNX_GRAPH_H

#include <stdint.h>

#include "export/draft.h"

enum { BROAD__ONNX_DIMS_MOST = 4 };

typedef enum broad__onnx_type {
    BROAD__ONNX_FLOAT = 1,
    BROAD__ONNX_UINT8 = 2,
    BROAD__ONNX_INT64 = 7,
    BROAD__ONNX_STRING = 8,
    BROAD__ONNX_BOOL = 9,
    BROAD__ONNX_DOUBLE = 11
} broad__onnx_type;

/* Begins zeroed but for its type of numbers. */
typedef struct broad__onnx_graph {
    broad__onnx_type real;
    const char *prefix; /* NULL: names have none */
    size_t nodes;
    broad__draft node, tensor, input, output, metadata; /* encoded fields, one after the other */
} broad__onnx_graph;

void broad__onnx_clear(broad__onnx_graph *graph);

void broad__onnx_node(broad__onnx_graph *graph, const char *op, const char *output, const char *inputs);
/* With one attribute that is a whole number. */
void broad__onnx_node_with(broad__onnx_graph *graph, const char *op, const char *output, const char *inputs,
                           const char *attribute, int64_t value);
/* ArgMax over the columns of a row, the first of equals, without a dimension for them. */
void broad__onnx_argmax(broad__onnx_graph *graph, const char *output, const char *input);
/* The sum over dimension 2, which goes; `axes` is a tensor with that number. */
void broad__onnx_sum(broad__onnx_graph *graph, const char *output, const char *inputs);

/* Constants. columns 0: of one dimension; rows and columns 0: a number without any. */
void broad__onnx_numbers(broad__onnx_graph *graph, const char *name, const double *values, size_t rows, size_t columns);
void broad__onnx_number(broad__onnx_graph *graph, const char *name, double value);
void broad__onnx_wholes(broad__onnx_graph *graph, const char *name, const int64_t *values, size_t count);
void broad__onnx_truths(broad__onnx_graph *graph, const char *name, const unsigned char *values, size_t count);
void broad__onnx_texts(broad__onnx_graph *graph, const char *name, char *const *texts, size_t count);
/* A number of single precision, whatever the graph's. */
void broad__onnx_single(broad__onnx_graph *graph, const char *name, float value);

/* What goes in and comes out: any number of rows, then these dimensions. */
void broad__onnx_input(broad__onnx_graph *graph, const char *name, broad__onnx_type type, const size_t *dims,
                       size_t count);
void broad__onnx_output(broad__onnx_graph *graph, const char *name, broad__onnx_type type, const size_t *dims,
                        size_t count);
void broad__onnx_metadata(broad__onnx_graph *graph, const char *key, const char *value);

/* The whole model; the graph is cleared, whatever the status. */
int broad__onnx_give(void **out, size_t *out_bytes, broad__onnx_graph *graph, const char *words);

#endif
