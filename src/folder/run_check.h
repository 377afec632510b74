/* Run check: whether the files of a folder are what the run wrote. */
#ifndef RADIXPIC_FOLDER_RUN_CHECK_H
#define RADIXPIC_FOLDER_RUN_CHECK_H

#include "base/log.h"
#include "base/status.h"

/* Reads all files that the file list and the manifest name, and logs a line for each one that is damaged or
 * missing, at LOG_QUIET, and one for the whole. Changes nothing, and passes over files that the run does not
 * name. STATUS_FAILED where a file is damaged or missing, or cannot be read; STATUS_USAGE where the folder
 * holds no run, or one that is going on. */
STATUS_CHECKED enum status run_check(const char *path, struct log *log);

/* STATUS_USAGE where the file list has digests of a file of the folder and none matches it. */
STATUS_CHECKED enum status run_check_file(const char *path, const char *name);

#endif
