#include "run/importance.h"

#include <stdlib.h>

#include "run/show.h"

enum { SHOWN = 5 };

static int compare_falling(const void *a, const void *b)
{
    const broad_importance *x = a, *y = b;
    return (x->value < y->value) - (x->value > y->value);
}

size_t cli_importance_sorted(broad_importance out[CLI_IMPORTANCE_MOST], const broad_model *model)
{
    size_t count = broad_model_importance_count(model);
    if (count > CLI_IMPORTANCE_MOST) count = CLI_IMPORTANCE_MOST;
    for (size_t c = 0; c < count; c++) {
        broad_importance_init(&out[c]);
        if (broad_model_importance(&out[c], model, c)) return 0;
    }
    qsort(out, count, sizeof *out, compare_falling);
    return count;
}

int cli_importance_counts(const broad_importance *column)
{
    return column->value > 0.005 && column->value > 2 * column->spread;
}

json_t *cli_importance_json(const broad_model *model)
{
    broad_importance columns[CLI_IMPORTANCE_MOST] = {{0}};
    size_t count = cli_importance_sorted(columns, model);
    if (!count) return json_null();
    json_t *list = json_array();
    for (size_t c = 0; c < count; c++) {
        json_t *object = json_object();
        cli_json_put(object, "column", cli_json_text(columns[c].column));
        cli_json_put(object, "importance", cli_json_real(columns[c].value));
        cli_json_put(object, "spread", cli_json_real(columns[c].spread));
        cli_json_append(list, object);
    }
    return list;
}

void cli_print_importance(const broad_model *model)
{
    broad_importance columns[CLI_IMPORTANCE_MOST] = {{0}};
    size_t count = cli_importance_sorted(columns, model), shown = 0;
    if (!count) return;
    for (; shown < count && shown < SHOWN && cli_importance_counts(&columns[shown]); shown++)
        cli_print("%s%s%.40s%s %.3f \302\261 %.3f", shown ? ", " : "columns  ", cli_listed_mark(columns[shown].column),
                  columns[shown].column, cli_listed_mark(columns[shown].column), columns[shown].value,
                  columns[shown].spread);
    if (!shown) cli_print("columns  none matters clearly");
    cli_print(" (how much R2 falls when one is shuffled%s)\n",
              !shown || shown == SHOWN || shown == count ? "" : "; no other counts");
}

void cli_note_suspect(const cli_arguments *arguments, const broad_model *model)
{
    size_t column = broad_model_suspect(model);
    broad_importance found = {.size = sizeof found};
    if (column >= broad_model_importance_count(model) || broad_model_importance(&found, model, column)) return;
    cli_note(arguments,
             "column %.40s alone explains the target almost perfectly; if it was made from the target, or is not known "
             "when predictions are needed, leave it out: --ignore %.40s",
             found.column, found.column);
}
