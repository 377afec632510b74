/* CSV file: where an experiment writes its rows when --csv asks for it. */
#ifndef RADIXPIC_EXPERIMENTS_CSV_FILE_H
#define RADIXPIC_EXPERIMENTS_CSV_FILE_H

#include "base/status.h"

#include <stdio.h>

/* Creates `path` and writes the line `header`; without a path *csv is NULL. STATUS_FAILED names --csv, path
 * and errno text. The caller closes it. */
STATUS_CHECKED enum status csv_file_open(const char *path, const char *header, FILE **csv);

/* Closes the file, if there is one. Returns `status` where that is a failure already, else STATUS_FAILED when
 * anything could not be written. */
STATUS_CHECKED enum status csv_file_close(const char *path, FILE **csv, enum status status);

#endif
