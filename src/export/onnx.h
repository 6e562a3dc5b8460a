/* A model as an ONNX file: a few dozen nodes of ai.onnx, opset 13, whatever the number of layers. */
#ifndef BROAD_EXPORT_ONNX_H
#define BROAD_EXPORT_ONNX_H

#include "export/flat.h"

/* Freed with broad__free(). precision: double or float. */
int broad__onnx(void **out, size_t *out_bytes, broad_exported *about, const broad__flat *flat,
                broad_export_precision precision);

#endif
