/* The table of commands. Parser, help, manual pages, completion and docs/commands.md are made from it. */
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "commands.h"
#include "message.h"

const char *const cli_tagline = "broad learning: networks that train in seconds and certify their convergence";

const char *const cli_exit_codes = "0\tsuccess\n"
                                   "1\tfailed; for verify: the certificate does not hold\n"
                                   "2\tincorrect usage\n"
                                   "65\tinvalid data\n"
                                   "66\tinput not found\n"
                                   "70\tinternal error\n"
                                   "71\tout of memory\n"
                                   "73\tcannot write the output, or another run is changing it\n"
                                   "74\tinput or output error\n"
                                   "76\tinvalid model file\n"
                                   "130, 143\tinterrupted or terminated; what is kept is said\n";

/* clang-format off */
#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define SECTION(title, array) {title, array, COUNT(array), NULL}
#define LIBRARY(title, names) {title, NULL, 0, names}
#define END {NULL, NULL, 0, NULL}
/* clang-format on */

static const broad_option target_chosen[] = {
    {"target", 0, "COL", NULL, NULL,
     "target column, by name or by number from 1; separate several with commas; default: the last column"},
};

static const broad_option target_like_model[] = {
    {"target", 0, "COL", NULL, NULL, "target column, if the model's own is not found"},
};

static const broad_option target_apart[] = {
    {"labels", 0, "FILE", NULL, NULL, "file with the targets (CSV, NPY, IDX); DATA then holds inputs only"},
};

static const broad_option labels_of_new[] = {
    {"labels", 0, "FILE", NULL, NULL, "file with the targets of NEW (CSV, NPY, IDX)"},
};

static const broad_option reading[] = {
    {"inputs", 0, "COLS", NULL, NULL,
     "columns to use as inputs, by name or by number from 1, separated by commas; default: all that have no other use"},
    {"ignore", 0, "COLS", NULL, NULL, "columns to leave out, by name or by number from 1, separated by commas"},
    {"group", 0, "COL", NULL, NULL,
     "column whose equal values are kept together in splits and in estimates of the error; not used as an input"},
    {"weight", 0, "COL", NULL, NULL,
     "column with the weight of each row, 0 (the row does not count) or more; not used as an input"},
    {"categorical", 0, "COLS|none", NULL, NULL,
     "further columns with categories, by name or number, separated by commas; each category becomes one input. Text "
     "columns become categories anyway; none: every column must hold plain numbers"},
    {"task", 0, "TASK", "auto|classify|regress", "auto",
     "type of the targets; auto: text and two whole numbers mean classes, other numbers mean regression"},
    {"missing", 0, "WHAT", "error|mean", "mean", "empty fields: refuse the file, or use the column's mean"},
};

static const broad_option text_files[] = {
    {"header", 0, "WHETHER", "auto|yes|no", "auto", "whether the first line holds the column names"},
    {"separator", 0, "CHAR|auto", NULL, "auto", "field separator: one character, or tab"},
};

static const broad_option cv_folds[] = {
    {"folds", 0, "COUNT", NULL, "5", "number of folds; each is tested once by a model trained on the others"},
    {"repeat", 0, "COUNT", NULL, "1",
     "repeat the whole cross-validation this many times, with seeds seed, seed+1, ..."},
};

static const broad_option cv_output[] = {
    {"verbose", 'v', NULL, NULL, NULL, "also print one line per fold"},
};

static const broad_option tune_search[] = {
    {"budget", 0, "SECONDS", NULL, "60", "time for the search; a trial still running at the end does not count"},
    {"trials", 0, "COUNT", NULL, NULL, "stop after this many trials, including those in the state file"},
    {"by", 0, "WHAT", "cv|loo", "loo",
     "how trials are scored: by the model's own estimate (--loo), which takes one fit, or by cross-validation; "
     "--folds alone means cv"},
    {"folds", 0, "COUNT", NULL, "5", "number of folds of the cross-validation"},
    {"metric", 0, "NAME",
     "auto|accuracy|balanced_accuracy|precision|recall|f1|mcc|roc_auc|pr_auc|brier|log_loss|rmse|mae|r2", "auto",
     "the score to optimise; auto: accuracy for classes, RMSE for regression"},
    {"kinds", 0, "LIST", NULL, NULL, "kinds of network to try, separated by commas; default: all"},
    {"rows", 0, "COUNT", NULL, NULL, "search on this many rows, drawn at random; default: all rows"},
};

static const broad_option tune_output[] = {
    {"output", 'o', "FILE", NULL, NULL, "fit the best settings to all rows and save the model here"},
    {"state", 0, "FILE", NULL, NULL,
     "store every finished trial in this file; the same command then continues from it"},
};

static const broad_option testing[] = {
    {"holdout", 0, "FRACTION", NULL, NULL,
     "hold out this fraction of the rows and test on them; the split is made class by class, or by whole groups"},
    {"refit", 0, NULL, NULL, NULL,
     "with --holdout: test a model of the other rows as usual, then train the model that is saved on all rows"},
    {"test", 0, "DATA", NULL, NULL, "test on these rows"},
    {"test-labels", 0, "FILE", NULL, NULL, "file with the targets of --test; needed if --labels is used"},
};

static const broad_option testing_file[] = {
    {"test", 0, "DATA", NULL, NULL, "test on these rows; default: the rows that fit held out"},
    {"test-labels", 0, "FILE", NULL, NULL, "file with the targets of --test; needed if --labels is used"},
};

static const broad_option fit_output[] = {
    {"output", 'o', "FILE", NULL, "model.broad", "file for the model; - for standard output"},
    {"importance", 0, "WHETHER", "yes|no", "yes",
     "tables: find out which columns matter, by shuffling each among rows that small networks were not fitted to; not "
     "with "
     "--preset paper, --max-seconds, fewer than 60 rows or more than 100 columns"},
};

static const broad_option grown_output[] = {
    {"output", 'o', "FILE", NULL, NULL, "file for the model; default: replace MODEL"},
};

static const broad_option run_details[] = {
    {"verbose", 'v', NULL, NULL, NULL,
     "also print the layers of the network, with their bounds and norms, and how the run ended"},
};

static const broad_option model_output[] = {
    {"compact", 0, NULL, NULL, NULL,
     "omit the random weights from the file; they are drawn again from the seed when it is loaded"},
    {"no-names", 0, NULL, NULL, NULL,
     "do not store the names of the training files, for a model that is given away; 'learn' and 'verify' can then not "
     "tell which photos are new, gone or changed"},
    {"keep-stats", 0, NULL, NULL, NULL,
     "also write MODEL.stats, sums over the training rows; 'learn' then does not need the rows themselves"},
};

static const broad_option layer_output[] = {
    {"checkpoint", 0, "LAYERS", NULL, NULL, "save the model each time this many layers have been added"},
};

