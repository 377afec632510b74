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
 *                memory: what is counted is each malloc() and calloc() of the program itself, in all threads;
 *                that one has no memory
 * FAULT_RECORD   a file to which every call is added once it was made, in the order of the calls of all
 *                processes; see record()
 *
 * A stream counts when its buffer is written by fflush() or fclose(). Calls that libc makes within itself,
 * such as that of a fprintf() whose buffer is full, are not seen: the next call that is seen comes soon after
 * them. While calls are recorded a stream has a buffer that is larger than all that is written to it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *folder;
static void *program;     /* where it begins; NULL: its memory is not counted */
static uint64_t *counter; /* shared by all processes */
static uint64_t at;
static const char *action = "";
static int recorded = -1; /* the file of FAULT_RECORD */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local bool has_lock; /* from before a call until it is recorded */

/* The function of this name in the libraries behind this one. */
#define NEXT(name)                                                                                           \
    __typeof__(&name) next;                                                                                  \
    *(void **)&next = dlsym(RTLD_NEXT, #name)

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("FAULT_COUNTER"), *call = getenv("FAULT_CALL");
    const char *record = getenv("FAULT_RECORD");
    const int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *shared = mmap(NULL, sizeof *counter, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file < 0 || shared == MAP_FAILED)
        return;
    close(file);
    counter = shared;
    at = call ? strtoull(call, NULL, 10) : 0;
    action = getenv("FAULT_ACTION") ? getenv("FAULT_ACTION") : "";
    recorded = record && record[0] ? open(record, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666) : -1;
    folder = getenv("FAULT_FOLDER");
    Dl_info info;
    if (strcmp(action, "memory") == 0 && dladdr((void *)getauxval(AT_ENTRY), &info) != 0)
        program = info.dli_fbase;
}

/* ---- what is below the folder ---- */

