/* Program cache: what the driver built, kept in programs/ of the cache folder, a file for each program. */
#include "device/internal.h"

#include "base/cache.h"
#include "base/regular.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

enum { MOST_BYTES = 64 << 20 /* of all entries together */ };

/* The begin of an entry; the driver's binary follows. */
struct header {
    char magic[16];
    XXH128_canonical_t key; /* a digest of what the program is built from, by and for; the file's name too */
    XXH128_canonical_t digest; /* of the binary */
    uint64_t bytes;            /* of the binary */
};

static XXH128_canonical_t digest(const void *bytes, size_t count)
{
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes, count));
    return canonical;
}

/* The header of a program's entry, but for its binary, and where the entry is. False where it can be nowhere.
 */
static bool find_place(const struct core *core, const char *source, const char *options,
                       struct header *header, char path[PATH_MAX])
{
    const struct device_info *info = &core->info;
    char *text = NULL, name[64] = "programs/";
    const int length = asprintf(&text, "%s\n%s\n%s\n%s\n%s\n%s", info->platform, info->name, info->version,
                                info->driver, options, source);
    if (length < 0)
        return false;
    *header = (struct header){.magic = "RadixPIC prog 1", .key = digest(text, (size_t)length)};
    free(text);
    for (size_t n = 0; n < sizeof header->key.digest; n++)
        sprintf(name + strlen(name), "%02x", header->key.digest[n]);
    cache_path(name, path, PATH_MAX);
    return path[0] != '\0';
}

/* The binary of an entry, for free(). NULL where it is not whole, or another program's. */
static unsigned char *read_binary(FILE *file, const struct header *wanted, size_t *bytes)
{
    struct header found;
    if (fread(&found, sizeof found, 1, file) != 1 ||
        memcmp(&found, wanted, offsetof(struct header, digest)) != 0 || found.bytes > MOST_BYTES)
        return NULL;
    *bytes = found.bytes;
    unsigned char *binary = malloc(*bytes + 1); /* a byte more than there should be */
    if (binary && fread(binary, 1, *bytes + 1, file) == *bytes) {
        const XXH128_canonical_t own = digest(binary, *bytes);
        if (memcmp(&own, &found.digest, sizeof own) == 0)
            return binary;
    }
    free(binary);
    return NULL;
}

static cl_program build_binary(const struct core *core, const unsigned char *binary, size_t bytes,
                               const char *options)
{
    cl_int error = CL_SUCCESS, accepted = CL_SUCCESS;
    cl_program program =
        clCreateProgramWithBinary(core->context, 1, &core->id, &bytes, &binary, &accepted, &error);
    if (error == CL_SUCCESS && accepted == CL_SUCCESS &&
        clBuildProgram(program, 1, &core->id, options, NULL, NULL) == CL_SUCCESS)
        return program;
    if (program)
        clReleaseProgram(program);
    return NULL;
}

/* A binary runs with the rights of this process: it must be the user's, and no other may have written it. */
static bool is_own(FILE *file)
{
    struct stat found;
    return fstat(fileno(file), &found) == 0 && S_ISREG(found.st_mode) && found.st_uid == geteuid() &&
           (found.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

cl_program program_cache_load(const struct core *core, const char *source, const char *options)
{
    char path[PATH_MAX];
    struct header wanted;
    size_t bytes = 0;
    cl_program program = NULL;
    const char *why;
    FILE *file = find_place(core, source, options, &wanted, path) ? regular_open(path, &why) : NULL;
    if (!file)
        return NULL;
    unsigned char *binary = is_own(file) ? read_binary(file, &wanted, &bytes) : NULL;
    if (binary)
        program = build_binary(core, binary, bytes, options);
    free(binary);
    fclose(file);
    if (program)
        utimensat(AT_FDCWD, path, NULL, 0); /* it was used now */
    return program;
}

/* Whether it is the name of an entry, or of one that is being written. */
static bool is_entry(const char *name)
{
    const size_t digits = strspn(name, "0123456789abcdef");
    return digits == 2 * sizeof(XXH128_canonical_t) && (name[digits] == '\0' || name[digits] == '.');
}

/* Removes the entries that were not used for the longest time, those of writers that were killed among them.
 */
static void bound_folder(const char *folder)
{
    for (;;) {
        char oldest[NAME_MAX + 1];
        struct timespec oldest_time = {.tv_sec = LONG_MAX};
        struct stat found;
        uint64_t total = 0;
        DIR *listing = opendir(folder);
        if (!listing)
            return;
        for (const struct dirent *entry; (entry = readdir(listing));) {
            if (!is_entry(entry->d_name) ||
                fstatat(dirfd(listing), entry->d_name, &found, AT_SYMLINK_NOFOLLOW) != 0 ||
                !S_ISREG(found.st_mode))
                continue;
            const struct timespec time = found.st_mtim;
            if (time.tv_sec < oldest_time.tv_sec ||
                (time.tv_sec == oldest_time.tv_sec && time.tv_nsec < oldest_time.tv_nsec)) {
                oldest_time = time;
                snprintf(oldest, sizeof oldest, "%s", entry->d_name);
            }
            total += (uint64_t)found.st_size;
        }
        const bool removed = total > MOST_BYTES && unlinkat(dirfd(listing), oldest, 0) == 0;
        closedir(listing);
        if (!removed)
            return;
    }
}

void program_cache_store(const struct core *core, const char *source, const char *options, cl_program program)
{
    char path[PATH_MAX], other[PATH_MAX + 8];
    struct header header;
    size_t bytes = 0;
    if (!find_place(core, source, options, &header, path) ||
        clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL) != CL_SUCCESS)
        return;
    unsigned char *binary = bytes > 0 ? malloc(bytes) : NULL;
    if (!binary ||
        clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL) != CL_SUCCESS) {
        free(binary);
        return;
    }
    header.bytes = bytes;
    header.digest = digest(binary, bytes);
    cache_create_folders(path);
    /* under a name of its own, then renamed: another run sees the whole entry or none */
    snprintf(other, sizeof other, "%s.XXXXXX", path);
    const int descriptor = mkostemp(other, O_CLOEXEC);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "wb") : NULL;
    if (descriptor >= 0 && !file) {
        close(descriptor);
        unlink(other);
    }
    if (file) {
        bool written =
            fwrite(&header, sizeof header, 1, file) == 1 && fwrite(binary, 1, bytes, file) == bytes;
        written = fclose(file) == 0 && written;
        if (!written || rename(other, path) != 0)
            unlink(other);
        *strrchr(path, '/') = '\0';
        bound_folder(path);
    }
    free(binary);
}
