/* The table of commands. Parser, help, manual pages, completion and docs/commands.md are made from it. */
#include <stdio.h>
#include <string.h>

#include "cli.h"

const char *const cli_tagline = "broad learning: networks that train in seconds and certify their convergence";

const char *const cli_exit_codes = "0\tdone\n"
                                   "1\tfailed; for verify: the certificate does not hold\n"
                                   "2\twrong usage\n"
                                   "65\tbad data\n"
                                   "66\tno such input\n"
                                   "70\tinternal error\n"
                                   "71\tout of memory\n"
                                   "73\tcannot write\n"
                                   "74\tinput or output error\n"
                                   "76\tbad model file\n"
                                   "130, 143\tinterrupted or terminated; the work so far is saved\n";

/* clang-format off */
#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define SECTION(title, array) {title, array, COUNT(array), NULL}
#define LIBRARY(title, names) {title, NULL, 0, names}
#define END {NULL, NULL, 0, NULL}
/* clang-format on */

static const broad_option target_chosen[] = {
    {"target", 0, "COL", NULL, NULL,
     "target column, by name or number from 1, or several with commas between; the last one unless given"},
};

static const broad_option target_like_model[] = {
    {"target", 0, "COL", NULL, NULL, "target column, where the model's is not to be found"},
};

static const broad_option target_apart[] = {
    {"labels", 0, "FILE", NULL, NULL, "targets kept in a file of their own (CSV, NPY, IDX); DATA has inputs only"},
};

static const broad_option reading[] = {
    {"group", 0, "COL", NULL, NULL,
     "column whose equal values stay together in a split and in leave-one-out; it is not an input"},
    {"weight", 0, "COL", NULL, NULL, "column that says how much each row counts, a number above 0; it is not an input"},
    {"categorical", 0, "COLS|auto", NULL, NULL,
     "columns of categories, by name or number with commas between; each level becomes an input; auto: those with "
     "text"},
    {"task", 0, "TASK", "auto|classify|regress", "auto",
     "what the targets are; auto: text makes classes, numbers a regression"},
    {"missing", 0, "WHAT", "error|mean", "error", "what to do about empty fields: refuse, or use the column's mean"},
};

static const broad_option data_reading[] = {
    {"group", 0, "COL", NULL, NULL, "column whose equal values stay together in a split"},
    {"task", 0, "TASK", "auto|classify|regress", "auto",
     "what the targets are; auto: text makes classes, numbers a regression"},
};

static const broad_option text_files[] = {
    {"header", 0, "WHETHER", "auto|yes|no", "auto", "whether the first line names the columns"},
    {"separator", 0, "CHAR|auto", NULL, "auto", "between fields: one character, or tab"},
};

static const broad_option cv_folds[] = {
    {"folds", 0, "COUNT", NULL, "5", "parts the rows are dealt into; each is tested on once, by a model of the others"},
    {"repeat", 0, "COUNT", NULL, "1", "do it all so often, with the seed plus 0, 1, 2, ..."},
};

static const broad_option cv_output[] = {
    {"verbose", 'v', NULL, NULL, NULL, "also print a line for each fold"},
};

static const broad_option tune_search[] = {
    {"budget", 0, "SECONDS", NULL, "60", "how long to search; a trial that is not done by then does not count"},
    {"trials", 0, "COUNT", NULL, NULL, "end after so many trials, those of the state included"},
    {"by", 0, "WHAT", "cv|loo", "cv", "score of a trial: cross-validation, or the model's own leave-one-out estimate"},
    {"folds", 0, "COUNT", NULL, "5", "folds of the cross-validation"},
    {"metric", 0, "NAME", "auto|accuracy|precision|recall|f1|brier|rmse|mae|r2", "auto",
     "what the score is; auto: accuracy, or rmse of a regression"},
    {"kinds", 0, "LIST", NULL, NULL, "kinds of network to look at, with commas between; all unless given"},
    {"rows", 0, "COUNT", NULL, NULL, "search on so many rows, drawn at random; on all unless given"},
};

static const broad_option tune_output[] = {
    {"output", 'o', "FILE", NULL, NULL, "fit the best settings to all rows and save the model"},
    {"state", 0, "FILE", NULL, NULL, "keep every finished trial here; the same command goes on from it"},
};

static const broad_option testing[] = {
    {"holdout", 0, "FRACTION", NULL, NULL,
     "keep this part of the rows out of training and test on them: class by class, or by whole groups"},
    {"test", 0, "DATA", NULL, NULL, "test on the rows of another file"},
    {"test-labels", 0, "FILE", NULL, NULL, "targets of --test, where --labels is used"},
};

static const broad_option testing_file[] = {
    {"test", 0, "DATA", NULL, NULL, "test on the rows of another file; else on those that fit kept apart"},
    {"test-labels", 0, "FILE", NULL, NULL, "targets of --test, where --labels is used"},
};

static const broad_option fit_output[] = {
    {"output", 'o', "FILE", NULL, "model.broad", "where the model goes; - is standard output"},
};

static const broad_option grown_output[] = {
    {"output", 'o', "FILE", NULL, NULL, "where the model goes; it replaces MODEL unless given"},
};

static const broad_option model_output[] = {
    {"compact", 0, NULL, NULL, NULL, "leave out the random weights: the seed draws them again on loading"},
    {"keep-stats", 0, NULL, NULL, NULL,
     "also write MODEL.stats, sums over the training rows: 'learn' can then do without these rows"},
};

