/* Counts the calls by which a process changes files below a folder, and does something at one of them
 * (LD_PRELOAD).
 *
 * FAULT_FOLDER   the absolute path of the folder; without it nothing is counted
 * FAULT_COUNTER  a file of 8 bytes that holds the count; processes that name the same file count together
 * FAULT_CALL     the number of the call at which something happens, the first being 1; 0 only counts
 * FAULT_ACTION   kill  SIGKILL before the call
 *                half  SIGKILL after the first half of what is written; only calls that write are counted
 *                stop  SIGSTOP before the call, which is made after SIGCONT
 *                a number: the call is not made and fails with this errno
 *
 * A stream counts when its buffer is written by fflush() or fclose(). Calls that libc makes within itself,
 * such as that of a fprintf() whose buffer is full, are not seen: the next call that is seen comes soon after
 * them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static const char *folder;
static uint64_t *counter; /* shared by all processes */
static uint64_t at;
static const char *action = "";

/* The function of this name in the libraries behind this one. */
#define NEXT(name)                                                                                           \
    __typeof__(&name) next;                                                                                  \
    *(void **)&next = dlsym(RTLD_NEXT, #name)

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("FAULT_COUNTER"), *call = getenv("FAULT_CALL");
    const int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *shared = mmap(NULL, sizeof *counter, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file < 0 || shared == MAP_FAILED)
        return;
    close(file);
    counter = shared;
    at = call ? strtoull(call, NULL, 10) : 0;
    action = getenv("FAULT_ACTION") ? getenv("FAULT_ACTION") : "";
    folder = getenv("FAULT_FOLDER");
}

/* ---- what is below the folder ---- */

