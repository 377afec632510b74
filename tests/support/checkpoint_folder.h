/* Checkpoint folder: what the tests of checkpoints do with files and folders, and what they expect of a file.
 */
#ifndef RADIXPIC_TEST_CHECKPOINT_FOLDER_H
#define RADIXPIC_TEST_CHECKPOINT_FOLDER_H

#include "support/checkpoint_scene.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct communicator alone = {.size = 1, .local_size = 1};
static const struct scene_kind plain = {.precision = PRECISION_DOUBLE, .ids = true, .cluster = 1};

/* ---- folders and files ---- */

struct folder {
    char path[64];
    char file[96]; /* of folder_file() */
};

static inline struct folder folder_make(void)
{
    struct folder folder = {.path = "/tmp/radixpic_checkpoint_XXXXXX"};
    assert_non_null(mkdtemp(folder.path));
    return folder;
}

static inline void folder_remove(const struct folder *folder)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder->path);
    assert_int_equal(system(command), 0);
}

/* A folder, and the plain scene for checkpoints in it. */
static inline struct folder folder_begin(struct scene *scene)
{
    scene_create(&alone, &plain, NULL, scene);
    return folder_make();
}

static inline void folder_end(struct scene *scene, const struct folder *folder)
{
    scene_destroy(scene);
    folder_remove(folder);
}

static const char *folder_file(struct folder *folder, const char *name)
{
    snprintf(folder->file, sizeof folder->file, "%s/%s", folder->path, name);
    return folder->file;
}

static inline void write_file(const char *path, const void *bytes, size_t count)
{
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, count, stream), count);
    assert_int_equal(fclose(stream), 0);
}

/* A test_array(). */
static inline unsigned char *read_file(const char *path, size_t *count)
{
    struct stat found;
    assert_int_equal(stat(path, &found), 0);
    *count = (size_t)found.st_size;
    unsigned char *bytes = test_array(*count, 1);
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    assert_int_equal(fread(bytes, 1, *count, stream), *count);
    fclose(stream);
    return bytes;
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

static inline void assert_message(enum status status, enum status code, const char *const *words)
{
    assert_int_equal(status, code);
    for (; *words; words++)
        if (!strstr(status_message(), *words))
            fail_msg("'%s' does not say %s", status_message(), *words);
}
#define assert_fails(call, ...) assert_message(call, STATUS_FAILED, (const char *const[]){__VA_ARGS__, NULL})

/* The file at `path`, or the newest of that folder, holds a scene of one rank. */
static inline void check_all(const struct scene *scene, const char *path, uint64_t step)
{
    struct checkpoint *checkpoint;
    assert_ok(checkpoint_open(&alone, path, &checkpoint));
    assert_null(checkpoint->warnings);
    scene_check_frame(scene, checkpoint, step);
    scene_check_rows(&scene->kind, checkpoint, 0, SCENE_NX);
    checkpoint_close(&checkpoint);
    assert_null(checkpoint);
}

#endif
