/* Calls of the public interface in trouble: memory gives out, the caller asks to stop, the disk fails, or the system refuses a
 * call, at every chain of callers that allocates, asks for progress, writes or makes such a call. The status says what happened,
 * nothing leaks, no file stays open, and the next run of the same call works. */
#include "trouble.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <jansson.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "base/file.h"
#include "photo_folder.h"
#include "small_runs.h"

#include "data_helper.h" /* the last: it has a type called bytes */

/* ---- the troubles ------------------------------------------------------------------------------------------------ */

typedef enum which { NONE, MEMORY, STOP, DISK, SYSTEM } which;

static trouble places = {.lock = PTHREAD_MUTEX_INITIALIZER};
static which chosen;
static atomic_size_t live;

static void *allocate(size_t size, void *context)
{
    (void)context;
    if (chosen == MEMORY && trouble_here(&places)) return NULL;
    void *block = malloc(size);
    if (block) atomic_fetch_add(&live, 1);
    return block;
}

static void release(void *block, void *context)
{
    (void)context;
    if (block) atomic_fetch_sub(&live, 1);
    free(block);
}

/* The JSON library has an allocator of its own. */
static void *allocate_json(size_t size) { return allocate(size, NULL); }
static void release_json(void *block) { release(block, NULL); }

static int on_progress(const broad_progress *progress, void *context)
{
    (void)progress, (void)context;
    return chosen == STOP && trouble_here(&places);
}

static broad__file_calls real_calls;

static int disk_fails(void)
{
    if (chosen != DISK || !trouble_here(&places)) return 0;
    errno = EIO;
    return 1;
}

static int make_temporary(char *path, mode_t mode) { return disk_fails() ? -1 : real_calls.make_temporary(path, mode); }
static ssize_t write_some(int fd, const void *from, size_t n)
{
    return disk_fails() ? -1 : real_calls.write(fd, from, n);
}
static int close_file(int fd)
{
    int fails = disk_fails(), status = real_calls.close(fd);
    return fails ? -1 : status;
}
static int move_file(const char *from, const char *to) { return disk_fails() ? -1 : real_calls.rename(from, to); }

/* No file here needs to outlast a loss of power. */
static int sync_file(int fd)
{
    (void)fd;
    return disk_fails() ? -1 : 0;
}

/* ---- the system's calls, in front of the library's own ------------------------------------------------------------ */

static int system_fails(int error)
{
    if (chosen != SYSTEM || !trouble_here(&places)) return 0;
    errno = error;
    return 1;
}

