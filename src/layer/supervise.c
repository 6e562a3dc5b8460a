#include "layer/supervise.h"

#include "base/status.h"
#include "layer/score.h"

static double schedule_gamma(const broad_options *options, size_t m)
{
    switch (options->gamma_form) {
    case BROAD_GAMMA_CONSTANT: return options->gamma[0];
    case BROAD_GAMMA_LIST: return options->gamma[m <= options->gamma_count ? m - 1 : options->gamma_count - 1];
    case BROAD_GAMMA_HARMONIC: break;
    }
    return 1.0 - options->gamma[0] / (double)(m + 1);
}

broad__bound broad__schedule(const broad_options *options, size_t m, size_t relaxed)
{
    if (options->supervise == BROAD_SUPERVISE_NONE) return (broad__bound){1.0, 0.0, 1.0};
    double gamma = schedule_gamma(options, m);
    for (size_t i = 0; i < relaxed; i++) gamma += options->relax * (1.0 - gamma);
    double mu = (1.0 - gamma) / (double)(m + 1);
    return (broad__bound){gamma, mu, gamma + mu};
}

/* Where a joint ridge follows, its lambda is the one that counts; the chain has a small one, for what the test asks. */
static const double CHAIN_LAMBDA = 1e-6;

broad__ridge_request broad__supervise_request(const broad_options *options)
{
    int followed = options->lambda_auto && options->weights == BROAD_WEIGHTS_JOINT &&
                   (options->supervise == BROAD_SUPERVISE_RESIDUAL || options->supervise == BROAD_SUPERVISE_NONE ||
                    options->supervise == BROAD_SUPERVISE_OPERATOR);
    if (followed)
        return (broad__ridge_request){
            .lambda = CHAIN_LAMBDA, .relative = 1, .operator_norm = options->supervise == BROAD_SUPERVISE_OPERATOR};
    return (broad__ridge_request){.lambda_auto = options->lambda_auto,
                                  .lambda = options->lambda,
                                  .loo = options->supervise == BROAD_SUPERVISE_LOO,
                                  .operator_norm = options->supervise == BROAD_SUPERVISE_OPERATOR,
                                  .outputs = options->supervise == BROAD_SUPERVISE_OUTPUT,
                                  .penalty = options->supervise == BROAD_SUPERVISE_GCV ? options->penalty : 0};
}

double broad__supervise_value(const broad_options *options, const broad__ridge *ridge, const broad__residual *residual)
{
    switch (options->supervise) {
    case BROAD_SUPERVISE_RESIDUAL: return ridge->estimate / residual->norm;
    case BROAD_SUPERVISE_LOO: return ridge->loo / residual->norm;
    case BROAD_SUPERVISE_OPERATOR: return ridge->operator_norm;
    case BROAD_SUPERVISE_OUTPUT: return ridge->worst_output;
    case BROAD_SUPERVISE_GCV:
        return broad__score(&residual->probes, ridge->estimate, ridge->inner, options->penalty) /
               broad__score_now(residual, options->penalty);
    case BROAD_SUPERVISE_NONE: break;
    }
    return 0.0;
}

int broad__supervise_possible(const broad_options *options, size_t rows, size_t width)
{
    if (options->supervise != BROAD_SUPERVISE_OPERATOR || rows <= width) return BROAD_OK;
    return broad__fail(
        BROAD_USAGE,
        "option supervise operator cannot hold here: with %zu rows and a layer of %zu nodes, I - KK+ is a "
        "projector onto what the layer cannot reach, and its norm is 1 for every draw; use "
        "option supervise residual, which asks what the theorem needs, or layers of at least %zu nodes",
        rows, width, rows);
}