static bool is_below(const char *path)
{
    const size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

/* The path that a link in /proc/self stands for, with `name` behind it. */
static const char *follow(const char *link, const char *name, char path[2 * PATH_MAX])
{
    const int error = errno;
    const ssize_t length = readlink(link, path, PATH_MAX - 1);
    snprintf(path + (length < 0 ? 0 : length), PATH_MAX, "%s%s", name[0] ? "/" : "", name);
    errno = error;
    return path;
}

static const char *path_of_file(int file, char path[2 * PATH_MAX])
{
    char link[32];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    return follow(link, "", path);
}

static bool file_is_below(int file)
{
    char path[2 * PATH_MAX];
    return folder && is_below(path_of_file(file, path));
}

/* A path relative to the folder behind `base`, which may be AT_FDCWD; an absolute one may begin with a
 * descriptor. */
static const char *path_of(int base, const char *name, char path[2 * PATH_MAX])
{
    char link[32];
    int file, used = 0;
    if (sscanf(name, "/proc/self/fd/%d%n", &file, &used) == 1)
        return path_of(file, name + used + (name[used] == '/'), path);
    if (name[0] == '/')
        return name;
    snprintf(link, sizeof link, "/proc/self/fd/%d", base);
    return follow(base == AT_FDCWD ? "/proc/self/cwd" : link, name, path);
}

static bool path_is_below(int base, const char *name)
{
    char path[2 * PATH_MAX];
    return folder && is_below(path_of(base, name, path));
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
    if (below && recorded >= 0 && !has_lock) {
        pthread_mutex_lock(&lock);
        flock(recorded, LOCK_EX);
        has_lock = true;
    }
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

/* ---- memory ---- */

extern void *__libc_malloc(size_t size), *__libc_calloc(size_t count, size_t size);

static bool is_missing(const void *caller)
{
    Dl_info info;
    if (!program || dladdr(caller, &info) == 0 || info.dli_fbase != program || !is_now("memory"))
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return is_missing(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return is_missing(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

/* ---- what is recorded ---- */

/* "NAME NUMBER SIZE", its paths and the data, each in a line of its own; returns what the call returned. */
static ssize_t record(const char *name, ssize_t result, const char *path, const char *to, off_t number,
                      const void *data, size_t size)
{
    const int error = errno;
    if (!has_lock)
        return result;
    has_lock = false; /* the calls below come here, too */
    if (result >= 0) {
        dprintf(recorded, "%s %lld %zu\n%s\n%s\n", name, (long long)number, size, path, to);
        (void)!write(recorded, data, size);
        (void)!write(recorded, "\n", 1);
    }
    flock(recorded, LOCK_UN);
    pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}

/* A number of bytes that begin at `place`, or where a descriptor stands before it. */
static ssize_t record_write(int file, ssize_t result, off_t place, const void *data)
{
    char path[2 * PATH_MAX];
    if (has_lock && place < 0)
        place = lseek(file, 0, SEEK_CUR) - result;
    return has_lock ? record("write", result, path_of_file(file, path), "", place, data, (size_t)result)
                    : result;
}

/* ---- calls with a path ---- */

/* `other` is the name that the path had before. */
#define ON_PATH(name, parameters, arguments, base, path, other, number)                                      \
    int name parameters                                                                                      \
    {                                                                                                        \
        NEXT(name);                                                                                          \
        char paths[2][2 * PATH_MAX] = {""};                                                                  \
        return fails(#name, path_is_below(base, path))                                                       \
                   ? -1                                                                                      \
                   : (int)record(#name, next arguments, path_of(base, path, paths[0]), other, number, "",    \
                                 0);                                                                         \
    }

ON_PATH(rename, (const char *from, const char *to), (from, to), AT_FDCWD, to,
        path_of(AT_FDCWD, from, paths[1]), 0)
ON_PATH(renameat, (int old, const char *from, int new, const char *to), (old, from, new, to), new, to,
        path_of(old, from, paths[1]), 0)
ON_PATH(link, (const char *from, const char *to), (from, to), AT_FDCWD, to, path_of(AT_FDCWD, from, paths[1]),
        0)
ON_PATH(unlink, (const char *path), (path), AT_FDCWD, path, paths[1], 0)
ON_PATH(unlinkat, (int base, const char *path, int flags), (base, path, flags), base, path, paths[1], 0)
ON_PATH(remove, (const char *path), (path), AT_FDCWD, path, paths[1], 0)
ON_PATH(mkdir, (const char *path, mode_t mode), (path, mode), AT_FDCWD, path, paths[1], 0)
ON_PATH(mkdirat, (int base, const char *path, mode_t mode), (base, path, mode), base, path, paths[1], 0)
ON_PATH(rmdir, (const char *path), (path), AT_FDCWD, path, paths[1], 0)
ON_PATH(truncate, (const char *path, off_t size), (path, size), AT_FDCWD, path, paths[1], size)
ON_PATH(truncate64, (const char *path, off64_t size), (path, size), AT_FDCWD, path, paths[1], size)

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
        char full[2 * PATH_MAX];                                                                             \
        return fails(#name, is_change(flags) && path_is_below(base, path))                                   \
                   ? -1                                                                                      \
                   : (int)record("open", next(__VA_ARGS__), path_of(base, path, full), "",                   \
                                 flags & (O_CREAT | O_TRUNC), "", 0);                                        \
    }

ON_OPEN(open, (const char *path, int flags, ...), AT_FDCWD, path, flags, mode)
ON_OPEN(open64, (const char *path, int flags, ...), AT_FDCWD, path, flags, mode)
ON_OPEN(openat, (int base, const char *path, int flags, ...), base, base, path, flags, mode)
ON_OPEN(openat64, (int base, const char *path, int flags, ...), base, base, path, flags, mode)

/* Its buffer of 1 MiB, while calls are recorded, is never freed. */
static FILE *widen(FILE *stream)
{
    enum { MOST = 1 << 20 };
    if (recorded >= 0 && stream && file_is_below(fileno(stream)))
        setvbuf(stream, malloc(MOST), _IOFBF, MOST);
    return stream;
}

#define ON_FOPEN(name)                                                                                       \
    FILE *name(const char *path, const char *mode)                                                           \
    {                                                                                                        \
        NEXT(name);                                                                                          \
        char full[2 * PATH_MAX];                                                                             \
        if (fails(#name, (mode[0] != 'r' || strchr(mode, '+')) && path_is_below(AT_FDCWD, path)))            \
            return NULL;                                                                                     \
        FILE *stream = next(path, mode);                                                                     \
        const int flags = (mode[0] != 'r' ? O_CREAT : 0) | (mode[0] == 'w' ? O_TRUNC : 0);                   \
        record("open", stream ? 0 : -1, path_of(AT_FDCWD, path, full), "", flags, "", 0);                    \
        return widen(stream);                                                                                \
    }

ON_FOPEN(fopen)
ON_FOPEN(fopen64)

FILE *fdopen(int file, const char *mode)
{
    NEXT(fdopen);
    return widen(next(file, mode));
}

/* ---- calls with a descriptor ---- */

#define ON_FILE(name, parameters, arguments, number)                                                         \
    int name parameters                                                                                      \
    {                                                                                                        \
        NEXT(name);                                                                                          \
        char path[2 * PATH_MAX];                                                                             \
        return fails(#name, file_is_below(file))                                                             \
                   ? -1                                                                                      \
                   : (int)record(#name, next arguments, path_of_file(file, path), "", number, "", 0);        \
    }

ON_FILE(fsync, (int file), (file), 0)
ON_FILE(fdatasync, (int file), (file), 0)
ON_FILE(ftruncate, (int file, off_t size), (file, size), size)
ON_FILE(ftruncate64, (int file, off64_t size), (file, size), size)
ON_FILE(flock, (int file, int operation), (file, operation), 0)

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
        if (fails(#name, locks && file_is_below(file)))                                                      \
            return -1;                                                                                       \
        return (int)record(#name, next(file, command, argument), "", "", 0, "", 0);                          \
    }

ON_FCNTL(fcntl)
ON_FCNTL(fcntl64)

/* ---- calls that write ---- */

/* Half of `size` is written and nothing after it. */
#define ON_WRITE(name, parameters, all, half, place, data)                                                   \
    ssize_t name parameters                                                                                  \
    {                                                                                                        \
        NEXT(name);                                                                                          \
        const bool below = file_is_below(file);                                                              \
        if (below && is_half() && is_now(#name)) {                                                           \
            (void)!next half;                                                                                \
            raise(SIGKILL);                                                                                  \
        }                                                                                                    \
        return fails(#name, below) ? -1 : record_write(file, next all, place, data);                         \
    }

ON_WRITE(write, (int file, const void *data, size_t size), (file, data, size), (file, data, size / 2), -1,
         data)
ON_WRITE(pwrite, (int file, const void *data, size_t size, off_t offset), (file, data, size, offset),
         (file, data, size / 2, offset), offset, data)
ON_WRITE(pwrite64, (int file, const void *data, size_t size, off64_t offset), (file, data, size, offset),
         (file, data, size / 2, offset), offset, data)

/* Where a stream writes next. */
static off_t place_of(int file)
{
    return lseek(file, 0, fcntl(file, F_GETFL) & O_APPEND ? SEEK_END : SEEK_CUR);
}

/* With a buffer that holds something; `end` is what is left to do when the call fails. */
#define ON_STREAM(name, end)                                                                                 \
    int name(FILE *stream)                                                                                   \
    {                                                                                                        \
        NEXT(name);                                                                                          \
        const size_t size = stream ? __fpending(stream) : 0;                                                 \
        const bool below = size > 0 && file_is_below(fileno(stream));                                        \
        const off_t place = below ? place_of(fileno(stream)) : 0;                                            \
        if (below && is_half() && is_now(#name)) {                                                           \
            (void)!write(fileno(stream), stream->_IO_write_base, size / 2);                                  \
            raise(SIGKILL);                                                                                  \
        }                                                                                                    \
        if (!fails(#name, below)) {                                                                          \
            const char *data = below ? stream->_IO_write_base : "";                                          \
            record_write(below ? fileno(stream) : -1, (ssize_t)size, place, data);                           \
            return next(stream);                                                                             \
        }                                                                                                    \
        const int error = errno;                                                                             \
        end;                                                                                                 \
        errno = error;                                                                                       \
        return EOF;                                                                                          \
    }

ON_STREAM(fflush, stream->_flags |= _IO_ERR_SEEN)
ON_STREAM(fclose, next(stream))
