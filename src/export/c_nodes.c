#include "export/c_nodes.h"

#include <math.h>
#include <string.h>

#include "base/enum_names.h"
#include "base/memory.h"
#include "base/status.h"

/* ---- what takes the fewest bytes ------------------------------------------------------------------------------- */

static size_t count_nonzero(const broad__flat_nodes *nodes)
{
    size_t count = 0;
    for (size_t i = 0; i < nodes->weights; i++) count += nodes->weight[i] != 0;
    return count;
}

static size_t weight_bytes(const broad__c_file *file)
{
    return file->precision == BROAD_EXPORT_INT8 ? 1 : broad__c_real_bytes(file);
}

broad__c_form broad__c_nodes_form(const broad__c_file *file, const broad__flat_nodes *nodes, int may_draw)
{
    size_t real = broad__c_real_bytes(file), index = nodes->widest <= 0x100 ? 1 : nodes->widest <= 0x10000 ? 2 : 4;
    size_t apart = nodes->nodes * real * (file->precision == BROAD_EXPORT_INT8 ? 2 : 1); /* biases, and factors */
    size_t dense = nodes->weights * weight_bytes(file) + apart;
    size_t sparse = count_nonzero(nodes) * (weight_bytes(file) + index) + nodes->nodes * sizeof(uint32_t) + apart;
    size_t drawn = nodes->block_count * (4 * sizeof(uint32_t) + 2 * real);
    if (may_draw && nodes->drawn && drawn < dense && drawn < sparse) return BROAD__C_DRAWN;
    return sparse < dense ? BROAD__C_SPARSE : BROAD__C_DENSE;
}

/* ---- activations ----------------------------------------------------------------------------------------------- */

static void put_activation(broad__c_file *file, broad_activation activation)
{
    static const char *const doubles[] = {"1 / (1 + exp(-v))", "tanh(v)", "v > 0 ? v : 0", "sin(v)",
                                          "exp(-v * v)",       "v"};
    static const char *const floats[] = {"1 / (1 + expf(-v))", "tanhf(v)", "v > 0 ? v : 0", "sinf(v)",
                                         "expf(-v * v)",       "v"};
    char name[BROAD__ENUM_BYTES];
    broad__enum_name(name, BROAD__ACTIVATIONS, (int)activation);
    broad__c_code(file, "static @real @");
    broad__draft_print(&file->draft, "%s(", name);
    broad__c_code(file, "@real v) { return ");
    broad__draft_print(&file->draft, "%s; }\n",
                       (file->precision == BROAD_EXPORT_DOUBLE ? doubles : floats)[activation]);
}

void broad__c_activations(broad__c_file *file, broad_activation one, broad_activation other)
{
    put_activation(file, one);
    if (other != one) put_activation(file, other);
}

/* ---- weights from the seed ------------------------------------------------------------------------------------- */

static const char generator[] =
    "\n/* Philox4x32-10: the random numbers that the weights were drawn from, by their place. */\n"
    "typedef struct @block {\n"
    "    uint32_t nodes, inputs, layer, attempt;\n"
    "    @real scale, range; /* of weights, of the bias */\n"
    "} @block;\n"
    "\n"
    "static void @random(uint32_t c[4], const @block *block, uint32_t purpose, uint64_t place)\n"
    "{\n"
    "    uint32_t k0 = $SEED_LOW, k1 = $SEED_HIGH;\n"
    "    c[0] = (uint32_t)place;\n"
    "    c[1] = block->layer;\n"
    "    c[2] = block->attempt;\n"
    "    c[3] = purpose << 24 | ((uint32_t)(place >> 32) & 0xFFFFFFU);\n"
    "    for (int round = 0; round < 10; round++) {\n"
    "        uint64_t p0 = (uint64_t)0xD2511F53U * c[0], p1 = (uint64_t)0xCD9E8D57U * c[2];\n"
    "        c[0] = (uint32_t)(p1 >> 32) ^ c[1] ^ k0;\n"
    "        c[2] = (uint32_t)(p0 >> 32) ^ c[3] ^ k1;\n"
    "        c[1] = (uint32_t)p1;\n"
    "        c[3] = (uint32_t)p0;\n"
    "        k0 += 0x9E3779B9U;\n"
    "        k1 += 0xBB67AE85U;\n"
    "    }\n"
    "}\n"
    "\n"
    "/* The sum of one node: its weights, then its bias, are the next numbers between -1 and 1, times their ranges. "
    "*/\n"
    "static @real @drawn(const @block *block, uint32_t purpose, uint32_t node, const @real *from)\n"
    "{\n"
    "    uint64_t element = (uint64_t)node * (block->inputs + 1);\n"
    "    uint32_t word[4];\n"
    "    @real sum = 0;\n"
    "    for (uint32_t i = 0; i <= block->inputs; i++, element++) {\n"
    "        if (i == 0 || element % 2 == 0) @random(word, block, purpose, element / 2);\n"
    "        @real u = 2 * @uniform(word + 2 * (element % 2)) - 1;\n"
    "        sum += i < block->inputs ? u * block->scale * from[i] : u * block->range;\n"
    "    }\n"
    "    return sum;\n"
    "}\n";

