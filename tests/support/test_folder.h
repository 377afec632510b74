/* Test folder: a folder of a test's own in /tmp, and what tests do with files. */
#ifndef RADIXPIC_TEST_FOLDER_H
#define RADIXPIC_TEST_FOLDER_H

#include "support/test_support.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct folder {
    char path[64];
    char file[96]; /* of folder_file() */
};

static inline struct folder folder_make(void)
{
    struct folder folder = {.path = "/tmp/radixpic_test_XXXXXX"};
    assert_non_null(mkdtemp(folder.path));
    return folder;
}

/* With all that is in it. */
static inline void folder_remove(const struct folder *folder)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder->path);
    assert_int_equal(system(command), 0);
}

static inline const char *folder_file(struct folder *folder, const char *name)
{
    snprintf(folder->file, sizeof folder->file, "%s/%s", folder->path, name);
    return folder->file;
}

/* For a teardown: not 0 where more is left than folder->file. */
static inline int folder_remove_with_file(const struct folder *folder)
{
    unlink(folder->file);
    return rmdir(folder->path);
}

static inline void write_file(const char *path, const void *bytes, size_t count)
{
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, count, stream), count);
    assert_int_equal(fclose(stream), 0);
}

static inline void write_text(const char *path, const char *text)
{
    write_file(path, text, strlen(text));
}

/* A test_array() with a 0 behind the file's bytes. */
static inline void *read_file(const char *path, size_t *count)
{
    struct stat found;
    assert_int_equal(stat(path, &found), 0);
    *count = (size_t)found.st_size;
    void *bytes = test_array(*count + 1, 1);
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    assert_int_equal(fread(bytes, 1, *count, stream), *count);
    fclose(stream);
    return bytes;
}

static inline char *read_text(const char *path)
{
    size_t count;
    return read_file(path, &count);
}

/* One bit of the byte at that place of the file. */
static inline void flip_bit(const char *path, uint64_t place)
{
    FILE *stream = fopen(path, "r+b");
    assert_non_null(stream);
    assert_int_equal(fseek(stream, (long)place, SEEK_SET), 0);
    const int byte = fgetc(stream);
    assert_int_equal(fseek(stream, (long)place, SEEK_SET), 0);
    fputc(byte ^ 4, stream);
    assert_int_equal(fclose(stream), 0);
}

static inline int compare_names(const void *left, const void *right)
{
    return strcmp(left, right);
}

/* The names in the folder, sorted, are those in `expected`, a list of words. */
static inline void assert_holds(const struct folder *folder, const char *expected)
{
    char names[32][64], all[2048] = "";
    unsigned count = 0;
    DIR *listing = opendir(folder->path);
    assert_non_null(listing);
    for (const struct dirent *entry; (entry = readdir(listing)) && count < 32;)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            snprintf(names[count++], sizeof names[0], "%.63s", entry->d_name);
    closedir(listing);
    qsort(names, count, sizeof names[0], compare_names);
    for (unsigned n = 0; n < count; n++)
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", n ? " " : "", names[n]);
    assert_string_equal(all, expected);
}

#ifdef RADIXPIC_MPI_SUPPORT_H
/* One folder that all ranks know. Collective. */
static inline struct folder folder_make_for_all(void)
{
    struct folder folder = {0};
    if (ranks.rank == 0)
        folder = folder_make();
    communicator_broadcast(&ranks, sizeof folder, &folder);
    return folder;
}

static inline void folder_remove_for_all(const struct folder *folder)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (ranks.rank == 0)
        folder_remove(folder);
}
#endif

#endif