static const broad_option layer_output[] = {
    {"checkpoint", 0, "LAYERS", NULL, NULL, "save the model after every so many layers"},
};

static const broad_option planning[] = {
    {"plan", 0, NULL, NULL, NULL, "print the memory and work this will take, and do nothing; exit code 71: too much"},
};

static const broad_option force_memory[] = {
    {"force", 0, NULL, NULL, NULL, "start even if the memory seems too small"},
};

static const broad_option force_rows[] = {
    {"force", 0, NULL, NULL, NULL, "go on with other rows than those of the model, or with too little memory"},
};

static const broad_option grow_increment[] = {
    {"enhance", 0, "Q[xL]", NULL, NULL, "add L layers of Q enhancement nodes; with --features Q nodes for each group"},
    {"features", 0, "GxK", NULL, NULL, "add G groups of K feature nodes, each with a layer of its own"},
};

static const broad_option learn_increment[] = {
    {"with", 0, "OLD", NULL, NULL, "the rows the model was trained on; again for each further file, in order"},
    {"with-labels", 0, "FILE", NULL, NULL, "targets of OLD, where they are kept apart; again for each --with"},
    {"enhance", 0, "Q[xL]", NULL, NULL,
     "add L layers of Q enhancement nodes; unless given none where all weights are joint, else one as wide as fit was "
     "told"},
    {"weight", 0, "W|auto", NULL, NULL,
     "how much each new row counts beside an old one; auto: each as little as makes all right (classes, joint "
     "weights). auto for photos, else 1"},
    {"new-classes", 0, NULL, NULL, NULL, "labels the model does not know become further classes"},
    {"forgetful", 0, NULL, NULL, NULL,
     "fit the new layers to the new rows alone: the model may get worse on the old ones"},
};

static const broad_option labels_of_each[] = {
    {"labels", 0, "FILE", NULL, NULL, "targets kept in a file of their own (CSV, NPY, IDX); again for each DATA"},
};

static const broad_option predict_output[] = {
    {"output", 'o', "FILE", NULL, "-", "where the predictions go; - is standard output"},
    {"format", 0, "FORMAT", "csv|jsonl", "csv", "a table, or one JSON object a line"},
    {"proba", 0, NULL, NULL, NULL, "also the probability of each class, calibrated by leave-one-out"},
    {"interval", 0, "LEVEL", NULL, NULL,
     "also an interval that holds this part of the values, such as 0.9, from leave-one-out residuals"},
};

static const broad_option predict_pictures[] = {
    {"heatmap", 0, "DIR", NULL, NULL,
     "photos: also a picture of each in the new folder DIR, with the regions that speak for the positive class in "
     "colour"},
};

static const broad_option report_output[] = {
    {"output", 'o', "PATH", NULL, NULL,
     "the new folder for the report, or with --training the file; it appears complete or not at all"},
    {"training", 0, NULL, NULL, NULL,
     "a page about how MODEL came about instead: DATA are the rows that it was trained on, and may be left out"},
    {"worst", 0, "COUNT", NULL, "60", "photos that the page shows with a heat map, the worst first, 1000 at most"},
    {"title", 0, "TEXT", NULL, "Inspection report", "heading of the page; with --training 'Training report'"},
};

static const broad_option run_page[] = {
    {"report", 0, "FILE", NULL, NULL,
     "also write a page about the run: one HTML file with norms, bounds, curves, verdicts, times, settings, "
     "certificate"},
};

static const broad_option eval_measures[] = {
    {"interval", 0, "LEVEL", NULL, NULL, "level of the prediction intervals of a regression; 0.9 unless given"},
    {"curve", 0, NULL, NULL, NULL,
     "also the figures of the network cut after each layer: nodes, norm of the residual, accuracy or RMSE"},
    {"loo", 0, NULL, NULL, NULL,
     "with --curve: also the leave-one-out norm of each layer; the rows must be those of the training"},
    {"part", 0, "WHICH", "all|train|test", "all",
     "of DATA, which fit was given: all rows, those it trained on, changed copies of photos among them, or those that "
     "--holdout kept apart"},
};

static const broad_option info_output[] = {
    {"layers", 0, NULL, NULL, NULL, "list every layer of the certificate"},
};

static const broad_option photo_maps[] = {
    {"map", 0, "MAPS", NULL, "auto",
     "how a photo becomes inputs: pixels, descriptors, windows, or several with commas between; auto: of descriptors "
     "and "
     "windows what does best by leave-one-out, in preset paper pixels"},
    {"side", 0, "PIXELS", NULL, NULL, "side of the square of pixels; 32 unless given, 64 in preset paper"},
};

static const broad_option photo_components[] = {
    {"components", 0, "COUNT|auto|none", NULL, NULL,
     "principal components that the network gets in the place of these inputs; auto: a third of the rows, 192 at most; "
     "auto unless given, in preset paper none"},
};

static const broad_option photo_rows[] = {
    {"crop", 0, "WHAT", "none|find", "none", "look at whole photos, or at the region that looks most like a panel"},
    {"each-box", 0, NULL, NULL, NULL,
     "every box is a row of its own; otherwise the best one of each photo is looked at"},
    {"augment", 0, "COUNT", NULL, NULL,
     "also train on so many changed copies of each photo: turned, shifted, sheared, zoomed, flipped, lighter or "
     "darker"},
    {"no-groups", 0, NULL, NULL, NULL, "do not look for near-duplicates, which otherwise stay together in a split"},
};