void broad__c_generator(broad__c_file *file, uint64_t seed)
{
    broad__c_code(file, "\n#define $SEED_LOW ");
    broad__draft_print(&file->draft, "0x%08lXU\n", (unsigned long)(seed & 0xFFFFFFFFu));
    broad__c_code(file, "#define $SEED_HIGH ");
    broad__draft_print(&file->draft, "0x%08lXU\n", (unsigned long)(seed >> 32));
    broad__c_code(file, "\nstatic @real @uniform(const uint32_t *word)\n{\n    return ");
    broad__draft_text(&file->draft, file->precision == BROAD_EXPORT_DOUBLE
                                        ? "(double)(((uint64_t)word[1] << 32 | word[0]) >> 11) / 9007199254740992.0"
                                        : "(float)(word[1] >> 8) / 16777216.0F");
    broad__draft_text(&file->draft, ";\n}\n");
    broad__c_code(file, generator);
}

static void put_drawn_blocks(broad__c_file *file, const broad__flat_nodes *nodes)
{
    broad__c_code(file, "static const @block @`_block[");
    broad__draft_print(&file->draft, "%zu] = {\n", nodes->block_count);
    for (size_t b = 0; b < nodes->block_count; b++) {
        const broad__flat_block *block = &nodes->blocks[b];
        const broad__stream *stream = &block->draw.stream;
        broad__draft_print(&file->draft, "    {%zu, %zu, %lu, %lu, ", block->nodes, block->inputs,
                           (unsigned long)stream->layer, (unsigned long)stream->step << 16 | stream->draw);
        broad__c_real(file, broad__draw_scale(&block->draw));
        broad__draft_text(&file->draft, ", ");
        broad__c_real(file, block->draw.range);
        broad__draft_text(&file->draft, "},\n");
    }
    broad__draft_text(&file->draft, "};\n");
    file->table_bytes += nodes->block_count * (4 * sizeof(uint32_t) + 2 * broad__c_real_bytes(file));
}

/* ---- weights in tables ----------------------------------------------------------------------------------------- */

/* Weights as whole numbers from -127 to 127, times a factor for each node. */
static void quantise(signed char *out, double *factor, const double *weight, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++) most = fmax(most, fabs(weight[i]));
    *factor = most / 127;
    for (size_t i = 0; i < count; i++) out[i] = (signed char)(*factor > 0 ? lround(weight[i] / *factor) : 0);
}

static int put_quantised(broad__c_file *file, const broad__flat_nodes *nodes, const double *weight, const size_t *ends)
{
    size_t count = nodes->nodes ? ends[nodes->nodes - 1] : 0;
    signed char *bytes = broad__alloc(count);
    double *factors = broad__alloc_doubles(nodes->nodes, 1);
    int status = bytes && factors ? BROAD_OK : BROAD_NO_MEMORY;
    for (size_t n = 0, first = 0; n < nodes->nodes && !status; first = ends[n++])
        quantise(bytes + first, &factors[n], weight + first, ends[n] - first);
    if (!status) broad__c_bytes(file, "`_weight", bytes, count);
    if (!status) broad__c_reals(file, "`_factor", factors, nodes->nodes);
    broad__free(bytes);
    broad__free(factors);
    return status;
}

/* ends: of each node in `weight`. */
static int put_weights(broad__c_file *file, const broad__flat_nodes *nodes, const double *weight, const size_t *ends)
{
    int status = BROAD_OK;
    broad__c_reals(file, "`_bias", nodes->bias, nodes->nodes);
    if (file->precision == BROAD_EXPORT_INT8) status = put_quantised(file, nodes, weight, ends);
    else broad__c_reals(file, "`_weight", weight, nodes->nodes ? ends[nodes->nodes - 1] : 0);
    return status;
}

/* Groups and layers that read the same inputs are one block. */
static int put_dense(broad__c_file *file, const broad__flat_nodes *nodes)
{
    size_t *ends = broad__alloc_array(nodes->nodes + 2 * nodes->block_count, sizeof *ends), at = 0, done = 0,
           blocks = 0;
    if (!ends) return BROAD_NO_MEMORY;
    size_t *last = ends + nodes->nodes, *inputs = last + nodes->block_count;
    for (size_t b = 0; b < nodes->block_count; b++) {
        const broad__flat_block *block = &nodes->blocks[b];
        for (size_t n = 0; n < block->nodes; n++) ends[done++] = at += block->inputs;
        blocks += !blocks || inputs[blocks - 1] != block->inputs;
        last[blocks - 1] = done;
        inputs[blocks - 1] = block->inputs;
    }
    int status = put_weights(file, nodes, nodes->weight, ends);
    broad__c_sizes(file, "`_block_end", last, blocks);
    broad__c_sizes(file, "`_block_inputs", inputs, blocks);
    broad__free(ends);
    return status;
}

