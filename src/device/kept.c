/* Kept programs: the binaries of those that are built again and again, and one build for all processes.
 *
 * In the user's cache folder programs/DIGEST.uses has a byte for each time that a program was built, and
 * programs/DIGEST.binary what the driver made of it. The digest is of the device, its driver, the options,
 * PoCL's variables that change code, and the source, so that nothing of another version is ever found.
 * Whatever goes wrong here, the program is built from its source. */
#include "device/internal.h"

#include "base/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

/* PoCL makes a binary in 0.3 to 0.6 s, for it compiles all kernels once more, and takes 0.02 s for a program
 * that it has compiled before, 0.002 s for a binary. */
enum { WORTH_A_BINARY = 12, MOST_BYTES = 1 << 28, MOST_WAIT = 60 /* s */ };

/* What a file of a binary begins with. PoCL 3.1 ends the process by SIGSEGV where a binary is cut. */
struct header {
    XXH128_canonical_t program, content;
    uint64_t bytes;
};

static XXH128_canonical_t digest_of_bytes(const void *bytes, size_t length)
{
    XXH128_canonical_t digest;
    XXH128_canonicalFromHash(&digest, XXH3_128bits(bytes, length));
    return digest;
}

static XXH128_canonical_t digest_of(const struct core *core, const char *options, const char *source)
{
    const char *flags = getenv("POCL_EXTRA_BUILD_FLAGS"), *method = getenv("POCL_WORK_GROUP_METHOD");
    const struct device_info *info = &core->info;
    const char *const texts[] = {info->name, info->driver, info->platform,     info->version,
                                 options,    source,       flags ? flags : "", method ? method : ""};
    XXH128_canonical_t digests[sizeof texts / sizeof texts[0]];
    for (size_t n = 0; n < sizeof texts / sizeof texts[0]; n++)
        digests[n] = digest_of_bytes(texts[n], strlen(texts[n]));
    return digest_of_bytes(digests, sizeof digests);
}

/* A file of this user that no other can write to; -1 where it is none. */
static int open_own(const char *path, int flags)
{
    struct stat found;
    const int file = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (file < 0 || (fstat(file, &found) == 0 && S_ISREG(found.st_mode) && found.st_uid == geteuid() &&
                     (found.st_mode & (S_IWGRP | S_IWOTH)) == 0))
        return file;
    close(file);
    return -1;
}

#define FOLDER "programs"

void kept_folder(char path[PATH_MAX])
{
    cache_path(FOLDER, path, PATH_MAX);
}

static void find_path(const struct kept *kept, const char *ending, char path[PATH_MAX])
{
    char name[64] = FOLDER "/";
    size_t length = strlen(name);
    for (size_t n = 0; n < sizeof kept->digest.digest; n++)
        length += (size_t)snprintf(name + length, sizeof name - length, "%02x", kept->digest.digest[n]);
    snprintf(name + length, sizeof name - length, ".%s", ending);
    cache_path(name, path, PATH_MAX);
}

/* Waits until no other process builds the program for the first time; but not for one that was stopped. */
static void wait_for_first(const struct kept *kept, struct stat *found)
{
    const struct timespec pause = {.tv_nsec = 2000000};
    const double begin = timer_now();
    while (fstat(kept->file, found) == 0 && found->st_size == 0 &&
           flock(kept->file, LOCK_EX | LOCK_NB) != 0 && (errno == EWOULDBLOCK || errno == EINTR) &&
           timer_now() - begin < MOST_WAIT)
        nanosleep(&pause, NULL);
    fstat(kept->file, found);
    if (found->st_size > 0) /* the others need not wait for this one */
        flock(kept->file, LOCK_UN);
}

void kept_begin(struct kept *kept, const struct core *core, const char *options, const char *source)
{
    char path[PATH_MAX];
    struct stat found = {0};
    kept->digest = digest_of(core, options, source);
    kept->uses = 0;
    kept->file = -1;
    find_path(kept, "uses", path);
    if (path[0] == '\0')
        return;
    cache_create_folders(path);
    kept->file = open_own(path, O_RDWR | O_CREAT | O_APPEND);
    if (kept->file < 0)
        return;
    wait_for_first(kept, &found);
    kept->uses = (size_t)found.st_size;
}