static const broad_option photo_files[] = {
    {"boxes", 0, "PATH", NULL, NULL,
     "where the panels are in the photos: a folder of YOLO text files, a COCO JSON file, or a CSV file"},
    {"detector", 0, "COMMAND", NULL, NULL,
     "program that finds the panels: it gets a file name a line and prints a line of JSON with boxes for each"},
    {"detector-seconds", 0, "SECONDS", NULL, "60", "how long the detector may take to start, and for each photo"},
    {"strict", 0, NULL, NULL, NULL, "a file that cannot be read is an error; otherwise it is listed and left out"},
    {"cache", 0, "DIR|no", NULL, NULL,
     "folder of prepared features, which makes the next run fast; $XDG_CACHE_HOME/broad or ~/.cache/broad unless "
     "given"},
};

static const broad_option data_output[] = {
    {"all", 0, NULL, NULL, NULL, "list all files and groups, not only the first of them"},
    {"export", 0, "DIR", NULL, NULL,
     "instead write the inputs as fit has them before scaling into the new folder DIR, for other programs"},
};

static const broad_option render_photos[] = {
    {"count", 0, "COUNT", NULL, "200", "photos to make, 1000000 at most"},
    {"size", 0, "PIXELS", NULL, "256", "length of a photo's sides, 16 to 8192"},
    {"severity", 0, NULL, NULL, NULL,
     "for a regression: every degree of dirt, all photos in DIR/photos, and DIR/labels.csv with file and severity"},
};

static const broad_option demo_story[] = {
    {"what", 0, "WHAT", "photos|spirals", "photos", "clean and dusty solar panels, or a table of two spirals"},
    {"count", 0, "COUNT", NULL, "300", "photos to learn from, 40 to 10000; a third as many more are judged"},
};

static const broad_option render_output[] = {
    {"format", 0, "FORMAT", "jpeg|png", "jpeg", "of the photos"},
    {"masks", 0, NULL, NULL, NULL,
     "also maps as grey PNG: DIR/.masks/dirt, the light that the dirt takes, and DIR/.masks/panel, where the panel is"},
};

static const broad_option profiling[] = {
    {"profile", 0, NULL, NULL, NULL,
     "say where the time goes: each stage's seconds, operations, bytes, part of the peak"},
};
static const broad_option doctor_measures[] = {
    {"quick", 0, NULL, NULL, NULL, "without measuring how fast the machine is"},
};
static const broad_option help_output[] = {
    {"man", 0, NULL, NULL, NULL, "print the manual page of COMMAND, or of broad itself, as man(7) source"},
    {"write-man", 0, "DIR", NULL, NULL, "write all manual pages into DIR"},
    {"completion", 0, "SHELL", "bash|zsh|fish", NULL, "print the completion script for a shell"},
    {"markdown", 0, NULL, NULL, NULL, "print the reference of all commands as Markdown"},
};

static const broad_option common[] = {
    {"json", 0, NULL, NULL, NULL, "print the result as one JSON object"},
    {"quiet", 'q', NULL, NULL, NULL, "no progress and no remarks"},
    {"help", 'h', NULL, NULL, NULL, "print help on this command"},
};

#define SUPERVISION "supervise gamma tries range-steps relax relax-count select"
#define STOP_RULES "until until-accuracy max-layers max-nodes max-seconds patience"

