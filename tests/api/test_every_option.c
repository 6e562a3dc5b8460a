/* Every option of every kind, from C and from the command line: both give the same bytes, or the same refusal. */
#include "helper.h"

#include <sys/wait.h>

#include "data/read.h"

static const char *const kinds[] = {"bscrls", "brls", "bls", "scn", "rvfl"};

/* A small network, and for each option a value that is not its default. */
static const char *const base[][2] = {
    {"preset", "paper"}, {"features", "2x3"}, {"enhance", "3x2"},     {"lambda", "0.01"},
    {"tries", "3"},      {"threads", "1"},    {"range-steps", "1,2"},
};
static const char *const values[][2] = {
    {"kind", NULL},
    {"preset", "auto"},
    {"features", "1x4"},
    {"enhance", "2x3"},
    {"activation", "relu"},
    {"feature-activation", "sine"},
    {"feature-weights", "autoencoder"},
    {"learned-metric", "yes"},
    {"effort", "fast"},
    {"sparse-lambda", "0.05"},
    {"sparse-steps", "7"},
    {"scale", "rank"},
    {"scale-target", "standard"},
    {"lambda", "auto"},
    {"range", "0.5"},
    {"range-unit", "fan-in"},
    {"supervise", "loo"},
    {"gamma", "list:0.9,0.95"},
    {"tries", "2"},
    {"range-steps", "0.5,4"},
    {"relax", "0.5"},
    {"relax-count", "5"},
    {"penalty", "2"},
    {"select", "best"},
    {"weights", "joint"},
    {"window", "4"},
    {"loo", "no"},
    {"class-weight", "balanced"},
    {"until", "50%"},
    {"until-accuracy", "0.6"},
    {"max-layers", "1"},
    {"max-nodes", "8"},
    {"max-seconds", "1000"},
    {"patience", "2"},
    {"positive", "no"},
    {"normal", "perhaps"},
    {"seed", "18446744073709551615"},
    {"threads", "2"},
    {"memory", "1G"},
    {"device", "cuda"},
};
enum { BASE = sizeof base / sizeof base[0], VALUES = sizeof values / sizeof values[0] };

typedef struct place {
    char folder[HELPER_PATH], data[HELPER_PATH], model[HELPER_PATH], said[HELPER_PATH];
    const char *tool;
} place;

static void place_open(place *p)
{
    char text[4096] = "a,b,answer\n";
    temporary_folder(p->folder);
    join_path(p->data, p->folder, "rows.csv");
    join_path(p->model, p->folder, "model");
    join_path(p->said, p->folder, "said");
    for (int i = 0; i < 60; i++) {
        double a = sin(i * 1.7), b = cos(i * 2.9);
        snprintf(text + strlen(text), sizeof text - strlen(text), "%.6f,%.6f,%s\n", a, b,
                 a * b > 0.1 ? "yes"
                 : a > 0     ? "no"
                             : "perhaps");
    }
    write_text(p->data, text);
    p->tool = getenv("BROAD_TOOL");
}

static const char *value_for(const char *name)
{
    for (size_t i = 0; i < VALUES; i++)
        if (strcmp(values[i][0], name) == 0) return values[i][1] ? values[i][1] : "";
    fail_msg("option '%s' has no value here: give it one", name);
    return NULL;
}

/* The words that come before the option under test, one after the other. */
static size_t words_for(const char *out[BASE + 2][2], const char *kind, const char *name)
{
    size_t count = 0;
    for (size_t i = 0; i < BASE; i++) {
        if (strcmp(base[i][0], name) == 0) continue;
        out[count][0] = base[i][0], out[count++][1] = base[i][1];
        if (i == 0) out[count][0] = "kind", out[count++][1] = kind;
    }
    if (strcmp(name, "preset") == 0) {
        memmove(out + 1, out, count * sizeof out[0]);
        out[0][0] = "kind", out[0][1] = kind;
        count++;
    }
    return count;
}

/* From C. A status, and on success the bytes of the model. */
static int by_calls(void **out, size_t *out_bytes, const place *p, const char *kind, const char *name)
{
    const char *words[BASE + 2][2];
    size_t count = words_for(words, kind, name);
    broad_options o;
    broad_read_options read;
    broad_data *data = NULL;
    broad_model *model = NULL;
    broad_options_init(&o);
    broad_read_options_init(&read);
    int status = strcmp(name, "preset") ? BROAD_OK : broad_options_set(&o, "preset", value_for(name));
    for (size_t i = 0; status == BROAD_OK && i < count; i++) status = broad_options_set(&o, words[i][0], words[i][1]);
    if (status == BROAD_OK && *value_for(name) && strcmp(name, "preset"))
        status = broad_options_set(&o, name, value_for(name));
    assert_ok(broad_data_read(&data, p->data, &read));
    if (status == BROAD_OK) status = broad_fit(&model, NULL, data, &o);
    /* As the tool does, which finds the importance of columns for the network that it chooses itself. */
    if (status == BROAD_OK && o.preset == BROAD_PRESET_AUTO) status = broad_model_find_importance(model, data, NULL);
    if (status == BROAD_OK) status = broad_model_remember(model, p->data, NULL, data, NULL);
    if (status == BROAD_OK) status = broad_model_to_memory(out, out_bytes, model, 0);
    broad_model_free(model);
    broad_data_free(data);
    return status;
}