bool kept_is_new(const struct core *core, const char *options, const char *source)
{
    const struct kept kept = {.digest = digest_of(core, options, source)};
    char path[PATH_MAX];
    struct stat found;
    find_path(&kept, "uses", path);
    if (path[0] == '\0')
        return false;
    const int file = open_own(path, O_RDONLY);
    if (file < 0)
        return errno == ENOENT;
    const bool is_new = fstat(file, &found) == 0 && found.st_size == 0 && flock(file, LOCK_EX | LOCK_NB) == 0;
    close(file);
    return is_new;
}

void kept_end(struct kept *kept, bool is_built)
{
    if (kept->file < 0)
        return;
    if (is_built && kept->uses < WORTH_A_BINARY && write(kept->file, "+", 1) == 1)
        kept->uses++;
    close(kept->file);
    kept->file = -1;
}

/* ---- binaries ---- */

/* The bytes behind a header that fits them, for free(); NULL where the file is none of this program's. */
static unsigned char *read_binary(const struct kept *kept, const char *path, size_t *length)
{
    struct header header;
    const int file = open_own(path, O_RDONLY);
    unsigned char *bytes = NULL;
    if (file < 0)
        return NULL;
    if (read(file, &header, sizeof header) == sizeof header && header.bytes <= MOST_BYTES &&
        memcmp(&header.program, &kept->digest, sizeof kept->digest) == 0)
        bytes = malloc(header.bytes + 1);
    *length = bytes ? (size_t)header.bytes : 0;
    const bool is_whole = bytes && read(file, bytes, *length + 1) == (ssize_t)*length;
    const XXH128_canonical_t content = digest_of_bytes(bytes, is_whole ? *length : 0);
    close(file);
    if (is_whole && memcmp(&header.content, &content, sizeof content) == 0)
        return bytes;
    free(bytes);
    return NULL;
}

cl_program kept_load(const struct kept *kept, const struct core *core)
{
    char path[PATH_MAX];
    size_t length = 0;
    cl_int error = CL_SUCCESS;
    cl_program handle = NULL;
    if (kept->uses < WORTH_A_BINARY)
        return NULL;
    find_path(kept, "binary", path);
    unsigned char *bytes = read_binary(kept, path, &length);
    const unsigned char *binary = bytes;
    if (bytes)
        handle = clCreateProgramWithBinary(core->context, 1, &core->id, &length, &binary, NULL, &error);
    if (handle &&
        (error != CL_SUCCESS || clBuildProgram(handle, 1, &core->id, NULL, NULL, NULL) != CL_SUCCESS)) {
        clReleaseProgram(handle);
        handle = NULL;
    }
    free(bytes);
    return handle;
}

/* Under a name of its own first: another process may read, or write the same, at any time. */
static void write_binary(const struct kept *kept, const unsigned char *bytes, size_t length)
{
    char path[PATH_MAX], temporary[PATH_MAX + 32];
    struct header header = {
        .program = kept->digest, .content = digest_of_bytes(bytes, length), .bytes = length};
    find_path(kept, "binary", path);
    snprintf(temporary, sizeof temporary, "%s.%ld", path, (long)getpid());
    const int file = open_own(temporary, O_WRONLY | O_CREAT | O_TRUNC);
    const bool is_written = file >= 0 && write(file, &header, sizeof header) == sizeof header &&
                            write(file, bytes, length) == (ssize_t)length;
    if (file >= 0 && (close(file) != 0 || !is_written || rename(temporary, path) != 0))
        unlink(temporary);
}

void kept_drop(const struct kept *kept)
{
    char path[PATH_MAX];
    find_path(kept, "binary", path);
    unlink(path);
}

/* Not in a borrowed context: to destroy a sorter must not take as long as to make a binary. */
void kept_store(const struct kept *kept, struct core *core, cl_program handle)
{
    size_t length = 0;
    if (!core->info.is_pocl || !core->platform || core->has_stored || kept->uses < WORTH_A_BINARY)
        return;
    core->has_stored = true; /* one a run, so that no run ends much later for it */
    clGetProgramInfo(handle, CL_PROGRAM_BINARY_SIZES, sizeof length, &length, NULL);
    unsigned char *bytes = length > 0 && length <= MOST_BYTES ? malloc(length) : NULL;
    if (bytes && clGetProgramInfo(handle, CL_PROGRAM_BINARIES, sizeof bytes, &bytes, NULL) == CL_SUCCESS)
        write_binary(kept, bytes, length);
    free(bytes);
}
