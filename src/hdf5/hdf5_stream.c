/* HDF5 stream: the chunks of an array, from all ranks to the one that writes. */
#include "hdf5/chunk_pack.h"
#include "hdf5/hdf5_write.h"

#include "base/pool.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/* An array while its chunks are written. */
struct stream {
    struct writing *writing;
    const struct hdf5_array *array;
    hid_t dataset;              /* on rank 0 */
    size_t size;                /* of an element */
    uint64_t total, elements;   /* of the array, with the last chunk cut off where its rows end; of a chunk */
    uint64_t first_chunk, sent; /* of this rank's whole chunks, for the pool */

    /* On rank 0: the chunk whose elements come from several ranks. */
    bool is_open;
    uint64_t open;
    struct slot *slot;
};

/* Memory for a chunk: that which is open, or as a piece of the pool a whole one of this rank. */
struct slot {
    size_t bytes;  /* of what is packed */
    char values[]; /* and behind them scratch memory and the packed chunk */
};

static char *packed_of(const struct stream *stream, struct slot *slot)
{
    return slot->values + 2 * (size_t)stream->elements * stream->size;
}

static size_t slot_bytes(size_t elements, size_t size)
{
    return sizeof(struct slot) + 2 * elements * size + chunk_pack_room(elements, size);
}

/* A rank's part of an array: elements of a chunk that an earlier rank shares, whole chunks, and elements of
 * one that a later rank shares. */
struct part {
    uint64_t head, head_count;
    uint64_t chunk, chunk_count;
    uint64_t tail, tail_count;
};

static struct part divide(const struct stream *stream, uint64_t first, uint64_t count)
{
    const uint64_t elements = stream->elements, end = first + count;
    const uint64_t chunk = (first + elements - 1) / elements;
    const uint64_t chunk_end = end == stream->total ? (end + elements - 1) / elements : end / elements;
    if (count == 0 || chunk_end < chunk) /* within one chunk */
        return (struct part){.head = first, .head_count = count};
    return (struct part){.head = first,
                         .head_count = (chunk * elements < end ? chunk * elements : end) - first,
                         .chunk = chunk,
                         .chunk_count = chunk_end - chunk,
                         .tail = chunk_end * elements,
                         .tail_count = end > chunk_end * elements ? end - chunk_end * elements : 0};
}

/* Counts bytes that were written, and from time to time starts to bring them to the disk. The system alone
 * would begin much later: an fsync() of it all then takes as long as the packing did. */
static void hand(struct writing *writing, size_t bytes)
{
    const uint64_t enough = 1 << 24;
    writing->handed += bytes;
    if (writing->descriptor < 0 || writing->handed < enough)
        return;
    sync_file_range(writing->descriptor, 0, 0, SYNC_FILE_RANGE_WRITE); /* what fails here fails in fsync() */
    writing->handed = 0;
}

/* On rank 0. */
static enum status write_chunk(struct stream *stream, uint64_t number, struct slot *slot)
{
    const struct hdf5_array *array = stream->array;
    hsize_t begin[HDF5_DIMENSIONS];
    if (!writing_is_well(stream->writing))
        return stream->writing->status;
    for (int k = array->dimensions; k-- > 0;) {
        const uint64_t along = (array->shape[k] + array->chunk[k] - 1) / array->chunk[k];
        begin[k] = number % along * array->chunk[k];
        number /= along;
    }
    if (H5Dwrite_chunk(stream->dataset, H5P_DEFAULT, 0, begin, slot->bytes, packed_of(stream, slot)) < 0)
        return writing_fail_in(stream->writing, "write it");
    hand(stream->writing, slot->bytes);
    return STATUS_OK;
}

static enum status pack(const struct stream *stream, struct slot *slot)
{
    const size_t elements = (size_t)stream->elements;
    return chunk_pack(slot->values, elements, stream->size, stream->writing->file->compression,
                      slot->values + elements * stream->size, packed_of(stream, slot), &slot->bytes);
}

static void flush_open(struct stream *stream)
{
    struct writing *writing = stream->writing;
    if (stream->is_open && writing_is_well(writing)) {
        writing->status = pack(stream, stream->slot);
        if (writing->status == STATUS_OK)
            write_chunk(stream, stream->open, stream->slot);
    }
    stream->is_open = false;
}

/* Memory for elements from `first` on, all in one chunk, on rank 0. */
static char *open_at(struct stream *stream, uint64_t first)
{
    const uint64_t number = first / stream->elements;
    if (stream->is_open && stream->open != number)
        flush_open(stream);
    if (!stream->is_open)
        memset(stream->slot->values, 0, (size_t)stream->elements * stream->size);
    stream->is_open = true;
    stream->open = number;
    return stream->slot->values + first % stream->elements * stream->size;
}

