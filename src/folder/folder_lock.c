/* Folder lock: an open file description's lock, and the text of its file. */
#include "folder/folder_lock.h"

#include "base/below.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum status folder_status_of(int error)
{
    const bool is_users = error == EEXIST || error == ENOTDIR || error == ENAMETOOLONG || error == ELOOP ||
                          error == EMEDIUMTYPE;
    return is_users ? STATUS_USAGE : STATUS_FAILED;
}

static const char lock_name[] = ".lock";

/* Whether the text of a lock file names a process that has ended on this machine, and so has not the lock. */
static bool is_outdated(const char *text)
{
    char host[128] = "", named[128];
    long process;
    gethostname(host, sizeof host - 1);
    return sscanf(text, "process %ld on %127[^,]", &process, named) != 2 ||
           (strcmp(host, named) == 0 && kill((pid_t)process, 0) != 0 && errno == ESRCH);
}

/* The process that has just taken the lock says so a moment later. If it is stopped before it does, the
 * sentence names no process, since the text is that of the last run. */
static enum status refuse_locked(const char *path, int descriptor)
{
    enum { TRIES = 2000 };
    char text[256] = "";
    for (int n = 0; n < TRIES && is_outdated(text); n++) {
        if (n > 0)
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        const ssize_t length = pread(descriptor, text, sizeof text - 1, 0);
        text[length > 0 ? length : 0] = '\0';
        text[strcspn(text, "\n")] = '\0';
    }
    if (is_outdated(text))
        text[0] = '\0';
    return status_fail(
        STATUS_USAGE, "another run is writing to folder %s%s%s; wait for its end, or choose another --output",
        path, text[0] ? ": " : "", text);
}

/* The file stays when the lock is given back: another process may have just opened it. */
enum status folder_lock_take(int folder, const char *path, int *descriptor, bool *has_no_locks)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    const int file = below_open(folder, lock_name, O_RDWR | O_CREAT);
    if (file < 0)
        return status_fail(folder_status_of(errno), "cannot write %s/%s: %s", path, lock_name,
                           below_text(errno));
    if (fcntl(file, F_OFD_SETLK, &whole) ==
        0) { /* what cannot be written is left out: the lock alone counts */
        char host[128] = "", start[64];
        const time_t now = time(NULL);
        struct tm parts;
        gethostname(host, sizeof host - 1);
        strftime(start, sizeof start, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &parts));
        if (ftruncate(file, 0) == 0)
            dprintf(file, "process %ld on %s, started %s\n", (long)getpid(), host, start);
    } else if (errno == EAGAIN || errno == EACCES) {
        const enum status status = refuse_locked(path, file);
        close(file);
        return status;
    } else {
        *has_no_locks = true;
    }
    *descriptor = file;
    return STATUS_OK;
}

enum status folder_lock_look(int folder, const char *path)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    const int file = below_open(folder, lock_name, O_RDONLY);
    const bool is_locked = file >= 0 && fcntl(file, F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
    const enum status status = is_locked ? refuse_locked(path, file) : STATUS_OK;
    below_end(file);
    return status;
}

bool folder_lock_is_on(const char *path, int descriptor)
{
    struct stat own, there;
    const int folder = below_begin(path, 0);
    const bool is_on = fstat(descriptor, &own) == 0 && folder >= 0 && below_look(folder, lock_name, &there) &&
                       own.st_dev == there.st_dev && own.st_ino == there.st_ino;
    below_end(folder);
    return is_on;
}
