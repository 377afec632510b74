/* Below: each name is resolved part by part. */
#include "base/below.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void in_folder_end(int descriptor)
{
    const int error = errno;
    if (descriptor >= 0)
        close(descriptor);
    errno = error;
}

int in_folder_begin(const char *path, int flags)
{
    return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC | flags);
}

int in_folder_enter(int folder, const char *name, const char **last)
{
    char inner[NAME_MAX + 1];
    const char *slash = strchr(name, '/');
    *last = slash ? slash + 1 : name;
    if (!slash)
        return fcntl(folder, F_DUPFD_CLOEXEC, 0);
    if (name[0] == '.' || strchr(*last, '/')) { /* ".." and "FOLDER//tmp/NAME" would lead out */
        errno = EINVAL;
        return -1;
    }
    snprintf(inner, sizeof inner, "%.*s", (int)(slash - name), name);
    return openat(folder, inner, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int in_folder_open(int folder, const char *name, int flags)
{
    struct stat found;
    const char *last;
    const int above = in_folder_enter(folder, name, &last);
    if (above < 0)
        return -1;
    const int file = openat(above, last, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
    in_folder_end(above);
    if (file < 0 || (fstat(file, &found) == 0 && S_ISREG(found.st_mode)))
        return file;
    close(file);
    errno = EMEDIUMTYPE;
    return -1;
}

bool in_folder_look(int folder, const char *name, struct stat *found)
{
    const char *last;
    const int above = in_folder_enter(folder, name, &last);
    const bool is_there = above >= 0 && fstatat(above, last, found, AT_SYMLINK_NOFOLLOW) == 0;
    in_folder_end(above);
    return is_there;
}

bool in_folder_remove(int folder, const char *name, int flags)
{
    const char *last;
    const int above = in_folder_enter(folder, name, &last);
    const bool removed = above >= 0 && unlinkat(above, last, flags) == 0;
    in_folder_end(above);
    return removed;
}

/* A file system that cannot sync reports EINVAL: its writes and renames are as safe as they get. */
bool sync_file(int descriptor)
{
    return fsync(descriptor) == 0 || errno == EINVAL;
}

/* A folder may be writable and not readable. */
bool in_folder_sync(int folder, const char *name)
{
    const char *last;
    const int above = in_folder_enter(folder, name, &last);
    const int names = above >= 0 ? openat(above, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    const bool synced = names >= 0 ? sync_file(names) : above >= 0 && errno == EACCES;
    in_folder_end(names);
    in_folder_end(above);
    return synced;
}

const char *in_folder_text(int error)
{
    return error == ELOOP         ? "a symbolic link is not followed here"
           : error == EMEDIUMTYPE ? "it is no regular file"
                                  : strerror(error);
}

bool in_folder_digest(int descriptor, uint64_t *bytes, XXH3_state_t *state)
{
    char piece[1 << 15];
    const uint64_t most = *bytes;
    ssize_t count = 1;
    for (*bytes = 0; count > 0 && *bytes < most;) {
        const uint64_t left = most - *bytes;
        count = pread(descriptor, piece, left < sizeof piece ? (size_t)left : sizeof piece, (off_t)*bytes);
        if (count > 0)
            XXH3_64bits_update(state, piece, (size_t)count);
        *bytes += count > 0 ? (uint64_t)count : 0;
    }
    return count >= 0;
}

bool in_folder_append(int descriptor, const char *text, size_t length, uint64_t before)
{
    for (size_t done = 0; done < length;) {
        const ssize_t more = write(descriptor, text + done, length - done);
        if (more < 0 && errno == EINTR)
            continue;
        if (more < 0) {
            const int error = errno;
            /* Where that fails too, a part of a line is all that is lost. */
            const int taken_back = ftruncate(descriptor, (off_t)before);
            (void)taken_back;
            errno = error;
            return false;
        }
        done += (size_t)more;
    }
    return true;
}
