/*
 * Compares two kinds of network on a table of classes by cross-validation.
 *
 *   cross_validate TABLE.csv
 *
 * Build: cc cross_validate.c $(pkg-config --cflags --libs broad) -o cross_validate
 */
#include <broad/broad.h>
#include <stdio.h>
#include <stdlib.h>

static void must(int status)
{
    if (status == BROAD_OK) return;
    fprintf(stderr, "cross_validate: %s\n", broad_error_message());
    exit(EXIT_FAILURE);
}

/* Trained on all other folds, tested on this one. */
static double accuracy_of_fold(const broad_data *table, const broad_options *options, const broad_folds *folds)
{
    broad_data *train = NULL, *test = NULL;
    broad_model *model = NULL;
    broad_metrics metrics;
    broad_metrics_init(&metrics);
    must(broad_data_fold(&train, &test, table, folds));
    must(broad_fit(&model, NULL, train, options));
    must(broad_eval(&metrics, model, test, NULL));
    double accuracy = metrics.accuracy;
    broad_metrics_clear(&metrics);
    broad_model_free(model);
    broad_data_free(train);
    broad_data_free(test);
    return accuracy;
}

int main(int argc, char **argv)
{
    static const char *const kinds[] = {"bls", "rvfl"};
    if (argc != 2) return fprintf(stderr, "usage: cross_validate TABLE.csv\n"), EXIT_FAILURE;
    broad_data *table = NULL;
    must(broad_data_read(&table, argv[1], NULL));
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        broad_options options;
        broad_options_init(&options);
        must(broad_options_set(&options, "kind", kinds[k]));
        must(broad_options_set(&options, "effort", "fast"));
        broad_folds folds;
        broad_folds_init(&folds);
        double sum = 0;
        for (folds.index = 0; folds.index < folds.count; folds.index++)
            sum += accuracy_of_fold(table, &options, &folds);
        printf("%-5s accuracy %.3f, mean of %zu folds\n", kinds[k], sum / (double)folds.count, folds.count);
    }
    broad_data_free(table);
    return EXIT_SUCCESS;
}
