/* Regular: the check is of what was opened, which no other file can take the place of. */
#include "base/regular.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

FILE *regular_open(const char *path, struct stat *found, const char **why)
{
    struct stat own, *const seen = found ? found : &own;
    *seen = (struct stat){0};
    const int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    const bool is_seen = descriptor >= 0 && fstat(descriptor, seen) == 0;
    if (is_seen && !S_ISREG(seen->st_mode)) {
        close(descriptor);
        errno = S_ISDIR(seen->st_mode) ? EISDIR : 0;
        *why = errno == EISDIR ? strerror(EISDIR) : "it is no regular file";
        return NULL;
    }
    FILE *file = is_seen ? fdopen(descriptor, "rb") : NULL;
    if (!file) {
        const int error_number = errno;
        if (descriptor >= 0)
            close(descriptor);
        errno = error_number;
        *why = strerror(error_number);
    }
    return file;
}

enum status regular_require(const char *path, enum status failure, FILE **file, struct stat *found)
{
    const char *why = "";
    *file = regular_open(path, found, &why);
    return *file ? STATUS_OK : status_fail(failure, "%s: cannot read it: %s", path, why);
}

char *regular_read(const char *path, size_t most, size_t *length, const char **why)
{
    FILE *file = regular_open(path, NULL, why);
    if (!file)
        return NULL;
    char *text = malloc(most + 1);
    *length = text ? fread(text, 1, most + 1, file) : 0;
    const int error_number = !text ? ENOMEM : ferror(file) ? errno : 0;
    fclose(file);
    if (error_number == 0)
        return text;
    free(text);
    errno = error_number;
    *why = strerror(error_number);
    return NULL;
}
