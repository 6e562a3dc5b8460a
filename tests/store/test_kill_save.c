/* A process that saves two models in turn to one file is killed at 200 random moments: the file is always one of them. */
#include "helper.h"

#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "sample_model.h"

enum { KILLS = 200, SAVES_A_LIFE = 3 };

static char folder[HELPER_PATH], path[HELPER_PATH];
static broad_model *models[2];
static void *contents[2];
static size_t sizes[2];
static double save_seconds;

static int set_up(void **state)
{
    (void)state;
    temporary_folder(folder);
    join_path(path, folder, "model.broad");
    for (unsigned i = 0; i < 2; i++) {
        sample_form form = {.seed = 10 + i,
                            .task = BROAD_TASK_CLASSIFY,
                            .inputs = 20 + i,
                            .outputs = 3,
                            .groups = 4,
                            .group_nodes = 10,
                            .layers = 10,
                            .layer_nodes = 30};
        models[i] = sample_model(&form);
        assert_ok(broad_model_to_memory(&contents[i], &sizes[i], models[i], 0));
    }
    double began = broad__seconds();
    for (int i = 0; i < 4; i++) assert_ok(broad_model_save(models[0], path, 0));
    save_seconds = (broad__seconds() - began) / 4;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        broad_model_free(models[i]);
        broad_free(contents[i]);
    }
    remove_folder(folder);
    return 0;
}

static void save_for_ever(unsigned first)
{
    for (unsigned i = first;; i++)
        if (broad_model_save(models[i % 2], path, 0) != BROAD_OK) _exit(1);
}

static void kill_after(unsigned *random, unsigned first)
{
    double seconds = fmin(SAVES_A_LIFE * sample_uniform(random) * save_seconds, 0.9);
    struct timespec pause = {0, (long)(1e9 * seconds)};
    int status = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) save_for_ever(first);
    nanosleep(&pause, NULL);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status)); /* it did not end by a failed save */
}

/* 0 or 1: which of the two models the file is, byte by byte; it must load as well. */
static size_t check_file(void)
{
    size_t count = 0;
    broad_model *model = NULL;
    char *bytes = read_file(&count, path);
    size_t which = count == sizes[0] && memcmp(bytes, contents[0], count) == 0 ? 0 : 1;
    assert_int_equal(count, sizes[which]);
    assert_memory_equal(bytes, contents[which], count);
    assert_ok(broad_model_load(&model, path));
    broad_model_free(model);
    free(bytes);
    return which;
}

/* Removes what killed processes have left; only their temporary files may be there. */
static size_t remove_temporaries(void)
{
    size_t found = 0;
    DIR *list = opendir(folder);
    assert_non_null(list);
    for (struct dirent *entry; (entry = readdir(list)) != NULL;) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, "model.broad") == 0) continue;
        if (strncmp(name, ".model.broad.", 13) != 0 || strlen(name) != 19) fail_msg("%s was left behind", name);
        char full[HELPER_PATH];
        join_path(full, folder, name);
        assert_int_equal(unlink(full), 0);
        found++;
    }
    closedir(list);
    return found;
}

static void test_kill(void **state)
{
    (void)state;
    unsigned random = 7;
    size_t seen[2] = {0, 0}, in_the_middle = 0;
    for (unsigned i = 0; i < KILLS; i++) {
        kill_after(&random, i);
        seen[check_file()]++;
        in_the_middle += remove_temporaries();
    }
    print_message("%zu and %zu times; %zu kills came in the middle of a save\n", seen[0], seen[1], in_the_middle);
    assert_true(seen[0] > 0 && seen[1] > 0 && in_the_middle > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_kill, set_up, tear_down)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
