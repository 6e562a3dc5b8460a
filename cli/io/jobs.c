#include "io/jobs.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "io/progress.h"

typedef struct jobs {
    cli_job job;
    void *context;
    const char *label;
    size_t count, batch;
    int visible;
    double start, last_drawn;
    atomic_size_t done;
    atomic_int stop;
    pthread_mutex_t lock; /* of the two below */
    int status;
    char message[1024]; /* of the first failure */
} jobs;

static void draw_bar(jobs *all)
{
    double now = broad__seconds();
    size_t done = atomic_load(&all->done);
    char left[32], text[96];
    if (!all->visible || done == 0 || now - all->last_drawn < 0.1) return;
    cli_format_duration(left, sizeof left, (now - all->start) / (double)done * (double)(all->count - done));
    snprintf(text, sizeof text, "%zu/%zu, left %s", done, all->count, left);
    cli_bar(all->label, (double)done / (double)all->count, text);
    all->last_drawn = now;
}

static void note_failure(jobs *all, int status)
{
    pthread_mutex_lock(&all->lock);
    if (!all->status) {
        all->status = status;
        snprintf(all->message, sizeof all->message, "%s", cli_error());
    }
    pthread_mutex_unlock(&all->lock);
    atomic_store(&all->stop, 1);
}

static void one_job(void *context, size_t index, size_t worker)
{
    jobs *all = context;
    if (atomic_load(&all->stop) || cli_interrupted()) return;
    size_t first = index * all->batch, count = all->count - first < all->batch ? all->count - first : all->batch;
    int status = all->job(all->context, first, count);
    if (status) note_failure(all, status);
    else atomic_fetch_add(&all->done, count);
    if (worker == 0) draw_bar(all); /* the caller's thread */
}

int cli_jobs_run(size_t count, size_t batch, size_t threads, cli_job job, void *context, const char *label,
                 const cli_arguments *arguments)
{
    jobs all = {
        .job = job, .context = context, .label = label, .count = count, .batch = batch, .start = broad__seconds()};
    all.visible = isatty(STDERR_FILENO) && !cli_given(arguments, "quiet");
    pthread_mutex_init(&all.lock, NULL);
    int status = broad_parallel((count + batch - 1) / batch, threads, one_job, &all);
    pthread_mutex_destroy(&all.lock);
    if (all.last_drawn > 0) cli_bar_wipe();
    if (status) return status;
    if (all.status) return cli_fail(all.status, "%s", all.message);
    return cli_interrupted() ? cli_fail(BROAD_INTERRUPTED, "interrupted") : BROAD_OK;
}
