/*
 * A network that grows, layer by layer, without being trained again; then its certificate is recomputed from the rows.
 *
 *   grow TABLE.csv
 *
 * Build: cc grow.c $(pkg-config --cflags --libs broad) -o grow
 */
#include <broad/broad.h>
#include <stdio.h>
#include <stdlib.h>

static void must(int status)
{
    if (status == BROAD_OK) return;
    fprintf(stderr, "grow: %s\n", broad_error_message());
    exit(EXIT_FAILURE);
}

static void show(const broad_model *model)
{
    broad_estimate estimate;
    broad_estimate_init(&estimate);
    must(broad_model_estimate(&estimate, model));
    size_t layers = broad_model_layers(model);
    printf("%zu nodes in %zu layer%s: ", broad_model_nodes(model), layers, layers == 1 ? "" : "s");
    if (!estimate.known) printf("no estimate yet\n");
    else if (broad_model_task(model) == BROAD_TASK_CLASSIFY) printf("accuracy %.3f expected\n", estimate.accuracy);
    else printf("RMSE %.3f expected\n", estimate.rmse);
}

int main(int argc, char **argv)
{
    if (argc != 2) return fprintf(stderr, "usage: grow TABLE.csv\n"), EXIT_FAILURE;
    broad_data *table = NULL;
    broad_trainer *trainer = NULL;
    broad_options options;
    broad_options_init(&options);
    must(broad_options_set(&options, "features", "5x10"));
    must(broad_options_set(&options, "effort", "fast"));
    must(broad_data_read(&table, argv[1], NULL));
    must(broad_trainer_open(&trainer, table, &options));
    for (int step = 0; step < 3; step++) {
        must(broad_trainer_enhance(trainer, 30, 1));
        show(broad_trainer_model(trainer));
    }
    must(broad_trainer_features(trainer, 1, 10, 30)); /* ten further feature nodes, with a layer of their own */
    show(broad_trainer_model(trainer));

    broad_model *model = NULL;
    broad_trainer_close(&model, trainer);
    broad_verdict verdict;
    broad_verdict_init(&verdict);
    must(broad_verify(&verdict, model, table, NULL));
    printf("the certificate %s%s\n", verdict.holds ? "holds" : "does not hold: ", verdict.reason);
    broad_model_free(model);
    broad_data_free(table);
    return verdict.holds ? EXIT_SUCCESS : EXIT_FAILURE;
}
