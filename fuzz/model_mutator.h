/*
 * A mutator that knows the model file: it changes values of the description, entries of the table of tensors and the
 * tensors themselves, and leaves lengths, offsets and checksums as a writer would. Its inputs are one byte of choice and
 * a file (see fuzz_model.c).
 */
#ifndef BROAD_FUZZ_MODEL_MUTATOR_H
#define BROAD_FUZZ_MODEL_MUTATOR_H

#include <stddef.h>
#include <stdint.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

/* The new size; 0: the input has no header that can be read, or the result has no room. */
size_t fuzz_mutate_model(uint8_t *data, size_t size, size_t max_size, unsigned seed);

#endif