static const broad_option planning[] = {
    {"plan", 0, NULL, NULL, NULL,
     "print the memory and work this run needs, and exit; exit code 71 if it needs too much memory"},
};

static const broad_option force_memory[] = {
    {"force", 0, NULL, NULL, NULL, "start even if there seems to be too little memory"},
};

static const broad_option force_rows[] = {
    {"force", 0, NULL, NULL, NULL,
     "continue even if the rows differ from the training rows, or there seems to be too little memory"},
};

static const broad_option grow_increment[] = {
    {"enhance", 0, "Q[xL]", NULL, NULL, "add L layers of Q enhancement nodes; with --features: Q nodes per group"},
    {"features", 0, "GxK", NULL, NULL, "add G groups of K feature nodes, each with a layer of its own"},
};

static const broad_option learn_increment[] = {
    {"with", 0, "OLD", NULL, NULL, "the rows the model was trained on; repeat for each further file, in order"},
    {"with-labels", 0, "FILE", NULL, NULL, "file with the targets of OLD; repeat for each --with"},
    {"corrections", 0, "FILE", NULL, NULL,
     "photos: learn the corrections in this file: findings.csv of a report with the column 'correction' filled in, "
     "corrections.csv saved from its page, or a list of file and label; NEW is then the folder of the photos, and may "
     "be omitted if they are found without"},
    {"enhance", 0, "Q[xL]", NULL, NULL,
     "add L layers of Q enhancement nodes; default: none if all weights are joint, otherwise one layer as wide as "
     "those of fit"},
    {"weight", 0, "W|auto", NULL, NULL,
     "weight of each new row relative to an old one; auto: the smallest weights with which all new rows are "
     "classified correctly (needs classes and joint weights); default: auto for photos, otherwise 1"},
    {"new-classes", 0, NULL, NULL, NULL, "add labels that the model does not know as new classes"},
    {"forgetful", 0, NULL, NULL, NULL,
     "fit the new layers to the new rows alone; the model may become worse on the old ones"},
};

static const broad_option labels_of_each[] = {
    {"labels", 0, "FILE", NULL, NULL, "file with the targets (CSV, NPY, IDX); repeat for each DATA"},
};

#define TWO_CLASS_THRESHOLD                                                                                            \
    "two classes: the verdict is the positive class where its probability is at least P, instead of the class with "   \
    "the largest score"
static const broad_option predict_output[] = {
    {"output", 'o', "FILE", NULL, "-", "file for the predictions; - for standard output"},
    {"format", 0, "FORMAT", "csv|jsonl", "csv", "a CSV table, or one JSON object per line"},
    {"keep", 0, "COLS", NULL, NULL,
     "also write these columns of DATA, unchanged, before the predictions: names or numbers, separated by commas, or "
     "all"},
    {"proba", 0, NULL, NULL, NULL,
     "add the probability of each class, calibrated by the model's own estimate (--loo of fit)"},
    {"threshold", 0, "P", NULL, NULL, TWO_CLASS_THRESHOLD},
    {"interval", 0, "LEVEL", NULL, NULL,
     "add an interval that contains this fraction of the values, such as 0.9, from the residuals of the model's own "
     "estimate (--loo of fit)"},
};

static const broad_option predict_pictures[] = {
    {"heatmap", 0, "DIR", NULL, NULL,
     "photos: also write one image per photo to the new folder DIR, with the evidence for its verdict in colour, and "
     "cells.csv with the figures (picture, the cell as parts of its sides, opinion); the column heatmap of the result "
     "names the image; a normal photo shows the evidence for its most probable fault"},
};

static const broad_option normal_chosen[] = {
    {"normal", 0, "CLASS", NULL, NULL,
     "the class that means nothing is wrong; default: the one that the model says, see 'broad info'"},
};

static const broad_option report_output[] = {
    {"output", 'o', "PATH", NULL, NULL,
     "new folder for the report, or HTML file with --training; it appears complete or not at all"},
    {"training", 0, NULL, NULL, NULL,
     "write a page about the training of MODEL instead; DATA are its training rows and may be omitted"},
    {"replace", 0, NULL, NULL, NULL, "replace an earlier report in this folder; nothing else may be in it"},
    {"cards", 0, "COUNT", NULL, "60",
     "number of faults and unsure photos shown with a heat map, at most 1000; borderline photos and a random sample, "
     "12 "
     "each, are added"},
    {"worst", 0, "COUNT", NULL, NULL, "the name of --cards in version 0.1"},
    {"note", 0, "NAME=TEXT", NULL, NULL,
     "a line at the head of the page, such as 'Site=Roof 7' or 'Inspector=A. Wolf'; repeat for more"},
    {"title", 0, "TEXT", NULL, "Inspection report", "title of the page; default with --training: Training report"},
};

static const broad_option run_page[] = {
    {"report", 0, "FILE", NULL, NULL,
     "also write an HTML page about the run: norms, bounds, curves, results, times, settings, certificate"},
};

static const broad_option eval_measures[] = {
    {"threshold", 0, "P", NULL, NULL, TWO_CLASS_THRESHOLD},
    {"interval", 0, "LEVEL", NULL, NULL, "level of the prediction intervals of a regression; default: 0.9"},
    {"curve", 0, NULL, NULL, NULL,
     "also print the figures after each layer: nodes, norm of the residual, accuracy or RMSE"},
    {"loo", 0, NULL, NULL, NULL,
     "with --curve: also print the leave-one-out norm after each layer; DATA must be the training rows"},
    {"part", 0, "WHICH", "all|train|test", "all",
     "which rows of DATA, the file given to fit: all, those it trained on (with augmented copies of photos), or those "
     "held out by --holdout"},
};

static const broad_option info_output[] = {
    {"layers", 0, NULL, NULL, NULL, "list every layer of the certificate"},
    {"relevance", 0, NULL, NULL, NULL,
     "show instead what the network looks at: how much its output moves with each column, and in which directions"},
};

static const broad_option export_output[] = {
    {"onnx", 0, "FILE", NULL, NULL, "write an ONNX file"},
    {"c", 0, "FILE", NULL, NULL, "write one file of C99 without dependencies; - for standard output"},
    {"precision", 0, "WHAT", "double|float|int8", "double",
     "numbers of the file; int8, for --c: the weights of nodes in 8 bits, everything else as with float"},
    {"compact", 0, NULL, NULL, NULL,
     "for --c: do not store random weights that the seed gives, but compute them again for every row: smaller and "
     "slower"},
    {"name", 0, "PREFIX", NULL, NULL,
     "for --c: what all names in the file begin with; default: the name of FILE without its ending"},
    {"interval", 0, "LEVEL", NULL, NULL,
     "regression: level of the intervals in the file; default: 0.9, if the model has an estimate of its error"},
    {"check", 0, "DATA", NULL, NULL,
     "run the file on these rows, and compare it with the model before anything is written; C is compiled with $CC, or "
     "cc, ONNX needs ONNX Runtime for Python or node"},
};