static int put_sparse(broad__c_file *file, const broad__flat_nodes *nodes)
{
    size_t count = count_nonzero(nodes), kept = 0, done = 0, at = 0;
    size_t *ends = broad__alloc_array(nodes->nodes, sizeof *ends), *inputs = broad__alloc_array(count, sizeof *inputs);
    double *weight = broad__alloc_doubles(count, 1);
    int status = ends && inputs && weight ? BROAD_OK : BROAD_NO_MEMORY;
    for (size_t b = 0; b < nodes->block_count && !status; b++)
        for (size_t n = 0; n < nodes->blocks[b].nodes; n++) {
            for (size_t i = 0; i < nodes->blocks[b].inputs; i++, at++) {
                if (nodes->weight[at] == 0) continue;
                inputs[kept] = i;
                weight[kept++] = nodes->weight[at];
            }
            ends[done++] = kept;
        }
    if (!status) status = put_weights(file, nodes, weight, ends);
    if (!status) broad__c_sizes(file, "`_end", ends, nodes->nodes);
    if (!status) broad__c_sizes(file, "`_input", inputs, count);
    broad__free(ends);
    broad__free(inputs);
    broad__free(weight);
    return status;
}

/* ---- the function ---------------------------------------------------------------------------------------------- */

static const char dense_loop[] = "    size_t n = 0, k = 0;\n"
                                 "    for (size_t b = 0; b < sizeof @`_block_end / sizeof @`_block_end[0]; b++)\n"
                                 "        for (; n < @`_block_end[b]; n++) {\n"
                                 "            @real sum = 0;\n"
                                 "            for (size_t i = 0; i < @`_block_inputs[b]; i++)\n"
                                 "                sum += (@real)@`_weight[k++] * from[i];\n";
static const char sparse_loop[] =
    "    size_t k = 0;\n"
    "    for (size_t n = 0; n < sizeof @`_end / sizeof @`_end[0]; n++) {\n"
    "        @real sum = 0;\n"
    "        for (; k < @`_end[n]; k++) sum += (@real)@`_weight[k] * from[@`_input[k]];\n";
static const char drawn_loop[] = "    size_t n = 0;\n"
                                 "    for (size_t b = 0; b < sizeof @`_block / sizeof @`_block[0]; b++)\n"
                                 "        for (uint32_t k = 0; k < @`_block[b].nodes; k++, n++) {\n";

/* The node's value from its sum. */
static void put_value(broad__c_file *file, const broad__flat_nodes *nodes, broad__c_form form)
{
    char name[BROAD__ENUM_BYTES];
    broad__enum_name(name, BROAD__ACTIVATIONS, (int)nodes->activation);
    broad__c_code(file, "const @real value = @");
    broad__draft_print(&file->draft, "%s(", name);
    if (form == BROAD__C_DRAWN)
        broad__draft_print(&file->draft, "%s_drawn(&%s_%s_block[b], %d, k, from)", file->name, file->name, file->nodes,
                           nodes->block_count ? (int)nodes->blocks[0].draw.stream.purpose : 0);
    else if (file->precision == BROAD_EXPORT_INT8) broad__c_code(file, "sum * @`_factor[n] + @`_bias[n]");
    else broad__c_code(file, "sum + @`_bias[n]");
    broad__draft_text(&file->draft, ");\n");
}

static void put_function(broad__c_file *file, const broad__flat_nodes *nodes, broad__c_form form)
{
    broad__c_code(file, "\nstatic void @`_nodes(const @real *from, @real *to)\n{\n");
    broad__c_code(file, form == BROAD__C_DENSE ? dense_loop : form == BROAD__C_SPARSE ? sparse_loop : drawn_loop);
    const char *indent = form == BROAD__C_SPARSE ? "        " : "            ";
    broad__draft_text(&file->draft, indent);
    put_value(file, nodes, form);
    broad__draft_text(&file->draft, indent);
    broad__c_code(file,
                  strcmp(file->nodes, "feature") == 0
                      ? "to[n] = value;\n"
                      : "for (size_t c = 0; c < $OUTPUTS; c++) to[c] += value * @layer_output[n * $OUTPUTS + c];\n");
    broad__draft_print(&file->draft, "%s}\n}\n", indent + 4);
}

int broad__c_nodes(broad__c_file *file, const broad__flat_nodes *nodes, broad__c_form form)
{
    int status = BROAD_OK;
    if (form == BROAD__C_DRAWN) put_drawn_blocks(file, nodes);
    else status = form == BROAD__C_SPARSE ? put_sparse(file, nodes) : put_dense(file, nodes);
    if (!status) put_function(file, nodes, form);
    return status;
}