static const cli_section fit_sections[] = {
    SECTION("Output", fit_output),
    SECTION("Output", run_page),
    SECTION("Output", model_output),
    SECTION("Output", layer_output),
    SECTION("Reading DATA", target_chosen),
    SECTION("Reading DATA", target_apart),
    SECTION("Reading DATA", reading),
    SECTION("Reading DATA", text_files),
    SECTION("Photos", photo_maps),
    SECTION("Photos", photo_components),
    SECTION("Photos", photo_rows),
    SECTION("Photos", photo_files),
    SECTION("Testing", testing),
    LIBRARY("Network", "*"),
    LIBRARY("Supervision", SUPERVISION),
    LIBRARY("Stop rules", STOP_RULES),
    LIBRARY("Run", "seed threads memory"),
    SECTION("Run", planning),
    SECTION("Run", force_memory),
    SECTION("Run", profiling),
    SECTION("Common", common),
    END,
};
static const cli_section cv_sections[] = {
    SECTION("Folds", cv_folds),
    SECTION("Output", cv_output),
    SECTION("Reading DATA", target_chosen),
    SECTION("Reading DATA", target_apart),
    SECTION("Reading DATA", reading),
    SECTION("Reading DATA", text_files),
    SECTION("Photos", photo_maps),
    SECTION("Photos", photo_components),
    SECTION("Photos", photo_rows),
    SECTION("Photos", photo_files),
    LIBRARY("Network", "* memory"),
    LIBRARY("Supervision", SUPERVISION),
    LIBRARY("Stop rules", STOP_RULES),
    LIBRARY("Run", "seed threads"),
    SECTION("Run", force_memory),
    SECTION("Common", common),
    END,
};
static const cli_section tune_sections[] = {
    SECTION("Search", tune_search),
    SECTION("Output", tune_output),
    SECTION("Reading DATA", target_chosen),
    SECTION("Reading DATA", target_apart),
    SECTION("Reading DATA", reading),
    SECTION("Reading DATA", text_files),
    SECTION("Photos", photo_maps),
    SECTION("Photos", photo_components),
    SECTION("Photos", photo_rows),
    SECTION("Photos", photo_files),
    LIBRARY("Run", "seed threads"),
    LIBRARY("Settings that are fixed where they are given", "* memory"),
    SECTION("Common", common),
    END,
};
static const cli_section grow_sections[] = {
    SECTION("What is added", grow_increment),
    SECTION("Output", grown_output),
    SECTION("Output", run_page),
    SECTION("Output", model_output),
    SECTION("Output", layer_output),
    SECTION("Reading DATA", target_like_model),
    SECTION("Reading DATA", labels_of_each),
    SECTION("Reading DATA", text_files),
    SECTION("Photos", photo_files),
    SECTION("Testing", testing_file),
    LIBRARY("Stop rules", STOP_RULES),
    LIBRARY("Run", "threads memory"),
    SECTION("Run", planning),
    SECTION("Run", force_rows),
    SECTION("Run", profiling),
    SECTION("Common", common),
    END,
};
static const cli_section learn_sections[] = {
    SECTION("What is added", learn_increment),
    SECTION("Output", grown_output),
    SECTION("Output", run_page),
    SECTION("Output", model_output),
    SECTION("Reading NEW and OLD", target_like_model),
    SECTION("Reading NEW and OLD", target_apart),
    SECTION("Reading NEW and OLD", text_files),
    SECTION("Photos", photo_files),
    SECTION("Testing", testing_file),
    LIBRARY("Stop rules", STOP_RULES),
    LIBRARY("Run", "threads memory"),
    SECTION("Run", planning),
    SECTION("Run", force_rows),
    SECTION("Run", profiling),
    SECTION("Common", common),
    END,
};
static const cli_section verify_sections[] = {
    SECTION("Reading DATA", target_like_model),
    SECTION("Reading DATA", labels_of_each),
    SECTION("Reading DATA", text_files),
    SECTION("Photos", photo_files),
    LIBRARY("Run", "threads memory"),
    SECTION("Common", common),
    END,
};
static const cli_section predict_sections[] = {
    SECTION("Output", predict_output),   SECTION("Output", predict_pictures),
    SECTION("Reading DATA", text_files), SECTION("Photos", photo_files),
    LIBRARY("Run", "threads memory"),    SECTION("Run", profiling),
    SECTION("Common", common),           END,
};
static const cli_section report_sections[] = {
    SECTION("Output", report_output),
    SECTION("Photos", photo_files),
    SECTION("Reading DATA, with --training", target_like_model),
    SECTION("Reading DATA, with --training", labels_of_each),
    SECTION("Reading DATA, with --training", text_files),
    SECTION("Testing, with --training", testing_file),
    LIBRARY("Run", "threads memory"),
    SECTION("Common", common),
    END,
};
static const cli_section eval_sections[] = {
    SECTION("Measures", eval_measures),
    SECTION("Reading DATA", target_like_model),
    SECTION("Reading DATA", target_apart),
    SECTION("Reading DATA", text_files),
    SECTION("Photos", photo_files),
    LIBRARY("Run", "threads memory"),
    SECTION("Run", profiling),
    SECTION("Common", common),
    END,
};
static const cli_section data_sections[] = {
    SECTION("Output", data_output),
    SECTION("Reading DATA", target_chosen),
    SECTION("Reading DATA", target_apart),
    SECTION("Reading DATA", data_reading),
    SECTION("Reading DATA", text_files),
    SECTION("Photos", photo_files),
    SECTION("Photos that are exported", photo_maps),
    SECTION("Photos that are exported", photo_rows),
    LIBRARY("Run", "seed threads"),
    SECTION("Common", common),
    END,
};
static const cli_section info_sections[] = {SECTION("Output", info_output), SECTION("Common", common), END};
static const cli_section demo_sections[] = {
    SECTION("Demonstration", demo_story),
    LIBRARY("Run", "seed threads"),
    SECTION("Common", common),
    END,
};
static const cli_section render_sections[] = {
    SECTION("Photos", render_photos),
    SECTION("Output", render_output),
    LIBRARY("Run", "seed threads"),
    SECTION("Common", common),
    END,
};
static const cli_section doctor_sections[] = {
    SECTION("Measures", doctor_measures),
    LIBRARY("Run", "threads"),
    SECTION("Common", common),
    END,
};
static const cli_section help_sections[] = {SECTION("Output", help_output), SECTION("Common", common), END};
static const cli_section common_sections[] = {SECTION("Common", common), END};

