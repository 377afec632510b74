/* Folder lock: an open file description's lock, and the text of its file. */
#include "output/folder_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum status folder_status_of(int error)
{
    return error == EEXIST || error == ENOTDIR || error == ENAMETOOLONG || error == ELOOP ? STATUS_USAGE
                                                                                          : STATUS_FAILED;
}

static const char *path_of(const char *folder, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/.lock", folder);
    return path;
}

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
static enum status refuse_locked(const char *folder, int descriptor)
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
        folder, text[0] ? ": " : "", text);
}

/* Says in the lock file which process has it. What cannot be written is left out: the lock alone counts. */
static void sign(int descriptor)
{
    char host[128] = "", start[64];
    const time_t now = time(NULL);
    struct tm parts;
    gethostname(host, sizeof host - 1);
    strftime(start, sizeof start, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &parts));
    if (ftruncate(descriptor, 0) == 0)
        dprintf(descriptor, "process %ld on %s, started %s\n", (long)getpid(), host, start);
}

/* The file stays when the lock is given back, for removing it would take it from a process that has just
 * opened it. */
enum status folder_lock_take(const char *folder, int *descriptor, bool *has_no_locks)
{
    char path[PATH_MAX];
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    const int file =
        open(path_of(folder, path), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0666);
    if (file < 0)
        return status_fail(folder_status_of(errno), "cannot write %s: %s", path, strerror(errno));
    if (fcntl(file, F_OFD_SETLK, &whole) == 0) {
        sign(file);
    } else if (errno == EAGAIN || errno == EACCES) {
        const enum status status = refuse_locked(folder, file);
        close(file);
        return status;
    } else {
        *has_no_locks = true;
    }
    *descriptor = file;
    return STATUS_OK;
}

bool folder_lock_is_on(const char *folder, int descriptor)
{
    char path[PATH_MAX];
    struct stat own, there;
    return fstat(descriptor, &own) == 0 && stat(path_of(folder, path), &there) == 0 &&
           own.st_dev == there.st_dev && own.st_ino == there.st_ino;
}
