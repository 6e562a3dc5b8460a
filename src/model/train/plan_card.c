/*
 * Products run at a part of the card's speed, and besides them every number has to come from its memory and go back. Per row,
 * with M columns of the inputs, Z feature nodes, a layer of w columns of which q are its own, c outputs and s probes:
 *
 *   feature nodes  M are read; Z are written, and where M is large read by the activation and written again
 *   nodes          Z are read; q are written, and read and written again likewise
 *   sums           K is read for K'K and K'E, and once more to bring E up to date: 2w; E and the probes: 4c + 6s
 *   again          what is not kept is made in each pass: K of the layer before, and with it the nodes of this one
 *   joint weights  K is made in three passes, read twice for the sums and once by each pass that finds the residual
 */
#include "model/train/plan_card.h"

#include "model/train/plan.h"

enum { KEPT, LAYER_AGAIN, ALL_AGAIN, WAYS };

/* Nodes with up to so many inputs have their activation while they are in registers. */
static const double NARROW = 128;

/* Of a row: flops, and numbers that are moved. */
typedef struct effort {
    double flops, numbers;
} effort;

static effort features_of(const broad__sizes *s)
{
    if (!(s->drawn > 0)) return (effort){0, 2 * s->columns};
    return (effort){2 * s->columns * s->features, s->columns + (s->columns > NARROW ? 3 : 1) * s->features};
}

static effort nodes_of(const broad__sizes *s, double nodes)
{
    return (effort){2 * s->features * nodes, s->features + (s->features > NARROW ? 3 : 1) * nodes};
}

static void add(effort *out, effort what, double times)
{
    out->flops += times * what.flops;
    out->numbers += times * what.numbers;
}

/* Layers of the chain with this width, `times` of them. */
static void add_layers(effort *out, const broad__sizes *s, double width, double times, int way)
{
    double sides = s->outputs, probes = s->probes;
    effort nodes = nodes_of(s, s->nodes),
           sums = {width * (width + 8 * sides + 6 * probes), 2 * width + 4 * sides + 6 * probes};
    add(out, nodes, way == KEPT ? times : 2 * times);
    add(out, sums, times);
    if (way == ALL_AGAIN) add(out, features_of(s), times);
}

static void add_joint(effort *out, const broad__sizes *s, int way)
{
    enum { PASSES = 3 };
    double p = s->width, own = p > s->features ? p - s->features : p;
    effort sums = {p * p + 2 * 4 * p * s->outputs, 4 * p + PASSES * 2 * s->outputs};
    add(out, nodes_of(s, own), PASSES);
    add(out, sums, 1);
    if (way == ALL_AGAIN) add(out, features_of(s), PASSES);
}

static double row_numbers(const broad__sizes *s, int way)
{
    double rest = 2 * s->outputs + 3 * s->probes;
    if (way == ALL_AGAIN) return s->columns + rest;
    if (way == LAYER_AGAIN || s->fitting == BROAD__FIT_AT_ONCE) return s->features + rest;
    return s->features + s->first + rest;
}

/* What the card does not do: layer/far_rows.h, docs/gpu.md. */
static int stays(const broad__sizes *s, const broad_options *o)
{
    if (s->fitting == BROAD__FIT_STEPWISE || s->fitting == BROAD__FIT_WINDOW) return 1;
    if (o->supervise == BROAD_SUPERVISE_LOO || o->supervise == BROAD_SUPERVISE_OPERATOR) return 1;
    return s->rows < s->first;
}

void broad__plan_card(broad_ranks_plan *out, const broad__sizes *s, const broad_options *o)
{
    if (stays(s, o)) return;
    for (int way = 0; way < WAYS; way++) {
        effort row = {0};
        if (way != ALL_AGAIN) add(&row, features_of(s), 1);
        if (s->fitting != BROAD__FIT_AT_ONCE && s->layers > 0) {
            add_layers(&row, s, s->first, 1, way);
            add_layers(&row, s, s->nodes, s->layers - 1, way);
        }
        if (s->fitting == BROAD__FIT_AT_ONCE || broad__joint_beside(o)) add_joint(&row, s, way);
        out->card[way] = (broad_card_plan){8 * out->rows * row_numbers(s, way), out->rows * row.flops + out->flops_same,
                                           8 * out->rows * row.numbers};
    }
}