static const broad_option photo_maps[] = {
    {"map", 0, "MAPS", NULL, "auto",
     "how a photo becomes inputs: pixels, descriptors, windows, or several separated by commas; auto: descriptors "
     "and windows, or one of them if its leave-one-out error is smaller by more than chance; in preset paper: pixels"},
    {"side", 0, "PIXELS", NULL, NULL, "side length of the square of pixels; default: 32, in preset paper 64"},
};

static const broad_option photo_components[] = {
    {"components", 0, "COUNT|auto|none", NULL, NULL,
     "number of principal components that replace these inputs; auto: a third of the number of rows, at most 192; "
     "default: auto, in preset paper none"},
};

static const broad_option photo_rows[] = {
    {"each-box", 0, NULL, NULL, NULL, "make every box a row; otherwise only the best box of each photo is used"},
    {"augment", 0, "COUNT", NULL, NULL,
     "also train on this many augmented copies of each photo: rotated, shifted, sheared, zoomed, flipped, lighter or "
     "darker"},
    {"no-groups", 0, NULL, NULL, NULL,
     "do not look for near-duplicates among photos, or for copies of rows in a table; otherwise these are kept "
     "together "
     "in splits"},
};

static const broad_option photo_files[] = {
    {"boxes", 0, "PATH", NULL, NULL,
     "where the panels are in the photos: a folder of YOLO text files, a COCO JSON file, or a CSV file"},
    {"detector", 0, "COMMAND", NULL, NULL,
     "program that finds the panels: it reads one file name per line and prints one line of JSON with boxes for each"},
    {"detector-seconds", 0, "SECONDS", NULL, "60", "time limit for starting the detector, and for each photo"},
    {"strict", 0, NULL, NULL, NULL, "stop if a file cannot be read; otherwise it is listed and skipped"},
    {"cache", 0, "DIR|no", NULL, NULL,
     "folder for prepared features, which speed up the next run; default: $XDG_CACHE_HOME/broad or ~/.cache/broad"},
};

static const broad_option data_output[] = {
    {"all", 0, NULL, NULL, NULL, "list all files and groups, not only the first ones"},
    {"export", 0, "DIR", NULL, NULL,
     "instead write the inputs, as fit sees them before scaling, to the new folder DIR for other programs"},
};

static const broad_option render_photos[] = {
    {"count", 0, "COUNT", NULL, "200", "number of photos, at most 1000000"},
    {"size", 0, "PIXELS", NULL, "256", "side length of each photo, 16 to 8192"},
    {"severity", 0, NULL, NULL, NULL,
     "for regression: any degree of dirt, all photos in DIR/photos, and DIR/labels.csv with file and severity"},
};

static const broad_option demo_story[] = {
    {"what", 0, "WHAT", "photos|spirals", "photos", "clean and dusty solar panels, or a table of two spirals"},
    {"count", 0, "COUNT", NULL, "300",
     "number of photos to learn from, 40 to 10000; a third as many again are made as new photos"},
};

static const broad_option render_output[] = {
    {"format", 0, "FORMAT", "jpeg|png", "jpeg", "file format of the photos"},
    {"masks", 0, NULL, NULL, NULL,
     "also write masks as grey PNG files: DIR/.masks/dirt, the light lost to dirt, and DIR/.masks/panel, where the "
     "panel is"},
};

static const broad_option serve_where[] = {
    {"port", 0, "PORT", NULL, "8420", "port of the page, 1 to 65535"},
    {"listen", 0, "ADDRESS", NULL, "127.0.0.1",
     "address to listen at; others than this machine's own (127.0.0.1, ::1) need --token-file"},
    {"no-browser", 0, NULL, NULL, NULL, "do not open a browser"},
};

static const broad_option serve_who[] = {
    {"token-file", 0, "FILE", NULL, NULL,
     "file with the token that lets people and programs in, which only you may be able to read; default: a new random "
     "token"},
    {"host", 0, "NAME", NULL, NULL,
     "a further name that the page is reached by, such as that of a reverse proxy; may be given several times"},
};

static const broad_option serve_photos[] = {
    {"no-copy", 0, NULL, NULL, NULL,
     "do not copy photos of watched folders into the project, but refer to them where they are"},
    {"tiles", 0, "URL", NULL, NULL,
     "let pages fetch map tiles from this server, such as https://tiles.example.org/{z}/{x}/{y}.png; default: none, "
     "and the map is a plain drawing"},
};

static const broad_option profiling[] = {
    {"profile", 0, NULL, NULL, NULL,
     "print where the time goes: seconds, operations, bytes and fraction of peak speed of each stage"},
};
static const broad_option doctor_measures[] = {
    {"quick", 0, NULL, NULL, NULL, "skip the speed measurements"},
};
static const broad_option help_output[] = {
    {"man", 0, NULL, NULL, NULL, "print the manual page of COMMAND, or of broad itself, as man(7) source"},
    {"write-man", 0, "DIR", NULL, NULL, "write all manual pages to DIR"},
    {"completion", 0, "SHELL", "bash|zsh|fish", NULL, "print the completion script for a shell"},
    {"markdown", 0, NULL, NULL, NULL, "print the reference of all commands as Markdown"},
};

static const broad_option common[] = {
    {"json", 0, NULL, NULL, NULL, "print the result as one JSON object"},
    {"quiet", 'q', NULL, NULL, NULL, "no progress and no notes; fit, grow and learn: no summary either"},
    {"help", 'h', NULL, NULL, NULL, "print help for this command"},
};

#define SUPERVISION "supervise gamma tries range-steps relax relax-count select"
#define STOP_RULES "until until-accuracy max-layers max-nodes max-seconds patience"

static const cli_section fit_sections[] = {
    SECTION("Output", fit_output),
    SECTION("Output", run_details),
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
    LIBRARY("Stopping", STOP_RULES),
    LIBRARY("Run", "seed threads device memory"),
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
    LIBRARY("Stopping", STOP_RULES),
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
    LIBRARY("Settings to keep fixed", "* memory"),
    SECTION("Common", common),
    END,
};
static const cli_section grow_sections[] = {
    SECTION("What to add", grow_increment),
    SECTION("Output", grown_output),
    SECTION("Output", run_details),
    SECTION("Output", run_page),
    SECTION("Output", model_output),
    SECTION("Output", layer_output),
    SECTION("Reading DATA", target_like_model),
    SECTION("Reading DATA", labels_of_each),
    SECTION("Reading DATA", text_files),
    SECTION("Photos", photo_files),
    SECTION("Testing", testing_file),
    LIBRARY("Stopping", STOP_RULES),
    LIBRARY("Run", "threads device memory"),
    SECTION("Run", planning),
    SECTION("Run", force_rows),
    SECTION("Run", profiling),
    SECTION("Common", common),
    END,
};
static const cli_section learn_sections[] = {
    SECTION("What to add", learn_increment),
    SECTION("Output", grown_output),
    SECTION("Output", run_details),
    SECTION("Output", run_page),
    SECTION("Output", model_output),
    SECTION("Reading NEW and OLD", target_like_model),
    SECTION("Reading NEW and OLD", labels_of_new),
    SECTION("Reading NEW and OLD", text_files),
    SECTION("Photos", photo_files),
    SECTION("Testing", testing_file),
    LIBRARY("Stopping", STOP_RULES),
    LIBRARY("Run", "threads device memory"),
    SECTION("Run", planning),
    SECTION("Run", force_rows),
    SECTION("Run", profiling),
    SECTION("Common", common),
    END,
};
static const broad_option verify_doubts[] = {
    {"doubts", 0, NULL, NULL, NULL,
     "also list training rows whose label the network contradicts where it has not seen them (leave-one-out): they may "
     "be "
     "labelled incorrectly"},
};