/* NAME of the system, called as such by everything in this program. */
#define REFUSED(result, name, parameters, arguments, error, failed)                                                    \
    result refused_##name parameters __asm__(#name);                                                                   \
    result refused_##name parameters                                                                                   \
    {                                                                                                                  \
        static result(*real) parameters;                                                                               \
        if (!real) *(void **)&real = dlsym(RTLD_NEXT, #name);                                                          \
        return system_fails(error) ? (failed) : real arguments;                                                        \
    }

REFUSED(ssize_t, read, (int fd, void *to, size_t n), (fd, to, n), EIO, -1)
REFUSED(ssize_t, pread, (int fd, void *to, size_t n, off_t at), (fd, to, n, at), EIO, -1)
REFUSED(int, fstat, (int fd, struct stat *out), (fd, out), EIO, -1)
REFUSED(off_t, lseek, (int fd, off_t at, int whence), (fd, at, whence), EIO, -1)
REFUSED(int, open, (const char *path, int flags, mode_t mode), (path, flags, mode), EMFILE, -1)
REFUSED(DIR *, opendir, (const char *path), (path), EMFILE, NULL)
REFUSED(DIR *, fdopendir, (int fd), (fd), ENOMEM, NULL)
REFUSED(int, mkdir, (const char *path, mode_t mode), (path, mode), ENOSPC, -1)
REFUSED(int, posix_fallocate, (int fd, off_t at, off_t n), (fd, at, n), ENOSPC, ENOSPC)
REFUSED(char *, realpath, (const char *path, char *out), (path, out), ENOMEM, NULL)
REFUSED(void *, mmap, (void *at, size_t n, int kind, int flags, int fd, off_t from), (at, n, kind, flags, fd, from),
        ENOMEM, (void *)-1)
REFUSED(int, pthread_create, (pthread_t * out, const pthread_attr_t *how, void *(*run)(void *), void *with),
        (out, how, run, with), EAGAIN, EAGAIN)
REFUSED(int, pthread_cond_init, (pthread_cond_t * out, const pthread_condattr_t *how), (out, how), ENOMEM, ENOMEM)

static size_t open_files(void)
{
    size_t count = 0;
    DIR *all = opendir("/proc/self/fd");
    while (all && readdir(all)) count++;
    if (all) closedir(all);
    return count;
}

/* ---- what the calls work on -------------------------------------------------------------------------------------- */

enum { ROWS = 48, INPUTS = 3, SIDE = 8 };

typedef struct world {
    char folder[HELPER_PATH], table[HELPER_PATH], zipped[HELPER_PATH], sparse[HELPER_PATH], array[HELPER_PATH];
    char array_labels[HELPER_PATH], photos[HELPER_PATH], boxes[HELPER_PATH], json[HELPER_PATH], labels[HELPER_PATH];
    char cache[HELPER_PATH], file[HELPER_PATH];
    broad_data *classes, *more, *values, *rows, *pictures, *prepared, *mapped;
    broad_model *joint, *chain, *regression, *of_table, *of_photos;
    broad_read_options read;
    broad_photo_options photo;
    broad_run_options run;
} world;

static world w;

static void write_mixed(const char *path)
{
    FILE *file = fopen(path, "w");
    fputs("name,when,colour,height,price,damp,site,weight,note,result\n", file);
    problem_random r = {5};
    for (int i = 0; i < ROWS; i++) {
        double a = problem_uniform(&r), b = problem_uniform(&r);
        fprintf(file, "\"part \"\"%d\"\"\",2024-%02d-%02d,%s,%.3f,%.2f %%,%s,site%d,%d,%s,%s\n", i, 1 + i % 12,
                1 + i % 27,
                i % 3   ? "red"
                : i % 2 ? "green"
                        : "blue",
                a, 100 * b, i % 4 ? "yes" : "no", i % 9, 1 + i % 2, i % 7 ? "" : "x",
                a + b > 1 ? "good"
                : a > 0.6 ? "bad"
                          : "fair");
    }
    fclose(file);
}

static void write_tables(void)
{
    join_path(w.table, w.folder, "mixed.csv");
    write_mixed(w.table);
    size_t count;
    char *text = read_file(&count, w.table);
    bytes packed = gzip_bytes(text, count);
    join_path(w.zipped, w.folder, "mixed.csv.gz");
    write_file(w.zipped, packed.at, packed.count);
    free(packed.at), free(text);
    join_path(w.sparse, w.folder, "rows.libsvm");
    FILE *file = fopen(w.sparse, "w");
    for (int i = 0; i < ROWS; i++) fprintf(file, "%d 1:%d 3:%.2f # row %d\n", i % 2, i % 5, i * 0.25, i);
    fclose(file);
    float numbers[ROWS * INPUTS];
    for (int i = 0; i < ROWS * INPUTS; i++) numbers[i] = (float)sin(i);
    bytes array =
        npy_bytes(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (48, 3), }\n", numbers, sizeof numbers);
    join_path(w.array, w.folder, "rows.npy");
    write_file(w.array, array.at, array.count);
    free(array.at);
    join_path(w.array_labels, w.folder, "labels.csv");
    file = fopen(w.array_labels, "w");
    for (int i = 0; i < ROWS; i++) fputs(i % 2 ? "on\n" : "off\n", file);
    fclose(file);
}

static void write_photos(void)
{
    join_path(w.photos, w.folder, "photos");
    mkdir(w.photos, 0777);
    make_classes(w.photos, 4);
    save_photo(w.photos, "Dusty/again.png", 1);
    save_text(w.photos, "Clean/broken.jpg", "\xff\xd8\xff\xe0 no photo");
    char list[4096] = "file,left,top,right,bottom,score\n", json[4096] = "{\"images\": [", boxes[4096] = "";
    char labels[4096] = "file,plant,dust\n";
    for (int i = 0; i < 8; i++) {
        char name[64];
        snprintf(name, sizeof name, i % 2 ? "Dusty/dusty_%02d.jpg" : "Clean/clean_%02d.jpg", i / 2);
        sprintf(list + strlen(list), "%s,2,2,40,30,0.5\n%s,10,8,60,44,0.%d\n", name, name, i);
        sprintf(json + strlen(json), "%s{\"id\": %d, \"file_name\": \"%s\"}", i ? ", " : "", i, name);
        sprintf(boxes + strlen(boxes), "%s{\"image_id\": %d, \"bbox\": [4, 4, 40, 30], \"score\": 0.5}", i ? ", " : "",
                i);
        sprintf(labels + strlen(labels), "%s,plant%d,%.2f\n", name, i % 3, 0.1 * i);
    }
    save_text(w.folder, "boxes.csv", list);
    join_path(w.boxes, w.folder, "boxes.csv");
    strcat(json, "], \"annotations\": ["), strcat(json, boxes), strcat(json, "]}");
    save_text(w.folder, "boxes.json", json);
    join_path(w.json, w.folder, "boxes.json");
    save_text(w.folder, "photos.csv", labels);
    join_path(w.labels, w.folder, "photos.csv");
    join_path(w.cache, w.folder, "cache");
    join_path(w.file, w.folder, "out.broad");
}

static broad_options options_of(const char *settings)
{
    small_kind kind = {"", settings, 0};
    broad_options o = small_options(&kind, 2);
    o.progress = on_progress;
    return o;
}

static broad_model *fitted(const broad_data *data, const char *settings)
{
    broad_options o = options_of(settings);
    broad_model *model = NULL;
    assert_ok(broad_fit(&model, NULL, data, &o));
    return model;
}

static void world_open(void)
{
    temporary_folder(w.folder);
    write_tables();
    write_photos();
    broad_read_options_init(&w.read);
    broad_photo_options_init(&w.photo);
    broad_run_options_init(&w.run);
    w.read.threads = w.photo.threads = w.run.threads = 2;
    w.read.progress = w.run.progress = on_progress;
    w.read.photos = &w.photo;
    w.photo.maps = BROAD_PHOTO_MAP_PIXELS;
    w.photo.side = SIDE;
    w.classes = small_data(0, ROWS, INPUTS, 3);
    w.more = small_data(ROWS, 12, INPUTS, 3);
    w.values = small_data(0, ROWS, INPUTS, 0);
    assert_ok(broad_data_read(&w.rows, w.table, &w.read));
    const char *folder = w.photos;
    assert_ok(broad_data_read_photos(&w.pictures, &folder, 1, &w.read));
    broad_photo_options all_maps = w.photo;
    broad_read_options mapped = w.read;
    all_maps.maps = 0, mapped.photos = &all_maps;
    assert_ok(broad_data_read_photos(&w.mapped, &folder, 1, &mapped));
    w.joint = fitted(w.classes, "kind=bscrls weights=joint features=2x3 enhance=4x2 lambda=auto loo=yes");
    w.chain = fitted(w.classes, "kind=bscrls preset=paper weights=chain features=2x3 enhance=4x2");
    w.regression = fitted(w.values, "kind=bscrls weights=joint features=2x3 enhance=4x2 lambda=auto loo=yes");
    w.of_table = fitted(w.rows, "kind=bscrls weights=joint features=2x3 enhance=4x2 lambda=auto loo=yes");
    w.of_photos = fitted(w.pictures, "kind=bscrls weights=joint features=2x3 enhance=4x2 lambda=auto loo=yes");
    broad_read_options again = w.read;
    again.model = w.of_photos, again.training = 1;
    assert_ok(broad_data_read_photos(&w.prepared, &folder, 1, &again));
}

static void world_close(void)
{
    broad_data *tables[] = {w.classes, w.more, w.values, w.rows, w.pictures, w.prepared, w.mapped};
    broad_model *models[] = {w.joint, w.chain, w.regression, w.of_table, w.of_photos};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) broad_data_free(tables[i]);
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) broad_model_free(models[i]);
    remove_folder(w.folder);
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static int read_with(const char *path, const broad_read_options *options)
{
    broad_data *data = NULL;
    int status = broad_data_read(&data, path, options);
    assert_true((status == BROAD_OK) == (data != NULL));
    broad_data_free(data);
    return status;
}