static enum status make_chunk(void *context, size_t n, void *scratch)
{
    const struct stream *stream = context;
    struct slot *slot = scratch;
    const size_t elements = (size_t)stream->elements, bytes = elements * stream->size;
    const uint64_t first = (stream->first_chunk + n) * stream->elements;
    const size_t count = stream->total - first < elements ? (size_t)(stream->total - first) : elements;
    memset(slot->values + count * stream->size, 0, bytes - count * stream->size);
    TRY(writing_fill(stream->array, first, count, slot->values));
    return pack(stream, slot);
}

static enum status take_chunk(void *context, size_t n, void *scratch)
{
    struct stream *stream = context;
    struct slot *slot = scratch;
    if (writing_is_first(stream->writing))
        return write_chunk(stream, stream->first_chunk + n, slot);
    communicator_send(stream->writing->communicator, 0, slot->bytes, packed_of(stream, slot));
    stream->sent++;
    return STATUS_OK;
}

/* Of this rank: to the file, or to rank 0. */
static void put_elements(struct stream *stream, uint64_t first, uint64_t count)
{
    struct writing *writing = stream->writing;
    char *values = writing_is_first(writing) ? open_at(stream, first) : stream->slot->values;
    if (count > 0 && writing->status == STATUS_OK)
        writing->status = writing_fill(stream->array, first, (size_t)count, values);
    if (count > 0 && !writing_is_first(writing))
        communicator_send(writing->communicator, 0,
                          writing->status == STATUS_OK ? (size_t)count * stream->size : 0, values);
}

uint64_t hdf5_packing_bytes(void)
{
    return pool_slots() * slot_bytes(HDF5_CHUNK, sizeof(double));
}

static void put_part(struct stream *stream)
{
    struct writing *writing = stream->writing;
    const struct part part = divide(stream, stream->array->first, stream->array->count);
    const struct pool_work work = {make_chunk, take_chunk, stream,
                                   slot_bytes((size_t)stream->elements, stream->size)};
    if (part.head_count > 0)
        put_elements(stream, part.head, part.head_count);
    stream->first_chunk = part.chunk;
    stream->sent = 0;
    if (writing_is_well(writing)) {
        const enum status status = pool_run(&work, (size_t)part.chunk_count);
        writing->status = writing->status == STATUS_OK ? status : writing->status;
    }
    for (; !writing_is_first(writing) && stream->sent < part.chunk_count; stream->sent++)
        communicator_send(writing->communicator, 0, 0, NULL);
    if (part.tail_count > 0)
        put_elements(stream, part.tail, part.tail_count);
}

/* Rank 0 receives what put_part() sends. */
static void receive_part(struct stream *stream, int rank, const uint64_t range[2])
{
    struct writing *writing = stream->writing;
    const struct part part = divide(stream, range[0], range[1]);
    const uint64_t ends[2][2] = {{part.head, part.head_count}, {part.tail, part.tail_count}};
    const size_t room = chunk_pack_room((size_t)stream->elements, stream->size);
    for (int end = 0; end < 2; end++) {
        if (ends[end][1] > 0 &&
            communicator_receive(writing->communicator, rank, (size_t)ends[end][1] * stream->size,
                                 open_at(stream, ends[end][0])) == 0)
            writing->is_lost = true;
        for (uint64_t n = 0; end == 0 && n < part.chunk_count; n++) {
            stream->slot->bytes =
                communicator_receive(writing->communicator, rank, room, packed_of(stream, stream->slot));
            writing->is_lost |= stream->slot->bytes == 0;
            write_chunk(stream, part.chunk + n, stream->slot);
        }
    }
}

/* All ranks' parts, in the order of the ranks. */
void writing_chunks(struct writing *writing, const struct hdf5_object *object, hid_t dataset)
{
    const struct hdf5_array *array = &object->array;
    struct stream stream = {.writing = writing,
                            .array = array,
                            .dataset = dataset,
                            .size = hdf5_size(array->type),
                            .total = 1,
                            .elements = 1};
    const uint64_t own[2] = {array->first, array->count};
    uint64_t(*ranges)[2] = NULL;
    for (int k = 0; k < array->dimensions; k++) {
        stream.elements *= array->chunk[k];
        stream.total *= array->shape[k];
    }
    /* Without this little memory a rank cannot take part, and the others would wait for it. */
    ranges = malloc((size_t)writing->communicator->size * sizeof *ranges);
    stream.slot = malloc(slot_bytes((size_t)stream.elements, stream.size));
    if (!ranges || !stream.slot)
        writing->status =
            status_fail(STATUS_FAILED, "%s: no memory to write %s", writing->file->path, object->name);
    if (writing_agree(writing)) {
        communicator_gather(writing->communicator, sizeof own, own, ranges);
        put_part(&stream);
        for (int rank = 1; rank < writing->communicator->size && writing_is_first(writing); rank++)
            receive_part(&stream, rank, ranges[rank]);
        if (writing_is_first(writing))
            flush_open(&stream);
    }
    free(stream.slot);
    free(ranges);
}
