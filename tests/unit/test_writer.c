/* Writer: no more than two files are in memory at a time, the one that is written and the one that waits. */
#include "support/test_folder.h"
#include "support/test_support.h"

#include "hdf5/writer.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static const struct communicator alone = {.size = 1, .local_size = 1};
static pthread_t steps;         /* the thread that runs them */
static atomic_int recorded;     /* files that are in memory, or were */
static atomic_bool steps_wait;  /* for room */
static atomic_int most_of_file; /* that were recorded until the first one was written */

/* Stands before the library's. The thread of the steps waits for room alone. */
int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    static int (*wait)(pthread_cond_t *, pthread_mutex_t *);
    if (!wait)
        *(void **)&wait = dlsym(RTLD_NEXT, "pthread_cond_wait");
    if (pthread_equal(pthread_self(), steps))
        atomic_store(&steps_wait, true);
    return wait(condition, mutex);
}

/* In the thread that writes: the first file is not done before the steps wait, or have recorded a third. */
static enum status hold_first(const struct hdf5_file *file, int descriptor)
{
    const char *path = file->path;
    (void)descriptor;
    while (strstr(path, "data_0") && !atomic_load(&steps_wait) && atomic_load(&recorded) <= WRITER_FILES)
        usleep(100);
    if (strstr(path, "data_0"))
        atomic_store(&most_of_file, atomic_load(&recorded));
    return STATUS_OK;
}

TEST(two_files_are_in_memory)
{
    struct folder folder = folder_make();
    struct writer *writer;
    FILE *lines = tmpfile();
    struct log log = {.file = lines};
    steps = pthread_self();
    assert_ok(writer_create(&alone, &writer));
    for (int n = 0; n <= WRITER_FILES; n++) {
        struct hdf5_file *file;
        char name[16];
        snprintf(name, sizeof name, "data_%d", n);
        writer_make_room(writer);
        assert_ok(hdf5_file_create(&alone, folder.path, name, &file));
        atomic_fetch_add(&recorded, 1);
        file->before = hold_first;
        file->log = &log;
        if (n == WRITER_FILES)
            while (atomic_load(&most_of_file) == 0) /* so that there is room even without the wait */
                usleep(100);
        writer_put(writer, file);
    }
    assert_ok(writer_wait(writer));
    assert_true(atomic_load(&steps_wait));
    assert_int_equal(atomic_load(&most_of_file), WRITER_FILES);
    rewind(lines);
    for (int n = 0; n <= WRITER_FILES; n++) {
        char line[PATH_MAX + 64], name[16];
        snprintf(name, sizeof name, "data_%d: ", n);
        assert_non_null(fgets(line, sizeof line, lines));
        assert_non_null(strstr(line, name));
    }
    assert_int_equal(fgetc(lines), EOF);
    fclose(lines);
    assert_int_equal(writer_totals(writer).files, WRITER_FILES + 1);
    writer_destroy(&writer);
    folder_remove(&folder);
}

TEST_MAIN(NULL, NULL)