static bool is_below(const char *path)
{
    const size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

static bool file_is_below(int file)
{
    char link[32], path[PATH_MAX];
    if (!folder)
        return false;
    const int error = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    const ssize_t length = readlink(link, path, sizeof path - 1);
    path[length < 0 ? 0 : length] = '\0';
    errno = error;
    return is_below(path);
}

/* A path relative to the folder behind `base`, which may be AT_FDCWD. */
static bool path_is_below(int base, const char *name)
{
    char link[32] = "/proc/self/cwd", path[2 * PATH_MAX];
    if (!folder || name[0] == '/')
        return folder && is_below(name);
    const int error = errno;
    if (base != AT_FDCWD)
        snprintf(link, sizeof link, "/proc/self/fd/%d", base);
    const ssize_t length = readlink(link, path, PATH_MAX - 1);
    snprintf(path + (length < 0 ? 0 : length), PATH_MAX, "/%s", name);
    errno = error;
    return is_below(path);
}

/* ---- what happens ---- */

static bool is_half(void)
{
    return strcmp(action, "half") == 0;
}

static bool is_now(const char *name)
{
    const bool now = __atomic_add_fetch(counter, 1, __ATOMIC_SEQ_CST) == at;
    if (now)
        dprintf(STDERR_FILENO, "kill_at: %s at call %llu, %s\n", action, (unsigned long long)at, name);
    return now;
}

/* Counts a call if it is one on the folder; whether it has to fail. */
static bool fails(const char *name, bool below)
{
    if (!below || is_half() || !is_now(name))
        return false;
    if (strcmp(action, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(action, "stop") == 0) {
        raise(SIGSTOP);
        return false;
    }
    errno = atoi(action);
    return true;
}

/* ---- calls with a path ---- */

#define ON_PATH(name, parameters, arguments, base, path)                                                     \
    int name parameters                                                                                      \
    {                                                                                                        \
        NEXT(name);                                                                                          \
        return fails(#name, path_is_below(base, path)) ? -1 : next arguments;                                \
    }

ON_PATH(rename, (const char *from, const char *to), (from, to), AT_FDCWD, to)
ON_PATH(renameat, (int old, const char *from, int new, const char *to), (old, from, new, to), new, to)
ON_PATH(link, (const char *from, const char *to), (from, to), AT_FDCWD, to)
ON_PATH(unlink, (const char *path), (path), AT_FDCWD, path)
ON_PATH(unlinkat, (int base, const char *path, int flags), (base, path, flags), base, path)
ON_PATH(remove, (const char *path), (path), AT_FDCWD, path)
ON_PATH(mkdir, (const char *path, mode_t mode), (path, mode), AT_FDCWD, path)
ON_PATH(rmdir, (const char *path), (path), AT_FDCWD, path)

static bool is_change(int flags)
{
    return (flags & O_ACCMODE) != O_RDONLY || flags & (O_CREAT | O_TRUNC);
}

#define ON_OPEN(name, parameters, base, ...)                                                                 \
    int name parameters                                                                                      \
    {                                                                                                        \
        NEXT(name);                                                                                          \
        va_list more;                                                                                        \
        va_start(more, flags);                                                                               \
        const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;                        \
        va_end(more);                                                                                        \
        return fails(#name, is_change(flags) && path_is_below(base, path)) ? -1 : next(__VA_ARGS__);         \
    }

ON_OPEN(open, (const char *path, int flags, ...), AT_FDCWD, path, flags, mode)
ON_OPEN(open64, (const char *path, int flags, ...), AT_FDCWD, path, flags, mode)
ON_OPEN(openat, (int base, const char *path, int flags, ...), base, base, path, flags, mode)
ON_OPEN(openat64, (int base, const char *path, int flags, ...), base, base, path, flags, mode)

#define ON_FOPEN(name)                                                                                       \
    FILE *name(const char *path, const char *mode)                                                           \
    {                                                                                                        \
        NEXT(name);                                                                                          \
        const bool change = mode[0] != 'r' || strchr(mode, '+');                                             \
        return fails(#name, change && path_is_below(AT_FDCWD, path)) ? NULL : next(path, mode);              \
    }

ON_FOPEN(fopen)
ON_FOPEN(fopen64)

/* ---- calls with a descriptor ---- */

#define ON_FILE(name, parameters, arguments)                                                                 \
    int name parameters                                                                                      \
    {                                                                                                        \
        NEXT(name);                                                                                          \
        return fails(#name, file_is_below(file)) ? -1 : next arguments;                                      \
    }

ON_FILE(fsync, (int file), (file))
ON_FILE(fdatasync, (int file), (file))
ON_FILE(ftruncate, (int file, off_t size), (file, size))
ON_FILE(ftruncate64, (int file, off64_t size), (file, size))
ON_FILE(flock, (int file, int operation), (file, operation))

#define ON_FCNTL(name)                                                                                       \
    int name(int file, int command, ...)                                                                     \
    {                                                                                                        \
        NEXT(name);                                                                                          \
        va_list more;                                                                                        \
        va_start(more, command);                                                                             \
        void *argument = va_arg(more, void *);                                                               \
        va_end(more);                                                                                        \
        const bool locks =                                                                                   \
            command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK || command == F_OFD_SETLKW;  \
        return fails(#name, locks && file_is_below(file)) ? -1 : next(file, command, argument);              \
    }

ON_FCNTL(fcntl)
ON_FCNTL(fcntl64)

/* ---- calls that write ---- */

/* Half of `size` is written and nothing after it. */
#define ON_WRITE(name, parameters, all, half)                                                                \
    ssize_t name parameters                                                                                  \
    {                                                                                                        \
        NEXT(name);                                                                                          \
        const bool below = file_is_below(file);                                                              \
        if (below && is_half() && is_now(#name)) {                                                           \
            (void)!next half;                                                                                \
            raise(SIGKILL);                                                                                  \
        }                                                                                                    \
        return fails(#name, below) ? -1 : next all;                                                          \
    }

ON_WRITE(write, (int file, const void *data, size_t size), (file, data, size), (file, data, size / 2))
ON_WRITE(writev, (int file, const struct iovec *parts, int count), (file, parts, count),
         (file, parts, count / 2))
ON_WRITE(pwrite, (int file, const void *data, size_t size, off_t offset), (file, data, size, offset),
         (file, data, size / 2, offset))
ON_WRITE(pwrite64, (int file, const void *data, size_t size, off64_t offset), (file, data, size, offset),
         (file, data, size / 2, offset))

/* With a buffer that holds something; `end` is what is left to do when the call fails. */
#define ON_STREAM(name, end)                                                                                 \
    int name(FILE *stream)                                                                                   \
    {                                                                                                        \
        NEXT(name);                                                                                          \
        const size_t size = stream ? __fpending(stream) : 0;                                                 \
        const bool below = size > 0 && file_is_below(fileno(stream));                                        \
        if (below && is_half() && is_now(#name)) {                                                           \
            (void)!write(fileno(stream), stream->_IO_write_base, size / 2);                                  \
            raise(SIGKILL);                                                                                  \
        }                                                                                                    \
        if (!fails(#name, below))                                                                            \
            return next(stream);                                                                             \
        const int error = errno;                                                                             \
        end;                                                                                                 \
        errno = error;                                                                                       \
        return EOF;                                                                                          \
    }

ON_STREAM(fflush, (void)0)
ON_STREAM(fclose, next(stream))
