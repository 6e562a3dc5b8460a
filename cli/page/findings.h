/* What a model finds in photos, and the tables that are made of it: findings.csv, findings.geojson, skipped.csv. */
#ifndef BROAD_CLI_PAGE_FINDINGS_H
#define BROAD_CLI_PAGE_FINDINGS_H

#include "io/quote.h"

#define CLI_CERTAIN 0.65 /* a verdict that is less probable than this is unsure */
#define CLI_INTERVAL 0.9 /* level of the intervals of values */
enum { CLI_NO_CLASS = -1 };

/* Numbers that there are none of are NaN. */
typedef struct cli_finding {
    const broad_photo *photo;
    size_t row;                  /* of the table */
    int label, truth;            /* classes, or CLI_NO_CLASS; the label is the most probable one */
    const double *probabilities; /* of all classes; NULL: none */
    double fault;                /* probability of any class but the normal one */
    double certainty;            /* probability of the label */
    double value;                /* of a regression */
    double low, high;            /* its interval */
    double rank;                 /* the probability of a fault, else by how much its score leads, else the value */
    int unsure, unlike;          /* what the verdict is then; unlike: not like the training photos */
} cli_finding;

typedef struct cli_findings {
    const broad_model *model;
    const broad_data *data;
    double *scores, *all_probabilities; /* rows x outputs */
    size_t count;
    cli_finding *items;                     /* the largest rank first, then in order of the rows */
    int classes;                            /* 0: the model gives values */
    int probabilities;                      /* whether there are any */
    int intervals, truths, cropped, places; /* likewise */
    size_t *twins;                          /* of each row: photos of its group */
} cli_findings;

/* Model and data must outlive it. */
int cli_findings_make(cli_findings *out, const broad_model *model, const broad_data *data, size_t threads);
void cli_findings_clear(cli_findings *findings); /* accepts a zeroed one */

int cli_finding_is_sure(const cli_finding *finding);                                /* neither unsure nor unlike */
int cli_finding_is_fault(const cli_findings *findings, const cli_finding *finding); /* not of the normal class */
/* Its class, CLI_UNSURE or CLI_UNLIKE; of a value "", or "unlike". */
const char *cli_finding_verdict(const cli_findings *findings, const cli_finding *finding);
const char *cli_finding_label(const cli_findings *findings, int label); /* "" where there is none */
int cli_finding_has_place(const cli_finding *finding);
/* The first photo of its group of near-duplicates; "" where it is alone. */
const char *cli_finding_group(const cli_findings *findings, const cli_finding *finding);

/* Of each finding: the path of its picture as seen from the report. */
typedef struct cli_links {
    char **photo, **heat; /* NULL: none */
} cli_links;

/* With a byte order mark, so that spreadsheets read it as UTF-8. */
int cli_findings_write_csv(const cli_findings *findings, const cli_links *links, const char *path);
/* RFC 7946: points of those that say where they were taken. */
int cli_findings_write_geojson(const cli_findings *findings, const cli_links *links, const char *path);
int cli_skipped_write_csv(const broad_data *data, const char *path);

#endif