static int read_table(void)
{
    broad_read_options o = w.read;
    o.group = "site", o.weight = "weight", o.keep = "all", o.ignore = "note";
    return read_with(w.table, &o);
}

static int read_zipped(void) { return read_with(w.zipped, &w.read); }
static int read_sparse(void) { return read_with(w.sparse, &w.read); }

static int read_named_columns(void)
{
    broad_read_options o = w.read;
    o.target = "height,price", o.categorical = "colour,damp,note", o.inputs = "colour,damp,note,when";
    return read_with(w.table, &o);
}

static int read_for_model(void)
{
    broad_read_options o = w.read;
    o.model = w.of_table, o.new_classes = 1, o.keep = "name";
    return read_with(w.table, &o);
}

static int read_array(void)
{
    broad_read_options o = w.read;
    o.labels = w.array_labels;
    return read_with(w.array, &o);
}

static int read_little_memory(void)
{
    broad_read_options o = w.read;
    o.memory = 1;
    return read_with(w.table, &o);
}

static int photos_with(const broad_photo_options *photo, const broad_read_options *options)
{
    broad_read_options o = *options;
    broad_data *data = NULL;
    const char *folder = w.photos;
    o.photos = photo;
    int status = broad_data_read_photos(&data, &folder, 1, &o);
    broad_data_free(data);
    return status;
}

static int read_photos(void)
{
    broad_photo_options p = w.photo;
    p.augment = 1, p.maps = 0;
    return photos_with(&p, &w.read);
}

static int read_photos_boxes(void)
{
    broad_photo_options p = w.photo;
    p.boxes = w.boxes, p.each_box = 1;
    return photos_with(&p, &w.read);
}

static int read_photos_json(void)
{
    broad_photo_options p = w.photo;
    p.boxes = w.json;
    return photos_with(&p, &w.read);
}

static int read_photos_labels(void)
{
    broad_read_options o = w.read;
    o.labels = w.labels, o.target = "dust", o.group = "plant";
    return photos_with(&w.photo, &o);
}

static int read_photos_model(void)
{
    broad_read_options o = w.read;
    o.model = w.of_photos;
    return photos_with(&w.photo, &o);
}

