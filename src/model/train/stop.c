#include "model/train/stop.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/status.h"
#include "model/train/budget.h"

int broad__model_outcome(broad_model *model, broad_outcome outcome, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    char *copy = broad__copy_text(text);
    if (!copy) return BROAD_NO_MEMORY;
    broad__free(model->reason);
    model->reason = copy;
    model->outcome = outcome;
    return BROAD_OK;
}

/* Goes back to the best network; Z and E are recomputed when they are needed. */
static void cut_back(broad_trainer *t)
{
    broad_model *model = t->model;
    while (model->layer_count > t->best.layers) broad__layer_clear(&model->layers[--model->layer_count]);
    while (model->group_count > t->best.groups) broad__group_clear(&model->groups[--model->group_count]);
    t->stale = 1;
}

/* 1: patience is at its end. */
static int out_of_patience(broad_trainer *t)
{
    const broad_model *model = t->model;
    if (!t->run.patience || !t->validation.part_count) return 0;
    if (t->validation.residual.norm < t->best.norm)
        t->best = (broad__best){model->layer_count, model->group_count, t->validation.residual.norm};
    return model->layer_count >= t->best.layers + t->run.patience;
}

static int stop_patience(broad_trainer *t)
{
    size_t waited = t->model->layer_count - t->best.layers;
    cut_back(t);
    return broad__model_outcome(t->model, BROAD_OUTCOME_TARGET_REACHED,
                                "the validation error did not fall for %zu layers: back to the best, %zu layers",
                                waited, t->best.layers);
}

/* 1: the network is good enough; *status tells whether that could be recorded. */
static int good_enough(broad_trainer *t, int *status)
{
    const broad_options *o = &t->run;
    broad_model *model = t->model;
    double norm = t->train.residual.norm, target = o->until_relative ? o->until * model->first_norm : o->until;
    if (o->until > 0 && norm <= target) {
        *status =
            broad__model_outcome(model, BROAD_OUTCOME_TARGET_REACHED, "the norm %.6g is at most %.6g", norm, target);
        return 1;
    }
    if (!(o->until_accuracy > 0) || model->task != BROAD_TASK_CLASSIFY || model->layer_count == 0) return 0;
    int validated = t->validation.part_count > 0;
    double accuracy = 0;
    *status = broad__rowset_accuracy(&accuracy, validated ? &t->validation : &t->train);
    if (*status < 0 || accuracy < o->until_accuracy) return *status < 0;
    *status =
        broad__model_outcome(model, BROAD_OUTCOME_TARGET_REACHED, "the accuracy %.6g on the %s rows is at least %.6g",
                             accuracy, validated ? "validation" : "training", o->until_accuracy);
    return 1;
}

int broad__stop_rules(broad_trainer *t, size_t next_nodes)
{
    const broad_options *o = &t->run;
    broad_model *model = t->model;
    int status = BROAD_OK, impatient = out_of_patience(t);
    if (good_enough(t, &status)) return status < 0 ? status : 1;
    if (impatient) status = stop_patience(t);
    else if (next_nodes && o->max_nodes && broad__model_nodes(model) + next_nodes > o->max_nodes)
        status = broad__model_outcome(model, BROAD_OUTCOME_TARGET_REACHED, "another layer would go beyond %zu nodes",
                                      o->max_nodes);
    else if (next_nodes && broad__budget_over(t))
        status = broad__model_outcome(model, BROAD_OUTCOME_TIME_LIMIT, "there was no time for another layer");
    else return 0;
    return status < 0 ? status : 1;
}
