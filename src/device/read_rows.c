/* Read rows: large parts of a buffer into memory that the driver has not pinned, by all processors. On a GPU
 * the bus fills one half of a pinned piece of memory while the processors empty the other. */
#include "base/pool.h"
#include "device/internal.h"

#include <string.h>

enum { HALF = 1 << 25, PIECE = 1 << 21 /* bytes */ };

/* Rows that the host can read. */
struct copy {
    const struct buffer_rows *rows;
    const char *from;
    char *to;
    size_t count, piece; /* in all, and for a thread at a time */
};

static enum status copy_piece(void *context, size_t n, void *scratch)
{
    const struct copy *copy = context;
    const struct buffer_rows *rows = copy->rows;
    const size_t begin = n * copy->piece, end = begin + copy->piece;
    const char *from = copy->from + rows->begin;
    (void)scratch;
    if (rows->bytes == rows->stride)
        memcpy(copy->to + begin * rows->bytes, from + begin * rows->bytes,
               ((end < copy->count ? end : copy->count) - begin) * rows->bytes);
    else
        for (size_t row = begin; row < end && row < copy->count; row++)
            memcpy(copy->to + row * rows->bytes, from + row * rows->stride, rows->bytes);
    return STATUS_OK;
}

static enum status copy_rows(const struct buffer_rows *rows, size_t count, const void *from, size_t first,
                             void *to)
{
    struct copy copy = {rows, from, (char *)to + first * rows->bytes, count, PIECE / rows->stride};
    const struct pool_work work = {.make = copy_piece, .context = &copy};
    return pool_run(&work, (count + copy.piece - 1) / copy.piece);
}

/* Room for `bytes`, or for two halves where these are more than one. Pinning takes half a millisecond a MiB,
 * so no more is pinned than short lists need, but a power of two, since their lengths vary. */
static enum status reserve_staging(struct core *core, size_t bytes)
{
    size_t size = PIECE;
    while (size < 2 * (size_t)HALF && (size < bytes || bytes > HALF))
        size *= 2;
    if (size <= core->staging_bytes)
        return STATUS_OK;
    TRY(host_memory_create(&core->first_handle, size, &core->staging));
    core->staging_bytes = size;
    return STATUS_OK;
}

static enum status read_staged(const struct buffer *buffer, const struct buffer_rows *rows, void *values)
{
    struct core *core = buffer->device->core;
    const size_t half = HALF / rows->stride, stride = rows->stride;
    size_t first = 0, before = 0; /* rows that are on their way, and that came before */
    TRY(reserve_staging(core, rows->count * stride));
    char *const halves[2] = {core->staging, (char *)core->staging + HALF};
    for (int n = 0; before < rows->count; n = 1 - n) {
        const size_t left = rows->count - first, count = left < half ? left : half;
        TRY(host_memory_read(buffer, (rows->first + first) * stride, count * stride, halves[n], STAGE_OTHER));
        if (first > before)
            TRY(copy_rows(rows, first - before, halves[1 - n], before, values));
        TRY(device_finish(buffer->device));
        before = first;
        first += count;
    }
    return STATUS_OK;
}

enum status buffer_read_rows(struct buffer *buffer, const struct buffer_rows *rows, void *values)
{
    void *mapped = NULL;
    if (rows->count == 0) /* nothing can be mapped */
        return STATUS_OK;
    if (!buffer->device->core->info.is_cpu)
        return read_staged(buffer, rows, values);
    TRY(buffer_map(buffer, &mapped));
    const char *from = (const char *)mapped + rows->first * rows->stride;
    const enum status status = copy_rows(rows, rows->count, from, 0, values);
    TRY(buffer_unmap(buffer, mapped));
    return status;
}
