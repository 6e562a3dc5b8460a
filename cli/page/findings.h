/* What a model finds in photos, worst first, and the tables that are made of it: findings.csv, findings.geojson, skipped.csv. */
#ifndef BROAD_CLI_PAGE_FINDINGS_H
#define BROAD_CLI_PAGE_FINDINGS_H

#include "io/quote.h"

#define CLI_CERTAIN 0.65 /* a verdict that is less probable than this is unsure */
#define CLI_INTERVAL 0.9 /* level of the intervals of values */
enum { CLI_NO_CLASS = -1 };

/* Numbers that there are none of are NaN. */
typedef struct cli_finding {
    const broad_photo *photo;
    size_t row;         /* of the table */
    int label, truth;   /* classes, or CLI_NO_CLASS */
    double probability; /* of the positive class */
    double certainty;   /* probability of the verdict */
    double severity;    /* probability of the positive class, or the value */
    double low, high;   /* interval of the value */
    double area; /* part of the picture that speaks clearly for the positive class; of positive verdicts and values */
    double rank; /* worst: largest */
    int unsure;
} cli_finding;

typedef struct cli_findings {
    const broad_model *model;
    const broad_data *data;
    double *scores; /* rows x outputs */
    size_t count;
    cli_finding *items;                                    /* worst first, then in order of the rows */
    int classes;                                           /* 0: the model gives values */
    int probabilities, intervals, truths, cropped, places; /* whether there are any */
    size_t *twins;                                         /* of each row: photos of its group */
} cli_findings;

/* Model and data must outlive it. */
int cli_findings_make(cli_findings *out, const broad_model *model, const broad_data *data, size_t threads);
void cli_findings_clear(cli_findings *findings); /* accepts a zeroed one */

int cli_finding_is_positive(const cli_findings *findings, const cli_finding *finding);
const char *cli_finding_label(const cli_findings *findings, int label); /* "" where there is none */
int cli_finding_has_place(const cli_finding *finding);
/* The first photo of its group of near-duplicates; "" where it is alone. */
const char *cli_finding_group(const cli_findings *findings, const cli_finding *finding);

int cli_findings_write_csv(const cli_findings *findings, const char *path);
/* RFC 7946: points of those that say where they were taken. */
int cli_findings_write_geojson(const cli_findings *findings, const char *path);
int cli_skipped_write_csv(const broad_data *data, const char *path);

#endif