static const cli_section verify_sections[] = {
    SECTION("Output", verify_doubts),
    SECTION("Reading DATA", target_like_model),
    SECTION("Reading DATA", labels_of_each),
    SECTION("Reading DATA", text_files),
    SECTION("Photos", photo_files),
    LIBRARY("Run", "threads memory"),
    SECTION("Common", common),
    END,
};
static const cli_section predict_sections[] = {
    SECTION("Output", predict_output),   SECTION("Output", predict_pictures), SECTION("Output", normal_chosen),
    SECTION("Reading DATA", text_files), SECTION("Photos", photo_files),      LIBRARY("Run", "threads device memory"),
    SECTION("Run", profiling),           SECTION("Common", common),           END,
};
static const cli_section report_sections[] = {
    SECTION("Output", report_output),
    SECTION("Output", normal_chosen),
    SECTION("Photos", photo_files),
    SECTION("Reading DATA, with --training", target_like_model),
    SECTION("Reading DATA, with --training", labels_of_each),
    SECTION("Reading DATA, with --training", text_files),
    SECTION("Testing", testing_file),
    LIBRARY("Run", "threads memory"),
    SECTION("Common", common),
    END,
};
static const cli_section eval_sections[] = {
    SECTION("Measures", eval_measures),
    SECTION("Measures", normal_chosen),
    SECTION("Reading DATA", target_like_model),
    SECTION("Reading DATA", target_apart),
    SECTION("Reading DATA", text_files),
    SECTION("Photos", photo_files),
    LIBRARY("Run", "threads device memory"),
    SECTION("Run", profiling),
    SECTION("Common", common),
    END,
};
static const cli_section data_sections[] = {
    SECTION("Output", data_output),
    SECTION("Reading DATA", target_chosen),
    SECTION("Reading DATA", target_apart),
    SECTION("Reading DATA", reading),
    SECTION("Reading DATA", text_files),
    SECTION("Photos", photo_files),
    SECTION("Photos, with --export", photo_maps),
    SECTION("Photos, with --export", photo_rows),
    LIBRARY("Run", "seed threads"),
    SECTION("Common", common),
    END,
};
static const cli_section info_sections[] = {SECTION("Output", info_output), SECTION("Common", common), END};
static const cli_section export_sections[] = {
    SECTION("Output", export_output),
    SECTION("Reading DATA, with --check", text_files),
    LIBRARY("Run", "threads memory"),
    SECTION("Common", common),
    END,
};
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

static const cli_section serve_sections[] = {
    SECTION("Where", serve_where), SECTION("Who", serve_who), SECTION("Photos", serve_photos),
    LIBRARY("Run", "threads"),     SECTION("Common", common), END,
};

static const broad_option plan_sizes[] = {
    {"rows", 0, "N", NULL, NULL, "rows of the data, such as 60000 or 1e9"},
    {"inputs", 0, "N", NULL, NULL, "inputs of a row"},
    {"outputs", 0, "N", NULL, "1", "targets of a regression, or classes"},
};

static const broad_option plan_machines[] = {
    {"ranks", 0, "N", NULL, "1", "processes that share the work, as mpirun -n N starts them"},
    {"bandwidth", 0, "GB", NULL, "1.25", "of the network between them, in gigabytes per second"},
    {"latency", 0, "US", NULL, "50", "of a message between them, in microseconds"},
    {"peak", 0, "GFLOPS", NULL, NULL, "of one core of their machines, in GFLOP/s; default: that of this one, measured"},
    {"disk", 0, "GB", NULL, NULL,
     "of a rank's part of the file that are read per second, in gigabytes; default: what the disk with the temporary "
     "files of this machine gives, measured"},
    {"scan", 0, "GB", NULL, NULL,
     "of a table, per second of one core that adds it to a fingerprint or to sums of columns; default: measured"},
    {"search", 0, "MROWS", NULL, NULL,
     "millions of rows per second among which one core finds copies; default: measured"},
    {"gpu-peak", 0, "GFLOPS", NULL, NULL,
     "--device cuda: of a large product, in GFLOP/s; default: that of the GPU of this machine, measured"},
    {"gpu-bandwidth", 0, "GB", NULL, NULL, "that its memory reads and writes per second; default: likewise"},
    {"gpu-memory", 0, "GB", NULL, NULL, "that it has; default: likewise, as far as it is free"},
};

