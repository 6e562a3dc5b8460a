#include "layer/deferred_update.h"

#include "base/status.h"
#include "layer/pass.h"

void broad__residual_defer(broad__residual *residual, const broad__kblock *kblock, const double *w, double norm)
{
    broad__deferred_update *update = &residual->update;
    update->pending = 1;
    update->stored = residual->candidate.stored;
    update->kblock = *kblock;
    update->w = w;
    update->probe_w = NULL;
    residual->norm = norm;
}

void broad__residual_defer_probes(broad__residual *residual, const double *w, double inner)
{
    residual->update.probe_w = w;
    residual->probes.inner = inner;
}

int broad__residual_settle(broad__residual *residual)
{
    if (!residual->update.pending) return BROAD_OK;
    broad__pass pass = {.residual = residual};
    double *sums = NULL;
    return broad__pass_run(&sums, &pass);
}

int broad__residual_follow(broad__residual *residual, const broad__kblock *kblock, const double *w,
                           const double *probe_w)
{
    int status = broad__residual_settle(residual);
    if (status < 0) return status;
    broad__residual_defer(residual, kblock, w, residual->norm);
    broad__residual_defer_probes(residual, probe_w, residual->probes.inner);
    residual->update.stored = 0;
    return broad__residual_settle(residual);
}