/* From the command line. */
static int by_words(const place *p, const char *kind, const char *name)
{
    const char *words[BASE + 2][2];
    size_t count = words_for(words, kind, name);
    char line[5 * HELPER_PATH];
    remove(p->model);
    snprintf(line, sizeof line, "'%s' fit '%s' -o '%s' -q", p->tool, p->data, p->model);
    /* The option first: the order of words must not matter. */
    if (*value_for(name))
        snprintf(line + strlen(line), sizeof line - strlen(line), " --%s '%s'", name, value_for(name));
    for (size_t i = 0; i < count; i++)
        snprintf(line + strlen(line), sizeof line - strlen(line), " --%s '%s'", words[i][0], words[i][1]);
    snprintf(line + strlen(line), sizeof line - strlen(line), " >'%s' 2>&1", p->said);
    int code = system(line);
    return WIFEXITED(code) ? -WEXITSTATUS(code) : BROAD_BUG;
}

/* The library says "option lambda" where the tool says "--lambda". */
static void as_the_tool_says(char *message)
{
    static const char word[] = "option ";
    for (char *at; (at = strstr(message, word));) {
        memcpy(at, "--", 2);
        memmove(at + 2, at + strlen(word), strlen(at + strlen(word)) + 1);
    }
}

/* Whether both were refused, in the same words. */
static int same_refusal(const place *p, int status, const char *kind, const char *name)
{
    char message[2048];
    snprintf(message, sizeof message, "%s", broad_error_message());
    as_the_tool_says(message);
    int code = by_words(p, kind, name);
    char *said = read_file(NULL, p->said);
    if (code != status || (status && !strstr(said, message)))
        fail_msg("--kind %s --%s: status %d (%s) from C, %d from the tool (%s)", kind, name, status,
                 status ? message : "", code, said);
    free(said);
    return status != BROAD_OK;
}

static void one_option(const place *p, const char *kind, const char *name, size_t counts[2])
{
    void *bytes = NULL;
    size_t count = 0, written = 0;
    int status = by_calls(&bytes, &count, p, kind, name), refused = 1;
    /* The tool asks for rows to test on where there is patience; in C they come later. */
    if (strcmp(name, "patience") == 0) assert_int_equal(by_words(p, kind, name), BROAD_USAGE);
    else refused = same_refusal(p, status, kind, name);
    counts[refused]++;
    if (!refused) {
        char *file = read_file(&written, p->model);
        if (written != count || memcmp(file, bytes, count) != 0)
            fail_msg("option kind %s --%s: other bytes", kind, name);
        free(file);
    }
    broad_free(bytes);
}

static void both_ways(void **state)
{
    (void)state;
    place p;
    place_open(&p);
    if (!p.tool) {
        print_message("BROAD_TOOL names no tool to run\n");
        remove_folder(p.folder);
        skip();
    }
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        size_t counts[2] = {0};
        for (size_t i = 0; i < broad_option_count(); i++) one_option(&p, kinds[k], broad_option_at(i)->name, counts);
        print_message("%-6s %zu options give the same bytes, %zu are refused in the same words\n", kinds[k], counts[0],
                      counts[1]);
        assert_true(counts[0] >= 28);
    }
    remove_folder(p.folder);
}

/* The values above change something: an option that is not looked at would pass for one that is. */
static void values_are_not_the_defaults(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        for (size_t i = 0; i < broad_option_count(); i++) {
            const char *name = broad_option_at(i)->name, *words[BASE + 2][2];
            char before[256], after[256];
            broad_options o;
            broad_options_init(&o);
            size_t count = words_for(words, kinds[k], name);
            if (!*value_for(name)) continue;
            for (size_t j = 0; j < count; j++) assert_ok(broad_options_set(&o, words[j][0], words[j][1]));
            if (strcmp(name, "preset") == 0) assert_ok(broad_options_set(&o, "preset", "paper"));
            assert_ok(broad_options_get(before, sizeof before, &o, name));
            assert_ok(broad_options_set(&o, name, value_for(name)));
            assert_ok(broad_options_get(after, sizeof after, &o, name));
            int usual = strcmp(name, "weights") == 0 || strcmp(name, "select") == 0; /* of some kinds */
            if (strcmp(before, after) == 0 && !usual)
                fail_msg("--%s %s is what option kind %s has", name, after, kinds[k]);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_not_the_defaults),
        cmocka_unit_test(both_ways),
    };
    return cmocka_run_group_tests_name("every option", tests, NULL, NULL);
}