/* clang-format off */
static const cli_command commands[] = {
    {
        .name = "fit",
        .purpose = "train a network and save it with its certificate",
        .positional = "DATA",
        .fewest = 1,
        .most = 1,
        .run = cli_fit,
        .sections = fit_sections,
        .description = "DATA is a CSV, LIBSVM, NPY or IDX file, plain or gzipped, or - for standard input; the "
                       "format is found from the content. Or it is a folder of JPEG and PNG photos with one "
                       "sub-folder a class, or with --labels LIST.csv, whose columns are file and label or number. The last column is the target unless --target or --labels "
                       "says otherwise. Text targets are classes, and so are the whole numbers of LIBSVM files and "
                       "of binary label files; other numbers are a regression; --task decides otherwise. Layers of "
                       "random nodes are added one by one, each fitted to what the earlier ones left, and each kept "
                       "only if it passes the supervision test; every layer's figures go into the model as a "
                       "certificate that 'broad verify' can check. When no more layers pass, the run ends as "
                       "'stalled' with a valid model. An interrupt ends it early and saves the model so far; so do the "
                       "stop rules, of which the first that is met counts, and 'broad grow' goes on from there. A run "
                       "that does not fit in memory is refused before it starts.",
        .examples = {
            {"broad fit iris.csv --holdout 0.3", "train on 70 % of the rows, test on the rest, write model.broad"},
            {"broad fit house.csv --target price -o house.broad", "predict the numbers of one column"},
            {"broad fit train.npy --labels labels.npy --task classify", "inputs and targets in separate files"},
            {"broad fit scans.csv --group patient --holdout 0.3", "no patient on both sides of the split"},
            {"broad fit cars.csv --target price --categorical make,fuel", "two columns of text among the inputs"},
            {"broad fit iris.csv --preset paper --kind brls --json", "as in the paper, unsupervised, for a program"},
            {"broad fit panels/ --holdout 0.3 -o panels.broad", "photos in panels/Clean and panels/Dusty"},
            {"broad fit photos/ --labels list.csv --target power_loss", "a number for each photo"},
        },
    },
    {
        .name = "cv",
        .purpose = "estimate by cross-validation how well a network does",
        .positional = "DATA",
        .fewest = 1,
        .most = 1,
        .run = cli_cv,
        .sections = cv_sections,
        .description = "Deals the rows into folds, trains on all but one and tests on that one, for each fold in turn, "
                       "and prints mean and standard deviation of every measure over the folds. Folds are whole groups "
                       "with --group, else class by class, else random rows. With --repeat they are dealt again and "
                       "again, with a further seed each time: the mean and the deviation are over the folds of all "
                       "repeats, and a second deviation, of the means of the repeats, says how much the deal and the "
                       "random nodes matter. Everything that fit can be told about the network can be told here; no "
                       "model is kept. An interrupt prints what the folds done so far came to.",
        .examples = {
            {"broad cv iris.csv", "five folds, preset auto"},
            {"broad cv house.csv --target price --kind rvfl --folds 10 --repeat 3", "30 networks"},
            {"broad cv scans.csv --group patient --verbose", "no patient on both sides; a line for each fold"},
            {"broad cv panels/ --repeat 4", "photos; near-duplicates are in the same fold"},
        },
    },
    {
        .name = "tune",
        .purpose = "search for better settings within a time budget",
        .positional = "DATA",
        .fewest = 1,
        .most = 1,
        .run = cli_tune,
        .sections = tune_sections,
        .description = "Tries settings of the networks on DATA until the time is over and prints the best as a command "
                       "line for fit. First the presets of every kind, then random draws, then changes to the best so "
                       "far. A setting given here is fixed, all others are searched. A trial that is clearly worse than "
                       "the best is dropped before its last fold; one that fails is noted with the reason. The same "
                       "seed gives the same trials, whatever the time. The score of the winner is a little too good, "
                       "since it was chosen for it: keep rows apart that the search never sees, and test on them.",
        .examples = {
            {"broad tune iris.csv --budget 30", "the best settings in half a minute"},
            {"broad tune iris.csv --kinds bls,rvfl --activation tanh -o best.broad", "search less; save the best"},
            {"broad tune house.csv --target price --budget 3600 --state tune.json",
             "an hour that may be interrupted; the same line goes on"},
            {"broad tune large.csv --rows 5000 -o best.broad", "search on some rows, fit the best to all"},
        },
    },
    {
        .name = "grow",
        .purpose = "add layers or features to a model, without retraining",
        .positional = "MODEL DATA...",
        .fewest = 2,
        .most = 1 + CLI_FILES_MAX,
        .run = cli_grow,
        .sections = grow_sections,
        .description = "Goes on where the training of MODEL ended, with the settings stored in it; a chain of layers gets "
                       "the bytes of one made at once, joint weights are solved again. bls and rvfl have no layers: "
                       "--enhance 100x2 adds one block of 200 nodes. DATA is what it was trained on, the file given to fit and then "
                       "those given to learn, in order; where fit kept a part of the first apart, that part is left "
                       "out again and tested on. Other rows are refused, with what differs. Layers pass the same "
                       "test as before and enter the certificate. MODEL is replaced unless -o is given, and so is "
                       "MODEL.stats if it is there; with --keep-stats alone only the sums are made.",
        .examples = {
            {"broad grow model.broad iris.csv --enhance 100x10", "ten more layers of 100 nodes"},
            {"broad grow model.broad iris.csv --features 2x10 --enhance 200",
             "two more groups of 10 feature nodes, each with 200 enhancement nodes"},
            {"broad grow model.broad iris.csv --enhance 100x1000 --patience 5",
             "as long as the rows kept apart are classified better"},
            {"broad grow model.broad iris.csv --enhance 50x1000 --max-layers 50 --checkpoint 1",
             "up to 50 layers in all; after a crash the same line goes on"},
        },
    },
    {
        .name = "learn",
        .purpose = "add rows to a model, without retraining",
        .positional = "MODEL NEW",
        .fewest = 2,
        .most = 2,
        .run = cli_learn,
        .sections = learn_sections,
        .description = "With the old rows at hand (--with OLD), joint weights are solved again on all rows as if trained "
                       "on them at once (or with more weight for the new ones: --weight); in a chain, and where weights are solved with each layer, a new layer is "
                       "fitted on all rows to what the model leaves over. Without them, if a chain was made with --keep-stats, the new "
                       "rows enter the sums in MODEL.stats and every layer is solved again exactly as if trained on "
                       "all rows. Without either, --forgetful fits a new layer to the new rows alone, and the model "
                       "may get worse on the old ones. Labels never seen before are refused unless --new-classes is "
                       "given. MODEL and MODEL.stats are replaced unless -o is given.",
        .examples = {
            {"broad learn model.broad may.csv --with april.csv", "the rows of both files"},
            {"broad learn model.broad june.csv --with april.csv --with may.csv", "the next month"},
            {"broad learn model.broad may.csv", "without the old rows, after 'broad fit april.csv --keep-stats'"},
            {"broad verify model.broad april.csv may.csv", "the certificate after 'learn --with'"},
            {"broad learn panels.broad corrected/ --with panels/", "photos that were judged wrongly, in their right folder"},
        },
    },
    {
        .name = "predict",
        .purpose = "apply a model to rows",
        .positional = "MODEL DATA...",
        .fewest = 2,
        .most = CLI_NO_LIMIT,
        .run = cli_predict,
        .sections = predict_sections,
        .description = "Prints one line for each row of DATA: its number, then the label and a score for each class, "
                       "or the value of each target. Columns are found by the names the model was trained with, or "
                       "by place where DATA has no header; a target column may be there or not. With --proba columns "
                       "proba_CLASS follow the label; with --interval columns TARGET_low and TARGET_high follow each "
                       "value. Both need the leave-one-out estimate that fit makes (--loo). A model of photos takes "
                       "any number of photos and folders, or - for names on standard input, one a line; the first "
                       "column is then file, and where boxes were given the box follows: left, top, right, bottom. "
                       "Files that cannot be read are listed on standard error and left out; with --strict they "
                       "are an error.",
        .examples = {
            {"broad predict model.broad new.csv", "a CSV table on standard output"},
            {"broad predict model.broad new.csv -o out.csv", "the same into a file, complete or not at all"},
            {"broad predict model.broad new.csv --proba", "with the probability of each class"},
            {"broad predict house.broad new.csv --interval 0.9", "with a range that holds 9 of 10 values"},
            {"zcat new.csv.gz | broad predict model.broad - --format jsonl", "rows from standard input, JSON lines"},
            {"broad predict panels.broad photos/ one_more.jpg --proba", "photos: a line for each"},
            {"find . -name '*.JPG' | broad predict panels.broad - -o out.csv", "names from standard input"},
        },
    },
    {
        .name = "eval",
        .purpose = "measure a model on rows with known targets",
        .positional = "MODEL DATA",
        .fewest = 2,
        .most = 2,
        .run = cli_eval,
        .sections = eval_sections,
        .description = "Prints accuracy, precision, recall, F1 and error rates with the confusion table, or RMSE, "
                       "MAE and R2. With two classes the measures are of the positive one; with more, the mean over "
                       "the classes. If the model has a leave-one-out estimate, also the Brier score, log loss and "
                       "calibration error of its probabilities, or the coverage and mean width of its prediction "
                       "intervals. With --curve the norm of what is left of the targets, in the scale that training "
                       "has, and accuracy or RMSE after each layer, on any rows. That is known of a chain, where every "
                       "layer was fitted to what those before it left over; where one ridge regression made all output "
                       "weights together, only the whole network has figures.",
        .examples = {
            {"broad eval model.broad test.csv", "figures to read"},
            {"broad eval model.broad test.csv --json", "figures for a program"},
            {"broad eval model.broad test.csv --curve", "what each layer adds on rows it has not seen"},
            {"broad eval model.broad all.csv --part test --curve", "the same on the rows that --holdout kept apart"},
            {"broad eval model.broad all.csv --part train --curve --loo", "and on those it was trained on"},
            {"broad eval panels.broad others/", "photos in one sub-folder a class"},
        },
    },
    {
        .name = "report",
        .purpose = "judge photos and write a report about them, or one about training",
        .positional = "MODEL [PHOTOS...|DATA...]",
        .fewest = 1,
        .most = CLI_NO_LIMIT,
        .run = cli_report,
        .sections = report_sections,
        .description = "Judges photos and folders of photos, or - for names on standard input, and makes the folder DIR with "
                       "report.html, one page without anything from outside, to look at or print: counts, a histogram of "
                       "the probabilities, a sketch of the places where the files have coordinates, the worst photos with "
                       "heat maps, a table of all and the limits of validity; findings.csv: file, label, probability (of "
                       "the positive class), verdict_probability, severity, low, high, area, time, latitude, longitude, "
                       "altitude, relative_altitude, yaw, group (the first of near-duplicates), and where parts of photos "
                       "were looked at the box; findings.geojson: those with coordinates; skipped.csv: file, reason. "
                       "Severity is the probability of the positive class, or the predicted value; area is the part of "
                       "the picture that speaks clearly for it. Neither is a measurement of power loss. A verdict of a "
                       "probability below 0.65 counts as unsure. With --training it is a page about MODEL itself, one HTML file "
                       "without anything from outside: norms and bounds of every layer, draws and ranges, the "
                       "settings, the certificate, and what it all means. DATA are the rows that MODEL was trained on, as "
                       "for 'grow': with them come curves, verdicts, and the certificate checked again, on the rows that fit kept "
                       "apart, or those of --test, also what to expect of new rows. Pictures are drawn by gnuplot; "
                       "where that is missing there are tables. Exit code 1: the page is made, but the certificate does not "
                       "hold on DATA.",
        .examples = {
            {"broad report panels.broad flight/ -o report", "open report/report.html"},
            {"broad report panels.broad flight/ -o report --worst 200 --title 'Roof 7, May'", "more pictures, a heading"},
            {"find . -newer last -name '*.JPG' | broad report panels.broad - -o today", "names from standard input"},
            {"broad report --training panels.broad panels/ -o training.html", "how the model came about"},
        },
    },
    {
        .name = "info",
        .purpose = "show what a model file holds",
        .positional = "MODEL",
        .fewest = 1,
        .most = 1,
        .run = cli_info,
        .sections = info_sections,
        .description = "Prints how the model was trained, what it expects, its leave-one-out estimate and the "
                       "certificate of its layers. The file is checked completely on loading.",
        .examples = {
            {"broad info model.broad", "an overview"},
            {"broad info model.broad --layers", "with every layer"},
            {"broad info model.broad --json", "every setting and the certificate"},
        },
    },
    {
        .name = "verify",
        .purpose = "check a model's certificate against the training rows",
        .positional = "MODEL DATA...",
        .fewest = 2,
        .most = 1 + CLI_FILES_MAX,
        .run = cli_verify,
        .sections = verify_sections,
        .description = "Recomputes the norm after every layer from DATA by plain loops that share no code with "
                       "training, and checks every inequality of the certificate and the product of the bounds. DATA "
                       "is the file the model was trained on, and after 'learn' each further one in order; where a "
                       "part of the first was kept out of training, that part is left out again. Exit code 0: it "
                       "holds; 1: it does not, with the reason.",
        .examples = {
            {"broad verify model.broad iris.csv", "after 'broad fit iris.csv'"},
        },
    },
    {
        .name = "data",
        .purpose = "look at photos or a table before training",
        .positional = "DATA",
        .fewest = 1,
        .most = 1,
        .run = cli_data,
        .sections = data_sections,
        .description = "Of a folder of photos: how many there are of each class, their formats and sizes, files that "
                       "cannot be read with the reason, exact copies, groups of near-duplicates, near-duplicates "
                       "with different labels, the time they span and how many know their place. Of a table: rows, "
                       "inputs, classes or the range of the targets, empty fields and inputs that never change. "
                       "Lines of advice follow where something can be better. Nothing is changed. Exit code 0 whatever "
                       "is found; 65 where DATA cannot be read at all, and with --strict where any file cannot. With --export "
                       "the folder DIR is made, complete or not at all: inputs.npy, of pixels alone bytes, rows x side x side "
                       "x 3, which fit divides by 255, else float32 or float64, rows x inputs; rows.csv: row, file, label or "
                       "targets, group (equal for rows that a split keeps together), copy (0: the photo itself); and "
                       "columns.csv with the names of the inputs. Unless --map is given, photos become descriptors and "
                       "windows. The seed is that of the changed copies. Of tables, empty fields are NaN and columns of text "
                       "are categories, as with fit --missing mean --categorical auto.",
        .examples = {
            {"broad data panels/", "before 'broad fit panels/'"},
            {"broad data photos/ --labels list.csv --json", "for a program, with all files"},
            {"broad data iris.csv", "a table"},
            {"broad data panels/ --export prepared --map pixels --side 64 --augment 4", "pictures for another program"},
        },
    },
    {
        .name = "demo",
        .purpose = "show it all on photos that it makes itself",
        .positional = "[DIR]",
        .most = 1,
        .run = cli_demo,
        .sections = demo_sections,
        .description = "Makes photos of clean and dusty solar panels, others for every --seed, and does with them what "
                       "one would do with one's own: train on a folder of labelled photos, judge new ones, look at "
                       "where the dirt is, correct the wrong verdicts and learn from that, check the certificate, and "
                       "write a report to open in a browser. The steps are the commands render, fit, predict, learn, "
                       "verify and report; what to type for them is printed at the end. --what spirals makes a table of two "
                       "intertwined spirals in noise instead, trains BRLS and BSCRLS side by side, compares them on rows "
                       "kept apart, saves and verifies the model, predicts some points and draws a picture. "
                       "Everything goes into DIR, ./broad-demo unless given; what an earlier demonstration has "
                       "made there is replaced, and nothing else.",
        .examples = {
            {"broad demo", "takes some seconds; then open broad-demo/report/report.html"},
            {"broad demo other --seed 7 --count 1000", "other photos, and more of them"},
            {"broad demo --what spirals", "a table instead of photos"},
        },
    },
    {
        .name = "render",
        .purpose = "make photos of clean and dusty solar panels to train on",
        .positional = "DIR",
        .fewest = 1,
        .most = 1,
        .run = cli_render,
        .sections = render_sections,
        .description = "Draws photos of solar panels on roofs and in the open, in changing light, half of them clean and "
                       "half under dust, streaks, bird droppings, leaves or pollen, and writes them into DIR/Clean and "
                       "DIR/Dusty. DIR/truth.csv says of each: file, label, severity (0 to 1), transmittance (the part "
                       "of the light that reaches the cells), coverage (the part of the panel that loses more than a "
                       "tenth of it), kinds of dirt with + between, and the box of pixels around the panel: left, "
                       "top, right, bottom, the latter two not included. DIR must be empty or not there; it appears "
                       "when all photos are done, and an interrupted run leaves nothing. A photo follows from the seed "
                       "and its number alone: a longer run begins with the same photos.",
        .examples = {
            {"broad render panels", "200 photos, 100 of each class"},
            {"broad render panels --count 2000 --size 128 --seed 7", "others, more and smaller"},
            {"broad render soiling --severity --format png", "photos for a regression, in files that lose nothing"},
            {"broad render panels --masks", "also where the dirt is, and where the panel"},
        },
    },
    {
        .name = "doctor",
        .purpose = "check this machine and the linear algebra below",
        .positional = "",
        .run = cli_doctor,
        .sections = doctor_sections,
        .description = "Prints what it finds: processor, vector instructions, caches, memory and its limits, the kernels in "
                       "use, and whether they agree with plain C. Then it measures for a second how fast "
                       "products, a pass over the rows and memory are, on one thread and on all, and what part of the "
                       "processor's peak that is. Advice follows where something can be better. The exit code is 1 where "
                       "the self-test fails.",
        .examples = {
            {"broad doctor", "when training seems slow"},
            {"broad doctor --quick", "without measuring"},
            {"broad doctor --json | jq .speed.layer", "figures for a script"},
        },
    },
    {
        .name = "version",
        .purpose = "print the version",
        .positional = "",
        .run = cli_version,
        .sections = common_sections,
        .description = "Prints the version.",
        .examples = {
            {"broad version", NULL},
        },
    },
    {
        .name = "help",
        .purpose = "explain a command; make manual pages and completion",
        .positional = "[COMMAND]",
        .most = 1,
        .run = cli_help,
        .sections = help_sections,
        .description = "Prints help made from the tool's own table of commands and options, in the form asked for.",
        .examples = {
            {"broad help fit", "the options of one command"},
            {"broad help --man fit | man -l -", "its manual page"},
            {"source <(broad help --completion bash)", "completion in this shell"},
            {"broad help --write-man ~/.local/share/man/man1", "all manual pages"},
        },
    },
};
/* clang-format on */