/* The first run fills the folder, the second reads from it. */
static int read_photos_cache(void)
{
    broad_photo_options p = w.photo;
    p.cache = w.cache;
    remove_folder(w.cache);
    int status = photos_with(&p, &w.read);
    return status == BROAD_OK ? photos_with(&p, &w.read) : status;
}

static int left_corner(broad_box_list *list, const char *file, void *context)
{
    (void)file, (void)context;
    int status = broad_box_list_add(list, 0, 0, 20, 20, 0.5);
    return status == BROAD_OK ? broad_box_list_add(list, 5, 5, 30, 30, NAN) : status;
}

static int read_photos_detector(void)
{
    broad_photo_options p = w.photo;
    p.find_boxes = left_corner;
    return photos_with(&p, &w.read);
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

static int free_two(int status, broad_data *a, broad_data *b)
{
    broad_data_free(a);
    broad_data_free(b);
    return status;
}

static int arrays_with_everything(void)
{
    static const char *const levels[] = {"low", "high", "mid"}, *const names[] = {"size", "shape"};
    double x[ROWS * 2], weights[ROWS];
    const char *labels[ROWS], *groups[ROWS];
    for (size_t i = 0; i < ROWS; i++) {
        x[2 * i] = (double)(i % 7), x[2 * i + 1] = i % 11 ? (double)(i % 3) : (double)NAN;
        weights[i] = 1 + (double)(i % 3);
        labels[i] = i % 2 ? "a" : "b";
        groups[i] = levels[i % 3];
    }
    broad_array_category category = {1, 3, levels};
    broad_arrays arrays;
    broad_arrays_init(&arrays);
    arrays.rows = ROWS, arrays.inputs = 2, arrays.x = x, arrays.labels = labels, arrays.groups = groups;
    arrays.names = names, arrays.weights = weights, arrays.missing = BROAD_MISSING_MEAN;
    arrays.categories = &category, arrays.category_count = 1;
    broad_data *data = NULL;
    int status = broad_data_from_arrays(&data, &arrays);
    return free_two(status, data, NULL);
}

static int split_table(void)
{
    const broad_data *tables[] = {w.rows, w.pictures};
    int status = BROAD_OK;
    broad_split split;
    broad_split_init(&split);
    for (size_t i = 0; i < 2 && status == BROAD_OK; i++) {
        broad_data *train = NULL, *test = NULL;
        status = broad_data_split(&train, &test, tables[i], &split);
        free_two(status, train, test);
    }
    return status;
}

static int fold_table(void)
{
    broad_data *train = NULL, *test = NULL;
    broad_folds folds;
    broad_folds_init(&folds);
    int status = broad_data_fold(&train, &test, w.rows, &folds);
    return free_two(status, train, test);
}

static int put_together(void)
{
    static const size_t some[] = {3, 1, 7};
    const broad_data *tables[] = {w.classes, w.rows, w.pictures};
    int status = BROAD_OK;
    for (size_t i = 0; i < 3 && status == BROAD_OK; i++) {
        broad_data *both = NULL, *part = NULL;
        status = broad_data_pick(&part, tables[i], some, 3);
        if (status == BROAD_OK) status = broad_data_append(&both, tables[i], part);
        free_two(status, both, part);
    }
    return status;
}

static int assign_classes(void)
{
    size_t classes[ROWS];
    for (size_t i = 0; i < ROWS; i++) classes[i] = i % 3;
    broad_data *data = NULL, *part = NULL;
    int status = broad_data_assign(&data, w.classes, w.joint, classes);
    if (status == BROAD_OK) status = broad_data_training_part(&part, w.classes, w.joint);
    return free_two(status, data, part);
}

static int change_photos(void)
{
    broad_data *narrow = NULL, *projected = NULL, *like = NULL;
    int status = broad_photos_narrow(&narrow, w.pictures, BROAD_PHOTO_MAP_PIXELS);
    if (status == BROAD_OK) status = broad_photos_project(&projected, narrow, 3, NULL);
    if (status == BROAD_OK) status = broad_photos_project(&like, narrow, 0, projected);
    broad_data_free(like);
    return free_two(status, narrow, projected);
}

static int choose_maps(void)
{
    static const size_t rows[] = {0, 1, 2, 3, 4, 5, 6, 7};
    broad_data *data = NULL, *test = NULL;
    broad_map_choice choice = {.size = sizeof choice};
    broad_options options = options_of("enhance=4x1");
    int status = broad_data_pick(&data, w.mapped, rows, 8);
    if (status == BROAD_OK) status = broad_data_pick(&test, w.mapped, rows, 2);
    if (status == BROAD_OK) status = broad_photos_prepare(&choice, &data, &test, &options);
    return free_two(status, data, test);
}

/* ---- training ---------------------------------------------------------------------------------------------------- */

static int fit_so(const broad_data *data, const broad_options *options)
{
    broad_model *model = NULL;
    int status = broad_fit(&model, NULL, data, options);
    assert_true((status == BROAD_OK) == (model != NULL));
    broad_model_free(model);
    return status;
}

static int fit_with(const broad_data *data, const char *settings)
{
    broad_options o = options_of(settings);
    return fit_so(data, &o);
}

static int fit_auto(void) { return fit_with(w.rows, "enhance=4x2"); }
static int fit_auto_values(void) { return fit_with(w.values, "enhance=4x2 learned-metric=yes effort=thorough"); }
static int fit_gcv(void)
{
    return fit_with(w.classes, "weights=chain supervise=gcv features=2x3 enhance=4x3 lambda=auto");
}
static int fit_loo(void)
{
    return fit_with(w.values, "weights=chain supervise=loo features=2x3 enhance=4x3 lambda=auto");
}
static int fit_balanced(void)
{
    broad_options o = options_of("kind=bls features=2x3 enhance=4x1 scale=minmax");
    o.class_weight = "balanced";
    return fit_so(w.classes, &o);
}
static int fit_ranges(void)
{
    return fit_with(w.values, "preset=paper features=2x3 enhance=4x2 range=auto lambda=auto");
}
static int fit_photos(void) { return fit_with(w.pictures, "enhance=4x2"); }
static int fit_weighted(void)
{
    broad_options o = options_of("features=2x3 enhance=4x2 loo=yes");
    o.class_weight = "a:1,b:3,c:2";
    return fit_so(w.classes, &o);
}
static int fit_ranked(void) { return fit_with(w.values, "kind=scn scale=rank enhance=1x4 weights=window window=2"); }
static int fit_autoencoder(void)
{
    return fit_with(w.values, "preset=paper features=2x3 enhance=4x2 feature-weights=autoencoder");
}
/* With the least memory that will do: the rows are in files. */
static int fit_spilled(void)
{
    broad_options o = options_of("preset=paper features=2x3 enhance=4x2");
    broad_plan plan = {.size = sizeof plan};
    which kind = chosen;
    chosen = NONE;
    o.memory = 1;
    assert_ok(broad_plan_run(&plan, &o, NULL, ROWS, INPUTS, 1));
    chosen = kind;
    o.memory = (size_t)plan.bytes_least + (1 << 20);
    return fit_so(w.values, &o);
}

static int validated(void)
{
    broad_options o = options_of("preset=paper features=2x3 enhance=4x6 patience=1 until-accuracy=0.999");
    broad_trainer *trainer = NULL;
    broad_metrics metrics = {.size = sizeof metrics};
    int status = broad_trainer_open(&trainer, w.classes, &o);
    if (status == BROAD_OK) status = broad_trainer_validate(trainer, w.more);
    if (status == BROAD_OK) status = broad_trainer_enhance(trainer, 4, 6);
    if (status == BROAD_OK) status = broad_trainer_measure(&metrics, trainer, w.classes);
    broad_metrics_clear(&metrics);
    broad_trainer_close(NULL, trainer);
    return status;
}

static int grown(const broad_model *model, const broad_data *data)
{
    broad_options o = options_of("threads=2");
    broad_trainer *trainer = NULL;
    double weights[12];
    for (size_t i = 0; i < 12; i++) weights[i] = 1 + (double)i;
    int status = broad_trainer_resume(&trainer, model, data, &o, BROAD_RESUME_CHECKED);
    if (status == BROAD_OK) status = broad_trainer_enhance(trainer, 2, 1);
    if (status == BROAD_OK) status = broad_trainer_learn_weighted(trainer, w.more, weights, 2, 1, BROAD_LEARN_ALL_ROWS);
    broad_trainer_close(NULL, trainer);
    return status;
}

static int grow_joint(void) { return grown(w.joint, w.classes); }
static int grow_chain(void) { return grown(w.chain, w.classes); }

static int forget_rows(void)
{
    broad_options o = options_of("threads=2");
    broad_trainer *trainer = NULL;
    int status = broad_trainer_resume(&trainer, w.chain, NULL, &o, BROAD_RESUME_CHECKED);
    if (status == BROAD_OK) status = broad_trainer_learn(trainer, w.more, 2, 1, BROAD_LEARN_NEW_ROWS);
    broad_trainer_close(NULL, trainer);
    return status;
}

static int correct_rows(void)
{
    broad_options o = options_of("threads=2");
    broad_trainer *trainer = NULL;
    broad_correction found = {.size = sizeof found};
    double weights[12], out[ROWS * 3];
    int status = broad_trainer_resume(&trainer, w.joint, w.classes, &o, BROAD_RESUME_CHECKED);
    if (status == BROAD_OK) status = broad_trainer_leave_out(out, trainer);
    if (status == BROAD_OK) status = broad_trainer_correct(&found, trainer, w.more, weights);
    broad_trainer_close(NULL, trainer);
    return status;
}

static int sums_of_rows(void)
{
    broad_stats *stats = NULL, *loaded = NULL;
    broad_model *model = NULL;
    void *copy = NULL;
    size_t count;
    int status = broad_model_to_memory(&copy, &count, w.chain, 0);
    if (status == BROAD_OK) status = broad_model_from_memory(&model, copy, count);
    if (status == BROAD_OK) status = broad_stats_new(&stats, model, w.classes, &w.run);
    if (status == BROAD_OK) status = broad_stats_save(stats, w.file);
    if (status == BROAD_OK) status = broad_stats_load(&loaded, w.file, model);
    if (status == BROAD_OK) status = broad_stats_learn(loaded, model, w.more, &w.run);
    broad_stats_free(stats);
    broad_stats_free(loaded);
    broad_model_free(model);
    broad_free(copy);
    return status;
}

/* ---- models ------------------------------------------------------------------------------------------------------ */

static int copied(broad_model **out, const broad_model *model, broad_file file)
{
    void *copy = NULL;
    size_t count;
    int status = broad_model_to_memory(&copy, &count, model, file);
    if (status == BROAD_OK) status = broad_model_from_memory(out, copy, count);
    broad_free(copy);
    return status;
}

static int copy_compact(void)
{
    broad_model *model = NULL;
    int status = copied(&model, w.regression, BROAD_FILE_COMPACT);
    broad_model_free(model);
    return status;
}

static int save_all(void)
{
    const broad_model *models[] = {w.joint, w.chain, w.of_table, w.of_photos};
    int status = BROAD_OK;
    for (size_t i = 0; i < 4 && status == BROAD_OK; i++) {
        broad_model *model = NULL;
        status = broad_model_save(models[i], w.file, i % 2 ? BROAD_FILE_COMPACT : BROAD_FILE_FULL);
        if (status == BROAD_OK) status = broad_model_load(&model, w.file);
        broad_model_free(model);
    }
    return status;
}

static int tell_about(void)
{
    const broad_model *models[] = {w.joint, w.chain, w.of_table, w.of_photos};
    int status = BROAD_OK;
    for (size_t i = 0; i < 4 && status == BROAD_OK; i++) {
        char *text = NULL;
        status = broad_model_json(&text, models[i]);
        broad_free(text);
    }
    return status;
}

static int remember_rows(void)
{
    broad_model *model = NULL;
    broad_source source = {.size = sizeof source};
    int status = copied(&model, w.of_photos, BROAD_FILE_FULL);
    if (status == BROAD_OK) status = broad_model_remember(model, w.photos, NULL, w.prepared, NULL);
    if (status == BROAD_OK) status = broad_model_remember(model, w.photos, w.labels, w.prepared, NULL);
    if (status == BROAD_OK) status = broad_model_source(&source, model, 0);
    if (status == BROAD_OK) status = broad_model_save(model, w.file, BROAD_FILE_FULL);
    broad_model_free(model);
    return status;
}

static int importance_of_inputs(void)
{
    broad_model *model = NULL;
    broad_relevance relevance = {.size = sizeof relevance};
    int status = copied(&model, w.of_table, BROAD_FILE_FULL);
    if (status == BROAD_OK) status = broad_model_find_importance(model, w.rows, &w.run);
    if (status == BROAD_OK && broad_model_relevance_parts(model))
        status = broad_model_find_relevance(&relevance, model);
    if (status == BROAD_OK) status = broad_model_set_normal(model, "good");
    broad_model_free(model);
    return status;
}

static int verified(void)
{
    const broad_model *models[] = {w.joint, w.chain, w.of_table, w.of_photos, w.regression};
    const broad_data *rows[] = {w.classes, w.classes, w.rows, w.prepared, w.values};
    int status = BROAD_OK;
    for (size_t i = 0; i < 5 && status == BROAD_OK; i++) {
        broad_verdict verdict = {.size = sizeof verdict};
        status = broad_verify(&verdict, models[i], rows[i], &w.run);
        if (status == BROAD_OK && !verdict.holds) fail_msg("model %zu: %s", i, verdict.reason);
    }
    return status;
}

static int judged(void)
{
    broad_metrics metrics = {.size = sizeof metrics};
    broad_curve_point points[16] = {{.size = sizeof *points}};
    broad_eval_options o;
    broad_eval_options_init(&o);
    o.threads = 2, o.progress = on_progress;
    int status = broad_eval_with(&metrics, w.joint, w.classes, &o);
    broad_metrics_clear(&metrics);
    o.level = 0.8;
    if (status == BROAD_OK) status = broad_eval_with(&metrics, w.regression, w.values, &o);
    broad_metrics_clear(&metrics);
    if (status == BROAD_OK) status = broad_model_curve(points, w.chain, w.classes, &w.run);
    if (status == BROAD_OK) status = broad_model_curve_loo(points, w.chain, w.classes, &w.run);
    if (status == BROAD_OK) status = broad_model_curve(points, w.joint, w.classes, &w.run);
    return status;
}

static int predicted(void)
{
    double scores[ROWS * 3], ends[ROWS * 2], inputs[ROWS * 3];
    int status = broad_predict_data(scores, w.joint, w.classes, &w.run);
    if (status == BROAD_OK) status = broad_probabilities(scores, w.joint, scores, ROWS);
    if (status == BROAD_OK) status = broad_predict_part(scores, w.regression, w.values, 3, 20, &w.run);
    if (status == BROAD_OK) status = broad_intervals(ends, w.regression, scores, 20, 0.8);
    if (status == BROAD_OK) status = broad_export_rows(inputs, w.joint, broad_data_row(w.classes, 0), 5, 0);
    return status;
}

static int predictor_used(void)
{
    broad_predictor *predictor = NULL;
    int status = broad_predictor_from_model(&predictor, w.regression);
    broad_predictor_free(predictor);
    predictor = NULL;
    if (status == BROAD_OK) status = broad_model_save(w.joint, w.file, BROAD_FILE_COMPACT);
    if (status == BROAD_OK) status = broad_predictor_load(&predictor, w.file);
    broad_predictor_free(predictor);
    return status;
}

static int exported(void)
{
    const broad_model *models[] = {w.joint, w.chain, w.regression, w.of_table, w.of_photos};
    int status = BROAD_OK;
    for (size_t i = 0; i < 10 && status == BROAD_OK; i++) {
        broad_export_options o;
        broad_export_options_init(&o);
        char *text = NULL;
        void *graph = NULL;
        size_t count;
        o.precision = i % 2 ? BROAD_EXPORT_FLOAT : BROAD_EXPORT_DOUBLE;
        status = broad_model_export_onnx(&graph, &count, NULL, models[i / 2], &o);
        o.precision = i % 2 ? BROAD_EXPORT_INT8 : BROAD_EXPORT_FLOAT;
        o.compact = i % 2 == 0;
        if (status == BROAD_OK) status = broad_model_export_c(&text, &count, NULL, models[i / 2], &o);
        broad_free(text);
        broad_free(graph);
    }
    return status;
}

static int explained(void)
{
    char path[HELPER_PATH];
    broad_explainer *explainer = NULL;
    broad_explanation out = {.size = sizeof out};
    const broad_photo *photo = broad_data_photo(w.prepared, 0);
    size_t output = 1, count;
    join_path(path, w.photos, "Dusty/dusty_01.jpg");
    char *file = read_file(&count, path);
    int status = broad_explainer_open(&explainer, w.of_photos);
    if (status == BROAD_OK) status = broad_photo_explain(&out, explainer, &photo, &output, 1);
    broad_explanation_clear(&out);
    if (status == BROAD_OK) status = broad_explainer_file(&out, explainer, file, count, 0);
    broad_explanation_clear(&out);
    broad_explainer_close(explainer);
    free(file);
    return status;
}

static int planned(void)
{
    broad_plan plan = {.size = sizeof plan};
    broad_ranks_plan ranks = {.size = sizeof ranks};
    broad_options o = options_of("enhance=4x2");
    broad_profile *profile = NULL;
    int status = broad_plan_run(&plan, &o, w.joint, 1000, INPUTS, 3);
    if (status == BROAD_OK) status = broad_plan_ranks(&ranks, &o, 1000, INPUTS, 3, 4);
    if (status == BROAD_OK) status = broad_profile_open(&profile);
    broad_profile_close(profile);
    return status;
}

static int pictures_changed(void)
{
    broad_picture *picture = NULL, *small = NULL, *part = NULL, *back = NULL;
    void *files[3] = {0};
    size_t count;
    uint64_t print;
    int status = broad_picture_new(&picture, 60, 40);
    if (status == BROAD_OK) status = broad_picture_fit(&small, picture, 30);
    if (status == BROAD_OK) status = broad_picture_crop(&part, picture, 1, 2, 30, 20);
    if (status == BROAD_OK) status = broad_picture_jpeg(&files[0], &count, part, 80);
    if (status == BROAD_OK) status = broad_picture_thumbnail(&files[1], &count, picture, 20, 60);
    if (status == BROAD_OK) status = broad_picture_png(&files[2], &count, picture);
    if (status == BROAD_OK) status = broad_picture_decode(&back, files[2], count, 25);
    if (status == BROAD_OK) status = broad_picture_print(&print, picture);
    for (int i = 0; i < 3; i++) broad_free(files[i]);
    broad_picture_free(picture), broad_picture_free(small), broad_picture_free(part), broad_picture_free(back);
    return status;
}

/* ---- every call, in every trouble --------------------------------------------------------------------------------- */

typedef struct call {
    const char *title;
    int (*run)(void);
    int goes_on; /* for some allocations there is another way, such as a photo that is not kept in the cache */
} call;

static const call calls[] = {
    {"read a table", read_table, 0},
    {"read a zipped table", read_zipped, 0},
    {"read a sparse table", read_sparse, 0},
    {"read columns by name", read_named_columns, 0},
    {"read for a model", read_for_model, 0},
    {"read an array with labels", read_array, 0},
    {"read with little memory", read_little_memory, 0},
    {"read photos", read_photos, 0},
    {"read photos with boxes", read_photos_boxes, 0},
    {"read photos with COCO boxes", read_photos_json, 0},
    {"read photos with labels", read_photos_labels, 0},
    {"read photos for a model", read_photos_model, 0},
    {"read photos, cached", read_photos_cache, 1},
    {"read photos, detector", read_photos_detector, 0},
    {"arrays", arrays_with_everything, 0},
    {"split", split_table, 0},
    {"fold", fold_table, 0},
    {"append and pick", put_together, 0},
    {"assign", assign_classes, 0},
    {"project photos", change_photos, 0},
    {"choose maps", choose_maps, 0},
    {"fit, auto", fit_auto, 0},
    {"fit, auto, values", fit_auto_values, 0},
    {"fit, gcv", fit_gcv, 0},
    {"fit, loo", fit_loo, 0},
    {"fit, balanced", fit_balanced, 0},
    {"fit, ranges", fit_ranges, 0},
    {"fit, photos", fit_photos, 0},
    {"fit, weighted", fit_weighted, 0},
    {"fit, ranks", fit_ranked, 0},
    {"fit, autoencoder", fit_autoencoder, 0},
    {"fit, spilled", fit_spilled, 0},
    {"fit, validated", validated, 0},
    {"grow, joint", grow_joint, 0},
    {"grow, chain", grow_chain, 0},
    {"learn without old rows", forget_rows, 0},
    {"correct", correct_rows, 0},
    {"sums", sums_of_rows, 0},
    {"compact copy", copy_compact, 0},
    {"save and load", save_all, 0},
    {"describe", tell_about, 0},
    {"remember", remember_rows, 0},
    {"importance", importance_of_inputs, 0},
    {"verify", verified, 0},
    {"evaluate", judged, 0},
    {"predict", predicted, 0},
    {"predictor", predictor_used, 0},
    {"export", exported, 0},
    {"explain", explained, 0},
    {"plan", planned, 0},
    {"pictures", pictures_changed, 0},
};
enum { CALLS = sizeof calls / sizeof calls[0] };

/* Places of a call that are tried: all where it is counted what was run. */
#ifdef HELPER_COUNTED
enum { MOST_RUNS = 500 };
#else
enum { MOST_RUNS = HELPER_SANITIZED ? 40 : 250 };
#endif

static int as_expected(const call *c, which kind, int status)
{
    if (kind == MEMORY) return status == BROAD_NO_MEMORY || (c->goes_on && status == BROAD_OK);
    if (kind == STOP) return status == BROAD_INTERRUPTED || status == BROAD_OK;
    if (kind == SYSTEM) return status == BROAD_OK || (status != BROAD_BUG && *broad_error_message());
    return status == BROAD_IO || status == BROAD_CANNOT_WRITE || (c->goes_on && status == BROAD_OK);
}

/* As often as there are places; the last run meets no new one. */
static size_t in_trouble(const call *c, which kind)
{
    size_t runs = 0;
    trouble_forget(&places);
    for (;;) {
        size_t before = atomic_load(&live), files = open_files(), seen = places.count;
        chosen = kind;
        places.armed = 1;
        int status = c->run();
        chosen = NONE;
        if (atomic_load(&live) != before) fail_msg("%s: place %zu: a leak", c->title, places.count);
        if (open_files() != files) fail_msg("%s: place %zu: a file stays open", c->title, places.count);
        if (places.count == seen) {
            if (status != BROAD_OK) fail_msg("%s: %s: %s", c->title, broad_status_name(status), broad_error_message());
            return runs;
        }
        if (!as_expected(c, kind, status))
            fail_msg("%s: place %zu: %s: %s", c->title, places.count, broad_status_name(status), broad_error_message());
        if (++runs >= MOST_RUNS) break;
    }
    assert_ok(c->run());
    return runs;
}

static void every_call(which kind)
{
    size_t all = 0;
    for (size_t i = 0; i < CALLS; i++) {
        size_t runs = in_trouble(&calls[i], kind);
        print_message("%-28s %zu\n", calls[i].title, runs);
        all += runs;
    }
    print_message("%zu places\n", all);
    assert_true(all > (kind == DISK ? 10 : 50));
}

static void memory_gives_out(void **state)
{
    (void)state;
    every_call(MEMORY);
}

static void the_caller_says_stop(void **state)
{
    (void)state;
    every_call(STOP);
}

static void the_disk_fails(void **state)
{
    (void)state;
    every_call(DISK);
}

static void the_system_refuses(void **state)
{
    (void)state;
    every_call(SYSTEM);
}

int main(void)
{
    broad_allocator allocator = {allocate, release, NULL};
    real_calls = broad__file_calls_used;
    broad__file_calls_used = (broad__file_calls){make_temporary, write_some, sync_file, close_file, move_file, NULL};
    broad_set_allocator(&allocator);
    json_set_alloc_funcs(allocate_json, release_json);
    world_open();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_gives_out),
        cmocka_unit_test(the_caller_says_stop),
        cmocka_unit_test(the_disk_fails),
        cmocka_unit_test(the_system_refuses),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    world_close();
    json_set_alloc_funcs(malloc, free);
    broad_set_allocator(NULL);
    return failed;
}