static const cli_section plan_sections[] = {
    SECTION("Data", plan_sizes),
    SECTION("Machines", plan_machines),
    LIBRARY("Network", "* seed memory until until-accuracy max-seconds patience"),
    LIBRARY("Supervision", SUPERVISION),
    LIBRARY("Stopping", "max-layers max-nodes"),
    LIBRARY("Run", "threads device"),
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
                       "format is detected from the content. DATA can also be a folder of photos with "
                       "one sub-folder per class, or any folder of photos with --labels LIST.csv, a table with the "
                       "columns file and label (or a number).\n"
                       "The target is the last column, unless --target or --labels names another. Text targets are "
                       "classes, and so are the whole numbers in LIBSVM files and binary label files; other "
                       "numbers mean regression. --task overrides this.\n"
                       "Layers of random nodes are added one by one. Each is fitted to the residual of the earlier "
                       "layers and kept only if it passes the supervision test; the figures of every layer are "
                       "stored in the model as a certificate that 'broad verify' can check. When no further layer "
                       "passes, the run ends as 'stalled' with a valid model. Under --supervise gcv that is the rule: growth ends by "
                       "itself when no layer lowers the score of the chain, and the number of layers is a limit.\n"
                       "If the run is interrupted, the layers so far are saved, if there are any; the tool says so. The stopping options do the same; "
                       "the first condition that is met ends the run, and 'broad grow' continues from there. What "
                       "does not fit in memory is recomputed or kept in temporary files; a run that does not fit even so "
                       "is refused before it starts.",
        .examples = {
            {"broad fit iris.csv --holdout 0.3", "train on 70 % of the rows, test on the rest, write model.broad"},
            {"broad fit house.csv --target price -o house.broad", "predict the numbers in one column"},
            {"broad fit train.npy --labels labels.npy --task classify", "inputs and targets in separate files"},
            {"broad fit scans.csv --group patient --holdout 0.3", "no patient on both sides of the split"},
            {"broad fit cars.csv --target price --ignore plate,owner", "two columns are left out"},
            {"broad fit iris.csv --preset chain", "layer after layer, as long as the score of the chain falls"},
            {"broad fit iris.csv --preset paper --kind brls --json",
             "the paper's settings without supervision; JSON output"},
            {"broad fit panels/ --holdout 0.3 -o panels.broad", "photos in panels/Clean and panels/Dusty"},
            {"broad fit photos/ --labels list.csv --target power_loss", "predict a number for each photo"},
        },
    },
    {
        .name = "cv",
        .purpose = "estimate the accuracy of a network by cross-validation",
        .positional = "DATA",
        .fewest = 1,
        .most = 1,
        .run = cli_cv,
        .sections = cv_sections,
        .description = "Splits the rows into folds; for each fold in turn, trains on all the others and tests on "
                       "that one; and prints the mean and standard deviation of every measure over the folds. With "
                       "--group, folds consist of whole groups; otherwise they are stratified by class, or drawn "
                       "at random for regression.\n"
                       "With --repeat the rows are split anew each time, with the next seed. Mean and deviation "
                       "are then taken over the folds of all repeats; a second deviation, between the means of the "
                       "repeats, shows how much the split and the random nodes matter.\n"
                       "All network options of fit are available; no model is saved. If interrupted, the results "
                       "of the completed folds are printed.",
        .examples = {
            {"broad cv iris.csv", "five folds, preset auto"},
            {"broad cv house.csv --target price --kind rvfl --folds 10 --repeat 3", "30 networks"},
            {"broad cv scans.csv --group patient --verbose", "no patient on both sides; one line per fold"},
            {"broad cv panels/ --repeat 4", "photos; near-duplicates stay in the same fold"},
        },
    },
    {
        .name = "tune",
        .purpose = "search for better settings within a time limit",
        .positional = "DATA",
        .fewest = 1,
        .most = 1,
        .run = cli_tune,
        .sections = tune_sections,
        .description = "Tries network settings on DATA until the time is up and prints the best ones as a command "
                       "line for fit. The presets of every kind come first, then random settings, then variations "
                       "of the best ones so far. A setting given on the command line stays fixed; all others are "
                       "searched.\n"
                       "By cross-validation, a trial that is clearly worse than the best is dropped before its last fold; "
                       "one that fails is recorded with the reason. The same seed gives the same sequence of trials, "
                       "however long the search runs.\n"
                       "The score of the winner is slightly optimistic, because it was selected by that score. "
                       "Hold out rows that the search never sees, and test on them.",
        .examples = {
            {"broad tune iris.csv --budget 30", "the best settings found in half a minute"},
            {"broad tune iris.csv --kinds bls,rvfl --activation tanh -o best.broad",
             "a narrower search; save the best model"},
            {"broad tune house.csv --target price --budget 3600 --state tune.json",
             "one hour; after an interruption the same command continues"},
            {"broad tune large.csv --rows 5000 -o best.broad", "search on a part of the rows, fit the best to all"},
        },
    },
    {
        .name = "grow",
        .purpose = "add layers or features to a model without retraining",
        .positional = "MODEL [DATA...]",
        .fewest = 1,
        .most = 1 + CLI_FILES_MAX,
        .run = cli_grow,
        .sections = grow_sections,
        .description = "Continues the training of MODEL with the settings stored in it. A chain of layers gets "
                       "exactly the bytes it would have had if it had been trained in one run; joint weights are "
                       "solved again. The kinds bls and rvfl have no layers: --enhance 100x2 adds one block of 200 "
                       "nodes.\n"
                       "DATA are the files it was trained on: the one given to fit and then those given to learn, "
                       "in order; without DATA, those that the model remembers. If fit held out a part of the first file, "
                       "that part is held out again and tested on. Other rows are refused, and the message says what "
                       "differs. Photos are recognised by their content, wherever they are now.\n"
                       "New layers pass the same test as before and enter the certificate. MODEL is replaced "
                       "unless -o is given, and so is MODEL.stats if it exists; --keep-stats alone only computes "
                       "the sums. What is replaced stays as MODEL~ ('broad undo').",
        .examples = {
            {"broad grow model.broad iris.csv --enhance 100x10", "ten more layers of 100 nodes"},
            {"broad grow model.broad iris.csv --features 2x10 --enhance 200",
             "two more groups of 10 feature nodes, each with 200 enhancement nodes"},
            {"broad grow model.broad iris.csv --enhance 100x1000 --patience 5",
             "as long as the held-out rows are classified better"},
            {"broad grow model.broad iris.csv --enhance 50x1000 --max-layers 50 --checkpoint 1",
             "up to 50 layers in total; after a crash the same command continues"},
        },
    },
    {
        .name = "learn",
        .purpose = "add rows to a model without retraining",
        .positional = "MODEL [NEW]",
        .fewest = 1,
        .most = 2,
        .run = cli_learn,
        .sections = learn_sections,
        .description = "There are three ways to learn the rows of NEW, or the corrections of --corrections.\n"
                       "With the old rows: --with OLD, or the files and folders that the model remembers, if they are still "
                       "there. Photos are recognised by their content. New ones in the folders given are learned "
                       "too; if some are gone, changed or labelled otherwise, they are named, and the network is fitted "
                       "again to those that are there before it learns. Joint weights are solved again as if the model had been "
                       "trained on all rows at once, or with more weight on the new ones (--weight). A chain, or a "
                       "network whose weights are solved with each layer, gets a new layer, fitted on all rows to "
                       "the residual of the model.\n"
                       "With sums (MODEL.stats, written by --keep-stats, for a chain): the new rows are added to "
                       "the sums and every layer is solved again, exactly as if trained on all rows. The old rows "
                       "are not needed.\n"
                       "With neither (--forgetful): a new layer is fitted to the new rows alone, and the model may "
                       "become worse on the old ones.\n"
                       "Unknown labels are refused unless --new-classes is given. MODEL and MODEL.stats are "
                       "replaced unless -o is given; what is replaced stays as MODEL~ ('broad undo').",
        .examples = {
            {"broad learn model.broad may.csv --with april.csv", "the rows of both files"},
            {"broad learn model.broad june.csv --with april.csv --with may.csv", "one month later"},
            {"broad learn model.broad may.csv", "without the old rows, after 'broad fit april.csv --keep-stats'"},
            {"broad verify model.broad april.csv may.csv", "check the certificate after 'learn --with'"},
            {"broad learn panels.broad corrected/", "misclassified photos, copied into folders of their classes"},
            {"broad learn panels.broad --corrections report/findings.csv",
             "misclassified photos, corrected in the table of a report"},
        },
    },
    {
        .name = "undo",
        .purpose = "bring back the model that the last run replaced",
        .positional = "MODEL",
        .fewest = 1,
        .most = 1,
        .run = cli_undo,
        .sections = common_sections,
        .description = "fit, grow, learn and tune keep the model that they replace as MODEL~, and its sums as "
                       "MODEL.stats~. This command swaps the two, so that the same command again brings back the newer "
                       "one. One model is kept, that before the last run. Exit code 66: there is none; 1: both are the "
                       "same.",
        .examples = {
            {"broad undo panels.broad", "after 'broad learn panels.broad corrected/' made it worse"},
        },
    },
    {
        .name = "predict",
        .purpose = "apply a model to new rows or photos",
        .positional = "MODEL DATA...",
        .fewest = 2,
        .most = CLI_NO_LIMIT,
        .run = cli_predict,
        .sections = predict_sections,
        .description = "Prints one line per row of DATA: its number, then the label and the score of each class, "
                       "or the value of each target; on a terminal, the first rows as a short table with a summary. A "
                       "table with a header and no rows gives a header and no rows. Columns are matched by the names the model was trained with, "
                       "or by position if DATA has no header; a target column is allowed but not needed.\n"
                       "--proba adds the columns proba_CLASS after the label; --interval adds TARGET_low and "
                       "TARGET_high after each value: wider where predictions of that size were worse, and within the "
                       "limits 0, 1 or 100 that the training targets touch. Both need the estimate of the error that fit computes "
                       "(--loo): by leave-one-out with joint weights, from the score of a chain judged by --supervise gcv.\n"
                       "A model of photos takes any number of photos and folders, or - for names on standard "
                       "input, one per line. The first column is then the file, followed by the box if boxes were "
                       "given: left, top, right, bottom. Files that cannot be read, and "
                       "wrong names among several, are listed on standard error and skipped, with exit code 0 as long as "
                       "one is left; with --strict they are an error.\n"
                       "--keep puts columns of DATA beside the predictions, so that they can be joined. A predicted column "
                       "that would be called as one of them is predicted_NAME.\n"
                       "In CSV output, names and labels that a spreadsheet would read as a formula (they start "
                       "with =, +, - or @ and are not numbers) begin with an apostrophe. JSON output has them "
                       "unchanged.",
        .examples = {
            {"broad predict model.broad new.csv", "a CSV table on standard output"},
            {"broad predict model.broad new.csv -o out.csv", "to a file, written completely or not at all"},
            {"broad predict model.broad new.csv --proba", "with the probability of each class"},
            {"broad predict house.broad new.csv --interval 0.9", "with a range that contains 9 of 10 values"},
            {"zcat new.csv.gz | broad predict model.broad - --format jsonl", "rows from standard input, JSON lines"},
            {"broad predict panels.broad photos/ one_more.jpg --proba", "photos: one line each"},
            {"find . -name '*.JPG' | broad predict panels.broad - -o out.csv", "file names from standard input"},
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
        .description = "Prints accuracy with its 95 % interval and what always the most frequent class would reach, "
                       "balanced accuracy, precision, recall, F1, error rates, MCC, ROC AUC and PR AUC with a table "
                       "by class and the confusion matrix; or RMSE with its interval and that of always the mean, "
                       "MAE and R2, of several targets each by itself. With two classes, precision, recall and the "
                       "areas describe the positive class; with more, they are means over the classes. If the model has an estimate of its own, the Brier score, "
                       "log loss and calibration error of its probabilities follow, or the coverage and mean width "
                       "of its prediction intervals.\n"
                       "--curve adds the norm of the residual, in the scale of training, and accuracy or RMSE "
                       "after each layer. They are known for a chain, where every layer was fitted to the residual "
                       "of the layers before it. If one ridge regression computed all output weights together, "
                       "only the whole network has figures.",
        .examples = {
            {"broad eval model.broad test.csv", "print the measures"},
            {"broad eval model.broad test.csv --json", "the same as JSON"},
            {"broad eval model.broad test.csv --curve", "the contribution of each layer, on rows it has not seen"},
            {"broad eval model.broad all.csv --part test --curve", "the same on the rows held out by --holdout"},
            {"broad eval model.broad all.csv --part train --curve --loo", "and on the training rows"},
            {"broad eval panels.broad others/", "photos, one sub-folder per class"},
        },
    },
    {
        .name = "report",
        .purpose = "write a report on photos, or on the training of a model",
        .positional = "MODEL [PHOTOS...|DATA...]",
        .fewest = 1,
        .most = CLI_NO_LIMIT,
        .run = cli_report,
        .sections = report_sections,
        .description = "Applies a model to photos and folders of photos, or - for names on standard input, and "
                       "writes a new folder with these files. report.html is a page to read, to print and to answer: counts of "
                       "each class, a histogram, a sketch map of photos with coordinates, cards with heat maps (faults, "
                       "unsure photos, those that are just normal, a random sample), thumbnails of all photos, a table, "
                       "and the limits of validity. findings.csv has the columns file, verdict (a class, unsure, or unlike the training photos), "
                       "correction (empty, for you), the probability of each class as p_CLASS, label (the most probable "
                       "class), verdict_probability, unsure, time, latitude, longitude, altitude, relative_altitude, "
                       "yaw, group (the first of its near-duplicates), distance, unlike, faults, picture and heatmap; of a regression the value "
                       "with low and high. findings.geojson has the photos with coordinates; skipped.csv lists file and "
                       "reason; the folder .pictures has the large pictures of the cards.\n"
                       "Faults are all classes but the normal one, which --normal chooses. Photos are ordered by the "
                       "probability of a fault: it says how sure the model is, not how bad the fault is. A verdict with "
                       "a probability below 0.65 is unsure. Corrections, filled in in findings.csv or saved from the "
                       "page as corrections.csv, are what 'broad learn MODEL --corrections FILE' takes. --test PHOTOS, whose "
                       "classes are known, adds how good the model is on them. In the CSV "
                       "files, names and labels that a spreadsheet would read as a formula begin with an apostrophe.\n"
                       "With --training the report is about MODEL itself, in one self-contained HTML file: norms "
                       "and bounds of every layer, draws and ranges, settings, certificate, and an explanation. "
                       "DATA are the rows MODEL was trained on, as for 'grow'. With them the page adds curves, "
                       "results and a check of the certificate; and, from the rows that fit held out or those of "
                       "--test, what to expect of new rows. Exit code 1: the page was written, but the "
                       "certificate does not hold on DATA.",
        .examples = {
            {"broad report panels.broad flight/ -o report", "then open report/report.html"},
            {"broad report panels.broad flight/ -o report --cards 200 --title 'Roof 7, May'",
             "more images, and a title"},
            {"find . -newer last -name '*.JPG' | broad report panels.broad - -o today",
             "file names from standard input"},
            {"broad report --training panels.broad panels/ -o training.html", "how the model was trained"},
        },
    },
    {
        .name = "info",
        .purpose = "show what a model file contains",
        .positional = "MODEL",
        .fewest = 1,
        .most = 1,
        .run = cli_info,
        .sections = info_sections,
        .description = "Prints how the model was trained, which inputs it expects, its own estimate of its error and "
                       "the certificate of its layers. The file is checked completely when it is loaded.",
        .examples = {
            {"broad info model.broad", "an overview"},
            {"broad info model.broad --layers", "with every layer"},
            {"broad info model.broad --relevance", "which columns, or which descriptors of photos, it looks at"},
            {"broad info model.broad --json", "every setting and the certificate"},
        },
    },
    {
        .name = "verify",
        .purpose = "check a model's certificate against its training rows",
        .positional = "MODEL [DATA...]",
        .fewest = 1,
        .most = 1 + CLI_FILES_MAX,
        .run = cli_verify,
        .sections = verify_sections,
        .description = "Recomputes the norm after every layer from DATA, and checks every inequality of the "
                       "certificate and the product of the bounds. Nodes, sums and solutions are recomputed in "
                       "plain loops, by code separate from training; the random draw, the schedule of the bounds "
                       "and the fingerprint of the rows are the same functions.\n"
                       "DATA is the file the model was trained on and, after 'learn', each further file in order; without "
                       "DATA, those that the model remembers. Photos are recognised by their content: which ones are new, "
                       "gone or changed is said, and new ones are left out. "
                       "If a part of the first file was held out, it is left out again. Exit code 0: the "
                       "certificate holds; 1: it does not, with the reason.",
        .examples = {
            {"broad verify panels.broad --doubts", "and which training photos may be labelled incorrectly"},
            {"broad verify model.broad iris.csv", "after 'broad fit iris.csv'"},
        },
    },
    {
        .name = "export",
        .purpose = "write a model for other programs: ONNX or C source",
        .positional = "MODEL",
        .fewest = 1,
        .most = 1,
        .run = cli_export,
        .sections = export_sections,
        .description = "Writes MODEL for programs that predict without this library. Scaling, missing values, categories, "
                       "probabilities, labels and intervals are inside. A row has one number per column: for a category the "
                       "code of its level, for a missing value NaN. In double precision the scores are those of 'broad "
                       "predict' up to rounding; docs/export.md has figures for each precision, and describes what goes in "
                       "and comes out.\n"
                       "--onnx writes a graph of ai.onnx operators, opset 13. It takes 'row' and gives 'label', "
                       "'probabilities' and 'scores' for classes, 'values', 'low' and 'high' for numbers.\n"
                       "--c writes one file of C99 with constants and loops: no allocation, no state, nothing to link but "
                       "libm. PREFIX_predict() computes the scores of a row, PREFIX_class(), PREFIX_probabilities() and "
                       "PREFIX_interval() what follows from them; PREFIX_level() gives the code of a category. The bytes of "
                       "constants and of arrays on the stack are printed.\n"
                       "Models of photos take the picture, cropped and resized, if they were fitted with --map pixels; "
                       "others take the numbers that 'broad data --export' writes. A file appears complete or not at all.",
        .examples = {
            {"broad export model.broad --onnx model.onnx", "for ONNX Runtime and others"},
            {"broad export model.broad --c model.c --check iris.csv", "compiled and compared on these rows first"},
            {"broad export model.broad --c model.c --precision int8 --compact", "for a small device"},
        },
    },
    {
        .name = "data",
        .purpose = "inspect photos or a table before training",
        .positional = "DATA",
        .fewest = 1,
        .most = 1,
        .run = cli_data,
        .sections = data_sections,
        .description = "For a folder of photos: the number of photos per class, formats and sizes, files that "
                       "cannot be read with the reason, exact copies, groups of near-duplicates, near-duplicates "
                       "with different labels, the time span, and how many photos have coordinates. For a table: "
                       "rows, inputs, classes or the range of the targets, empty fields, and inputs that are "
                       "constant. Advice follows if something could be improved. Nothing is changed. The exit code "
                       "is 0 whatever is found; 65 if DATA cannot be read at all or, with --strict, if any file "
                       "cannot.\n"
                       "--export writes a new folder for other programs, completely or not at all. inputs.npy "
                       "holds bytes of shape rows x side x side x 3 for pixels alone, which fit divides by 255; "
                       "otherwise float32 or float64 of shape rows x inputs. rows.csv has the columns row, file, "
                       "label or targets, group (equal for rows kept together in a split) and copy (0: the photo "
                       "itself). columns.csv names the inputs. Without --map, photos become descriptors and "
                       "windows. --seed is the seed of the augmented copies. In tables, empty fields become NaN "
                       "and text columns become categories, as with fit.",
        .examples = {
            {"broad data panels/", "before 'broad fit panels/'"},
            {"broad data photos/ --labels list.csv --json", "as JSON, with all files"},
            {"broad data iris.csv", "a table"},
            {"broad data panels/ --export prepared --map pixels --side 64 --augment 4", "images for another program"},
        },
    },
    {
        .name = "demo",
        .purpose = "run the whole workflow on photos made for the occasion",
        .positional = "[DIR]",
        .most = 1,
        .run = cli_demo,
        .sections = demo_sections,
        .description = "Makes photos of clean and dusty solar panels, different ones for every --seed, and takes "
                       "them through the steps you would take with your own: train on a folder of labelled photos, "
                       "classify new ones, see where the dirt is, correct the mistakes and learn from them, check "
                       "the certificate, and write a report to open in a browser. The steps are the commands "
                       "render, fit, predict, learn, verify and report; the command lines are printed at the "
                       "end.\n"
                       "--what spirals makes a table of two noisy, intertwined spirals instead, trains BRLS and "
                       "BSCRLS side by side, compares them on held-out rows, saves and verifies the model, "
                       "predicts some points and draws a picture.\n"
                       "All files go to DIR, by default ./broad-demo. Files of an earlier demonstration are "
                       "replaced; nothing else is touched.",
        .examples = {
            {"broad demo", "takes a few seconds; then open broad-demo/report/report.html"},
            {"broad demo other --seed 7 --count 1000", "different photos, and more of them"},
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
        .description = "Draws photos of solar panels on roofs and on open ground, in varying light, half of them "
                       "clean and half with dust, streaks, bird droppings, leaves or pollen, and writes them to "
                       "DIR/Clean and DIR/Dusty. DIR/truth.csv describes each photo: file, label, severity (0 to "
                       "1), transmittance (the fraction of light that reaches the cells), coverage (the fraction "
                       "of the panel that loses more than a tenth of its light), the kinds of dirt joined by +, "
                       "and the pixel box around the panel: left, top, right, bottom, the last two exclusive.\n"
                       "DIR must be empty or not exist. It appears when all photos are done; an interrupted run "
                       "leaves nothing. A photo depends only on the seed and its number: a longer run begins with "
                       "the same photos.",
        .examples = {
            {"broad render panels", "200 photos, 100 per class"},
            {"broad render panels --count 2000 --size 128 --seed 7", "different photos: more, and smaller"},
            {"broad render soiling --severity --format png", "photos for regression, without compression loss"},
            {"broad render panels --masks", "also where the dirt is, and the panel"},
        },
    },
    {
        .name = "serve",
        .purpose = "judge and correct photos on a page in the browser",
        .positional = "[PROJECT]",
        .most = 1,
        .run = cli_serve,
        .sections = serve_sections,
        .description = "Opens a page, on this machine alone, where photos go in and verdicts come out, where wrong ones "
                       "are corrected with one key, and where the model learns from them. PROJECT is a folder, by "
                       "default ./broad-project, which is made if it does not exist: model.broad, photos, a database of "
                       "verdicts and corrections, every version of the model. To start with a model, copy it to "
                       "PROJECT/model.broad; without one, the page makes a first one from about twenty photos that were "
                       "labelled.\n"
                       "The address that is printed has a random token, without which no one gets in; programs send it "
                       "as 'Authorization: Bearer TOKEN' (docs/serve-api.md). Nothing is sent anywhere else. Every "
                       "correction is on disk before the page shows it as done. SIGTERM and Ctrl-C end the server within "
                       "two seconds.\n"
                       "Exit code 73: the port is in use, or another 'broad serve' has the project open.",
        .examples = {
            {"broad serve", "a project in ./broad-project; then open the address that is printed"},
            {"broad serve roofs --port 8500", "another project, another port"},
            {"broad serve roofs --no-copy", "photos of watched folders stay where they are"},
            {"broad serve /srv/roofs --listen 0.0.0.0 --token-file token --host roofs.example.org --no-browser",
             "for other machines, behind a reverse proxy with TLS (docs/serve.md)"},
        },
    },
    {
        .name = "plan",
        .purpose = "time, memory and traffic of a run, before it starts",
        .positional = "",
        .run = cli_plan,
        .sections = plan_sections,
        .description = "Prints time, memory and traffic of a run on data of a given size, with the settings of 'broad fit', on "
                       "this machine, on its GPU or on several ranks of MPI. Nothing is read or trained; what the options "
                       "of the machines do not give is measured for a moment: the peak speed of a core, how fast it goes "
                       "over a table, the disk (by a file of 32 MB without a name), the GPU. Time is that of reading a "
                       "file with 8 bytes for each number, such as NPY, of describing its columns and of training; it is "
                       "meant to be right to within a factor of two. Text takes longer to read: give --disk what is read "
                       "of it per second. docs/scale.md has the formulas, and measured runs beside them. For data that "
                       "is there already, 'broad fit DATA --plan' knows more.",
        .examples = {
            {"broad plan --rows 1e6 --inputs 50 --preset paper", "a million rows on this machine"},
            {"broad plan --rows 1e10 --inputs 9 --preset paper --ranks 1000 --threads 1",
             "ten billion rows on a thousand ranks"},
            {"broad plan --rows 1e8 --inputs 20 --preset paper --ranks 16 --bandwidth 0.125 --peak 50",
             "on other machines, with a slow network"},
            {"broad plan --rows 1e9 --inputs 9 --preset paper --device cuda",
             "a billion rows on the GPU of this machine"},
        },
    },
    {
        .name = "doctor",
        .purpose = "check this computer and the linear algebra in use",
        .positional = "",
        .run = cli_doctor,
        .sections = doctor_sections,
        .description = "Prints the processor, its vector instructions and caches, memory and its limits, the "
                       "kernels in use, and whether they agree with plain C. It then measures for "
                       "about a second how fast matrix products, a pass over the rows and memory are, on one "
                       "thread and on all, and compares them with the peak speed of the processor. Advice follows "
                       "if something could be improved. Exit code 1: the self-test failed.",
        .examples = {
            {"broad doctor", "if training seems slow"},
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
        .purpose = "explain a command; print manual pages and completion",
        .positional = "[COMMAND]",
        .most = 1,
        .run = cli_help,
        .sections = help_sections,
        .description = "Prints the help of a command or, without COMMAND, the list of commands; or one of the "
                       "forms below.",
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
    const char *nearest = broad__nearest(name, names, COUNT(commands));
    return cli_fail(BROAD_USAGE, "unknown command '%.100s'%s%s%s (see 'broad help')", name,
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

/* Whether an option of the library belongs to the section. */
static int section_takes(const cli_command *command, const cli_section *section, const char *name)
{
    return section->library[0] == '*' ? !named_elsewhere(command, name) : names_have(section->library, name);
}

size_t cli_section_options(const broad_option **out, const cli_command *command, const cli_section *section)
{
    size_t count = 0;
    for (size_t i = 0; i < section->count && count < CLI_OPTIONS_MAX; i++) out[count++] = &section->options[i];
    for (size_t i = 0; section->library && i < broad_option_count() && count < CLI_OPTIONS_MAX; i++) {
        const broad_option *option = broad_option_at(i);
        if (section_takes(command, section, option->name)) out[count++] = option;
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

const broad_option *cli_option_named(const cli_command *command, const char *name)
{
    const broad_option *of_library = cli_library_option(name);
    for (const cli_section *section = command->sections; section->title; section++) {
        for (size_t i = 0; i < section->count; i++)
            if (strcmp(section->options[i].name, name) == 0) return &section->options[i];
        if (of_library && section->library && section_takes(command, section, name)) return of_library;
    }
    return NULL;
}

void cli_option_default(char *out, size_t bytes, const broad_option *option)
{
    broad_options options;
    char automatic[256] = "", paper[256] = "";
    if (option->default_value || cli_library_option(option->name) != option) {
        snprintf(out, bytes, "%s", option->default_value ? option->default_value : "");
        return;
    }
    broad_options_init(&options);
    if (broad_options_get(automatic, sizeof automatic, &options, option->name)) automatic[0] = 0;
    broad_options_preset(&options, BROAD_PRESET_PAPER);
    if (broad_options_get(paper, sizeof paper, &options, option->name)) paper[0] = 0;
    if (strcmp(automatic, paper) == 0) snprintf(out, bytes, "%s", automatic);
    else snprintf(out, bytes, "%s; preset paper: %s", automatic, paper);
}

void cli_format_choices(char *out, size_t bytes, const char *choices)
{
    size_t used = 0;
    out[0] = 0;
    while (*choices && used < bytes) {
        size_t length = strcspn(choices, "|");
        int last = choices[length] == 0, first = used == 0;
        used += (size_t)snprintf(out + used, bytes - used, "%s%.*s",
                                 first  ? ""
                                 : last ? " or "
                                        : ", ",
                                 (int)length, choices);
        choices += length + (last ? 0 : 1);
    }
}
