/* CSV file: opening and closing, with the errors of both. */
#include "experiments/csv_file.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

enum status csv_file_open(const char *path, const char *header, FILE **csv)
{
    *csv = NULL;
    if (!path)
        return STATUS_OK;
    *csv = fopen(path, "w");
    if (!*csv)
        return status_fail(STATUS_FAILED, "--csv: cannot write %s: %s", path, strerror(errno));
    fprintf(*csv, "%s\n", header);
    return STATUS_OK;
}

enum status csv_file_close(const char *path, FILE **csv, enum status status)
{
    if (!*csv)
        return status;
    bool failed = ferror(*csv) != 0;
    failed |= fclose(*csv) != 0;
    *csv = NULL;
    if (failed && status == STATUS_OK)
        return status_fail(STATUS_FAILED, "--csv: cannot write %s: %s", path, strerror(errno));
    return status;
}