size_t cli_command_count(void) { return COUNT(commands); }

const cli_command *cli_command_at(size_t index) { return index < COUNT(commands) ? &commands[index] : NULL; }

const cli_command *cli_command_find(const char *name)
{
    for (size_t i = 0; i < COUNT(commands); i++)
        if (strcmp(commands[i].name, name) == 0) return &commands[i];
    return NULL;
}

int cli_command_named(const cli_command **out, const char *name)
{
    const char *names[COUNT(commands)];
    for (size_t i = 0; i < COUNT(commands); i++) names[i] = commands[i].name;
    *out = cli_command_find(name);
    if (*out) return BROAD_OK;
    const char *nearest = cli_nearest(name, names, COUNT(commands));
    return cli_fail(BROAD_USAGE, "there is no command '%.100s'%s%s%s (see 'broad help')", name,
                    nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

/* Whether `names`, with blanks between, has the name. */
static int names_have(const char *names, const char *name)
{
    size_t length = strlen(name);
    while (names && *names) {
        size_t word = strcspn(names, " ");
        if (word == length && memcmp(names, name, length) == 0) return 1;
        names += word + strspn(names + word, " ");
    }
    return 0;
}

static int named_elsewhere(const cli_command *command, const char *name)
{
    for (const cli_section *section = command->sections; section->title; section++)
        if (names_have(section->library, name)) return 1;
    return 0;
}

int cli_section_starts(const cli_command *command, const cli_section *section)
{
    return section == command->sections || strcmp(section->title, section[-1].title) != 0;
}

size_t cli_section_options(const broad_option **out, const cli_command *command, const cli_section *section)
{
    size_t count = 0;
    for (size_t i = 0; i < section->count && count < CLI_OPTIONS_MAX; i++) out[count++] = &section->options[i];
    for (size_t i = 0; section->library && i < broad_option_count() && count < CLI_OPTIONS_MAX; i++) {
        const broad_option *option = broad_option_at(i);
        int all = section->library[0] == '*';
        if (all ? !named_elsewhere(command, option->name) : names_have(section->library, option->name))
            out[count++] = option;
    }
    return count;
}

size_t cli_command_options(const broad_option **out, const cli_command *command)
{
    size_t count = 0;
    for (const cli_section *section = command->sections; section->title; section++) {
        const broad_option *some[CLI_OPTIONS_MAX];
        size_t more = cli_section_options(some, command, section);
        for (size_t i = 0; i < more && count < CLI_OPTIONS_MAX; i++) out[count++] = some[i];
    }
    return count;
}

const broad_option *cli_library_option(const char *name)
{
    for (size_t i = 0; i < broad_option_count(); i++)
        if (strcmp(broad_option_at(i)->name, name) == 0) return broad_option_at(i);
    return NULL;
}

void cli_option_default(char *out, size_t bytes, const broad_option *option)
{
    broad_options options;
    char automatic[256] = "", paper[256] = "";
    if (option->standard || cli_library_option(option->name) != option) {
        snprintf(out, bytes, "%s", option->standard ? option->standard : "");
        return;
    }
    broad_options_init(&options);
    if (broad_options_get(automatic, sizeof automatic, &options, option->name)) automatic[0] = 0;
    broad_options_preset(&options, BROAD_PRESET_PAPER);
    if (broad_options_get(paper, sizeof paper, &options, option->name)) paper[0] = 0;
    if (strcmp(automatic, paper) == 0) snprintf(out, bytes, "%s", automatic);
    else snprintf(out, bytes, "%s, in preset paper %s", automatic, paper);
}
