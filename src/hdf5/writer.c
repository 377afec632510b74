/* Writer: a queue of files and the thread that empties it. */
#include "hdf5/writer.h"

#include "base/thread.h"

#include <stdlib.h>
#include <string.h>

struct writer {
    struct communicator communicator; /* a branch */
    bool has_thread;
    pthread_t thread;

    pthread_mutex_t lock; /* of all below */
    pthread_cond_t changed;
    struct hdf5_file *files[WRITER_FILES]; /* the first one is being written */
    int count;
    bool ends;
    enum status status;
    char *message;
    struct written totals;
};

pthread_mutex_t writer_hdf5 = PTHREAD_MUTEX_INITIALIZER;

/* Without the lock. */
static void write_one(struct writer *writer, struct hdf5_file *file, bool is_wanted)
{
    const double begin = timer_now();
    pthread_mutex_lock(&writer_hdf5);
    const enum status status = is_wanted ? hdf5_file_write(file, &writer->communicator) : STATUS_OK;
    pthread_mutex_unlock(&writer_hdf5);
    pthread_mutex_lock(&writer->lock);
    if (status != STATUS_OK) {
        writer->status = status;
        writer->message = status_take();
    } else if (is_wanted) {
        const double seconds = timer_now() - begin;
        writer->totals.files++;
        writer->totals.bytes += file->bytes;
        writer->totals.seconds += seconds;
        if (file->log)
            log_line(file->log, LOG_VERBOSE, "%s: %.4g MB in %.3g s, %.3g GB/s", file->path,
                     1e-6 * (double)file->bytes, seconds, 1e-9 * (double)file->bytes / seconds);
    }
    pthread_mutex_unlock(&writer->lock);
    hdf5_file_free(&file);
}

static void *write_files(void *argument)
{
    struct writer *writer = argument;
    IN_C_LOCALE;
    pthread_mutex_lock(&writer->lock);
    for (;;) {
        while (writer->count == 0 && !writer->ends)
            pthread_cond_wait(&writer->changed, &writer->lock);
        if (writer->count == 0)
            break;
        const bool is_wanted = writer->status == STATUS_OK;
        pthread_mutex_unlock(&writer->lock);
        write_one(writer, writer->files[0], is_wanted);
        pthread_mutex_lock(&writer->lock);
        writer->count--;
        memmove(writer->files, writer->files + 1, (size_t)writer->count * sizeof *writer->files);
        pthread_cond_broadcast(&writer->changed);
    }
    pthread_mutex_unlock(&writer->lock);
    return NULL;
}

enum status writer_create(const struct communicator *communicator, struct writer **result)
{
    struct communicator branch;
    *result = NULL;
    TRY(communicator_branch(communicator, &branch)); /* of all ranks, so before what one alone may fail in */
    struct writer *writer = *result = calloc(1, sizeof *writer);
    if (!writer)
        return status_fail(STATUS_FAILED, "no memory for the thread that writes files");
    writer->communicator = branch;
    pthread_mutex_init(&writer->lock, NULL);
    pthread_cond_init(&writer->changed, NULL);
    writer->has_thread =
        communicator_allows_threads(communicator) && thread_start(&writer->thread, write_files, writer) == 0;
    return STATUS_OK;
}

void writer_destroy(struct writer **result)
{
    struct writer *writer = *result;
    if (!writer)
        return;
    pthread_mutex_lock(&writer->lock);
    writer->ends = true;
    pthread_cond_broadcast(&writer->changed);
    pthread_mutex_unlock(&writer->lock);
    if (writer->has_thread)
        pthread_join(writer->thread, NULL);
    pthread_cond_destroy(&writer->changed);
    pthread_mutex_destroy(&writer->lock);
    free(writer->message);
    free(writer);
    *result = NULL;
}

void writer_make_room(struct writer *writer)
{
    pthread_mutex_lock(&writer->lock);
    while (writer->count == WRITER_FILES)
        pthread_cond_wait(&writer->changed, &writer->lock);
    pthread_mutex_unlock(&writer->lock);
}

void writer_put(struct writer *writer, struct hdf5_file *file)
{
    if (!writer->has_thread) {
        write_one(writer, file, !writer_failed(writer));
        return;
    }
    pthread_mutex_lock(&writer->lock);
    writer->files[writer->count++] = file;
    pthread_cond_broadcast(&writer->changed);
    pthread_mutex_unlock(&writer->lock);
}

enum status writer_wait(struct writer *writer)
{
    pthread_mutex_lock(&writer->lock);
    while (writer->count > 0)
        pthread_cond_wait(&writer->changed, &writer->lock);
    const enum status status = writer->status;
    pthread_mutex_unlock(&writer->lock);
    return status == STATUS_OK ? STATUS_OK
                               : status_fail_lines(status, "%s", writer->message ? writer->message : "");
}

bool writer_failed(struct writer *writer)
{
    pthread_mutex_lock(&writer->lock);
    const bool failed = writer->status != STATUS_OK;
    pthread_mutex_unlock(&writer->lock);
    return failed;
}

struct written writer_totals(struct writer *writer)
{
    pthread_mutex_lock(&writer->lock);
    const struct written totals = writer->totals;
    pthread_mutex_unlock(&writer->lock);
    return totals;
}
