/* Regular: the check is of what was opened, which no other file can take the place of. */
#include "base/regular.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

FILE *regular_open(const char *path, const char **why)
{
    struct stat found;
    const int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (descriptor >= 0 && fstat(descriptor, &found) == 0 &&
        !(S_ISREG(found.st_mode) || S_ISDIR(found.st_mode))) {
        close(descriptor);
        errno = 0;
        *why = "it is no regular file";
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
