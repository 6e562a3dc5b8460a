/* All that is wrong with delimited text, in one message. */
#ifndef BROAD_DATA_FORMAT_CSV_FAULTS_H
#define BROAD_DATA_FORMAT_CSV_FAULTS_H

#include "data/format/csv_fill.h"

/* After broad__csv_fill() failed for what the text holds: the first message stays, and those of further lines are added. */
int broad__csv_faults(const broad__csv *csv, const broad__roles *roles, const broad__csv_request *request);

#endif
