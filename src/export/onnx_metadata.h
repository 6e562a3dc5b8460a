/* What an ONNX file says of its model: key and value, values that have parts as JSON. */
#ifndef BROAD_EXPORT_ONNX_METADATA_H
#define BROAD_EXPORT_ONNX_METADATA_H

#include "export/flat.h"
#include "export/onnx_graph.h"

int broad__onnx_describe(broad__onnx_graph *graph, const broad__flat *flat);

#endif
