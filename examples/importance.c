/*
 * Which columns of a table matter, and training that ends after a second.
 *
 *   importance TABLE.csv
 *
 * Build: cc importance.c $(pkg-config --cflags --libs broad) -o importance
 */
#include <broad/broad.h>
#include <stdio.h>
#include <stdlib.h>

static void must(int status)
{
    if (status == BROAD_OK) return;
    fprintf(stderr, "importance: %s\n", broad_error_message());
    exit(EXIT_FAILURE);
}

int main(int argc, char **argv)
{
    if (argc != 2) return fprintf(stderr, "usage: importance TABLE.csv\n"), EXIT_FAILURE;
    broad_data *table = NULL;
    broad_model *model = NULL;
    broad_options options;
    broad_options_init(&options);
    must(broad_options_set(&options, "max-seconds", "1"));
    must(broad_data_read(&table, argv[1], NULL));
    must(broad_fit(&model, NULL, table, &options));
    must(broad_model_find_importance(model, table, NULL));
    for (size_t j = 0; j < broad_model_importance_count(model); j++) {
        broad_importance one;
        broad_importance_init(&one);
        must(broad_model_importance(&one, model, j));
        printf("%-12s %5.2f +- %.2f\n", one.column, one.value, one.spread);
    }
    broad_model_free(model);
    broad_data_free(table);
    return EXIT_SUCCESS;
}
