/*
 * Reads a table, holds a third of its rows out, trains on the rest and says how good the model is on rows it has not seen.
 *
 *   fit_table TABLE.csv MODEL
 *
 * Build: cc fit_table.c $(pkg-config --cflags --libs broad) -o fit_table
 */
#include <broad/broad.h>
#include <stdio.h>
#include <stdlib.h>

static void must(int status)
{
    if (status == BROAD_OK) return;
    fprintf(stderr, "fit_table: %s\n", broad_error_message());
    exit(EXIT_FAILURE);
}

int main(int argc, char **argv)
{
    if (argc != 3) return fprintf(stderr, "usage: fit_table TABLE.csv MODEL\n"), EXIT_FAILURE;
    broad_data *table = NULL, *train = NULL, *test = NULL;
    must(broad_data_read(&table, argv[1], NULL));
    for (size_t i = 0; i < broad_data_note_count(table); i++) printf("note: %s\n", broad_data_note(table, i));

    broad_split split;
    broad_split_init(&split);
    split.holdout = 1.0 / 3;
    must(broad_data_split(&train, &test, table, &split));

    broad_model *model = NULL;
    broad_options options;
    broad_options_init(&options); /* preset auto: all settings from the rows */
    must(broad_fit(&model, NULL, train, &options));
    broad_metrics metrics;
    broad_metrics_init(&metrics);
    must(broad_eval(&metrics, model, test, NULL));
    if (metrics.task == BROAD_TASK_CLASSIFY)
        printf("accuracy %.3f on %zu other rows (always the most frequent class: %.3f)\n", metrics.accuracy,
               metrics.rows, metrics.baseline);
    else printf("RMSE %.3f on %zu other rows (always the mean: %.3f)\n", metrics.rmse, metrics.rows, metrics.baseline);
    must(broad_model_save(model, argv[2], BROAD_FILE_FULL));

    broad_metrics_clear(&metrics);
    broad_model_free(model);
    broad_data_free(train);
    broad_data_free(test);
    broad_data_free(table);
    return EXIT_SUCCESS;
}
