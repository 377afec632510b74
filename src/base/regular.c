/* Regular: the check is of what was opened, which no other file can take the place of. */
#include "base/regular.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

FILE *regular_open(const char *path, const char **why)
{
    struct stat found;
    const int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (descriptor >= 0 && fstat(descriptor, &found) == 0 && !S_ISREG(found.st_mode)) {
        close(descriptor);
        errno = S_ISDIR(found.st_mode) ? EISDIR : 0;
        *why = errno == EISDIR ? strerror(EISDIR) : "it is no regular file";
        return NULL;
    }
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "rb") : NULL;
    if (!file) {
        const int error_number = errno;
        if (descriptor >= 0)
            close(descriptor);
        errno = error_number;
        *why = strerror(error_number);
    }
    return file;
}

char *regular_read(const char *path, size_t most, size_t *length, const char **why)
{
    FILE *file = regular_open(path, why);
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
