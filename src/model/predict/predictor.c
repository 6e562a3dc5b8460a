#include "model/predict/predictor.h"

#include "base/memory.h"
#include "base/status.h"

int broad__predictor_make(broad_predictor **out, const broad_model *model, const broad__borrowed *borrowed)
{
    static const broad__borrowed nothing = {NULL, 0};
    broad_predictor *made = broad__alloc(sizeof *made);
    if (!made) return BROAD_NO_MEMORY;
    int status = broad__network_make(&made->network, model, borrowed ? borrowed : &nothing, 1);
    if (status < 0) broad_predictor_free(made);
    else *out = made;
    return status;
}

void broad_predictor_free(broad_predictor *predictor)
{
    if (!predictor) return;
    broad__network_clear(&predictor->network);
    broad__file_unmap(&predictor->file);
    broad__free(predictor);
}
