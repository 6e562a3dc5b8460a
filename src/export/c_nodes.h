/*
 * Nodes in C: tables of their weights, and the function that computes them. Weights are kept
 *
 *   dense    node by node,
 *   sparse   those that are not 0, each with the number of its input (nodes that look at two or three inputs),
 *   drawn    not at all: the generator of the seed gives them again, for every row,
 *
 * whichever takes the fewest bytes; drawn only where that is asked for.
 */
#ifndef BROAD_EXPORT_C_NODES_H
#define BROAD_EXPORT_C_NODES_H

#include "export/c_file.h"
#include "export/flat.h"

typedef enum broad__c_form { BROAD__C_DENSE, BROAD__C_SPARSE, BROAD__C_DRAWN } broad__c_form;

broad__c_form broad__c_nodes_form(const broad__c_file *file, const broad__flat_nodes *nodes, int may_draw);

/* The generator, once; and the purposes that its streams are drawn for. */
void broad__c_generator(broad__c_file *file, uint64_t seed);
/* One function for each of the two activations. */
void broad__c_activations(broad__c_file *file, broad_activation one, broad_activation other);

/* Tables, then
 *   static void @`_nodes(const @real *from, @real *to)
 * file->nodes says which. "feature": to[n] = node n; "layer": to[c] += node n times @layer_output[n * outputs + c]. */
int broad__c_nodes(broad__c_file *file, const broad__flat_nodes *nodes, broad__c_form form);

#endif
