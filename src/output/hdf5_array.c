/* HDF5 array: chunks, pieces and collective writes. */
#include "output/hdf5_file.h"

#include <stdlib.h>
#include <string.h>

/* ---- what both kinds share ---- */

static uint64_t parts_of(uint64_t whole, uint64_t most)
{
    return (whole + most - 1) / most;
}

/* Elements of whole chunks; 0 of an empty array. */
static uint64_t stored_elements(const struct hdf5_chunks *chunks)
{
    uint64_t elements = 1;
    for (int k = 0; k < chunks->dimensions && elements > 0; k++)
        elements *= chunks->shape[k] ? parts_of(chunks->shape[k], chunks->chunk[k]) * chunks->chunk[k] : 0;
    return elements;
}

static hid_t create(struct hdf5_file *file, hid_t parent, const char *name, const struct hdf5_chunks *chunks)
{
    const hid_t space = H5Screate_simple(chunks->dimensions, chunks->shape, NULL);
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(creation, false); /* the same state gives the same bytes */
    if (chunks->shape[0] > 0) {
        H5Pset_chunk(creation, chunks->dimensions, chunks->chunk);
        H5Pset_shuffle(creation);
        if (file->compression)
            H5Pset_deflate(creation, file->compression);
        H5Pset_fletcher32(creation);
        /* MPI-IO gives every chunk its place at once; without this it would write all of them twice. */
        H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
    }
    const hid_t dataset = H5Dcreate2(parent, name, chunks->type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    if (dataset < 0)
        hdf5_file_fail_in(file, "write a dataset");
    H5Pclose(creation);
    H5Sclose(space);
    return dataset;
}

/* Creates a dataset, and memory for `elements` of it, which the caller frees. All ranks know what failed. */
static hid_t begin(struct hdf5_file *file, hid_t parent, const char *name, const struct hdf5_chunks *chunks,
                   uint64_t elements, void **values)
{
    const size_t size = H5Tget_size(chunks->type);
    const uint64_t bytes = stored_elements(chunks) * size;
    *values = NULL;
    /* MPI-IO writes each chunk full of zeros where a dataset is created; they deflate to a thousandth. */
    if (!hdf5_file_reserve(file, file->compression ? bytes / 64 : bytes + bytes / 1024))
        return H5I_INVALID_HID;
    const hid_t dataset = create(file, parent, name, chunks);
    *values = malloc((size_t)elements * size + 1);
    if (!*values)
        hdf5_file_fail(file, status_fail(STATUS_FAILED, "%s: no memory to write %s", file->path, name));
    (void)hdf5_file_agree(file);
    return dataset;
}

/* A part of a dataset; extent[0] is 0 where there is none. */
struct box {
    hsize_t start[HDF5_DIMENSIONS], extent[HDF5_DIMENSIONS];
};

/* One write of all ranks, each its own box, from memory of the shape `room`. It is one operation for all
 * chunks, and each rank writes its own bytes in it, so that a rank whose disk fails leaves no other one
 * waiting before they can agree. */
static void write_box(struct hdf5_file *file, hid_t dataset, const struct hdf5_chunks *chunks,
                      const struct box *box, const hsize_t *room, const void *values)
{
    static const hsize_t origin[HDF5_DIMENSIONS] = {0};
    const hid_t memory = H5Screate_simple(chunks->dimensions, room, NULL), space = H5Dget_space(dataset);
    const hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
    if (file->communicator->size > 1) {
        H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
        H5Pset_dxpl_mpio_chunk_opt(transfer, H5FD_MPIO_CHUNK_ONE_IO);
        H5Pset_dxpl_mpio_collective_opt(transfer, H5FD_MPIO_INDIVIDUAL_IO);
    }
    if (box->extent[0] > 0) {
        H5Sselect_hyperslab(memory, H5S_SELECT_SET, origin, NULL, box->extent, NULL);
        H5Sselect_hyperslab(space, H5S_SELECT_SET, box->start, NULL, box->extent, NULL);
    } else {
        H5Sselect_none(memory);
        H5Sselect_none(space);
    }
    if (H5Dwrite(dataset, chunks->type, memory, space, transfer, values) < 0)
        hdf5_file_fail_in(file, "write it");
    H5Pclose(transfer);
    H5Sclose(space);
    H5Sclose(memory);
}

/* ---- rows ---- */

/* A chunk fits HDF5's cache of 1 MiB in double precision, so it is compressed once. */
static const uint64_t chunk_target = 1 << 16;

/* The size of a part when `whole`, not 0, is cut into as few nearly equal parts of at most `most` as
 * possible.
 */
static uint64_t equal_part(uint64_t whole, uint64_t most)
{
    return parts_of(whole, parts_of(whole, most));
}

static uint64_t columns_of(const uint64_t shape[2])
{
    return shape[1] ? shape[1] : 1;
}

/* Chunks of nearly equal size: the last one wastes little. */
static struct hdf5_chunks cut(hid_t type, const uint64_t shape[2])
{
    const uint64_t columns = equal_part(columns_of(shape), chunk_target);
    const uint64_t rows = shape[0] ? equal_part(shape[0], chunk_target / columns) : 0;
    return (struct hdf5_chunks){type, shape[1] ? 2 : 1, {shape[0], shape[1]}, {rows, columns}, NULL, NULL};
}

uint64_t hdf5_stored_elements(const uint64_t shape[2])
{
    const struct hdf5_chunks chunks = cut(0, shape);
    return stored_elements(&chunks);
}

static enum status fill(const struct hdf5_array *array, uint64_t first, size_t count, void *values)
{
    const size_t size = H5Tget_size(array->type);
    if (array->fill)
        return array->fill(array->source, first, count, values);
    memcpy(values, (const char *)array->source + first * size, count * size);
    return STATUS_OK;
}

/* Pieces of `piece` rows end where chunks end, so that a chunk is compressed once; but for those that a rank
 * shares with the next one. Before each write all ranks agree that the one before it succeeded and that all
 * have what to write. */
static void write_rows(struct hdf5_file *file, hid_t dataset, const struct hdf5_array *array,
                       const struct hdf5_chunks *chunks, uint64_t piece, void *values)
{
    const uint64_t first = array->first_row, end = first + array->rows, columns = columns_of(array->shape);
    const uint64_t origin = first - first % chunks->chunk[0];
    const hsize_t room[2] = {piece, columns};
    double pieces = array->rows ? (double)parts_of(end - origin, piece) : 0;
    communicator_max(file->communicator, 1, &pieces);
    for (uint64_t n = 0; n < (uint64_t)pieces; n++) {
        const uint64_t start = origin + n * piece, low = start > first ? start : first;
        const uint64_t high = start + piece < end ? start + piece : end;
        const struct box box = {{low, 0}, {low < high ? high - low : 0, columns}};
        if (file->status == STATUS_OK && low < high)
            hdf5_file_fail(file,
                           fill(array, (low - first) * columns, (size_t)((high - low) * columns), values));
        if (!hdf5_file_agree(file))
            return;
        write_box(file, dataset, chunks, &box, room, values);
    }
}

hid_t hdf5_dataset(struct hdf5_file *file, hid_t parent, const char *name, const struct hdf5_array *array)
{
    void *values;
    const struct hdf5_chunks chunks = cut(array->type, array->shape);
    const uint64_t columns = columns_of(array->shape), elements = chunks.chunk[0] * columns;
    const uint64_t at_once = elements > 0 && elements < HDF5_PIECE ? HDF5_PIECE / elements : 1;
    const uint64_t piece = at_once * chunks.chunk[0], rows = piece < array->rows ? piece : array->rows;
    const hid_t dataset = begin(file, parent, name, &chunks, rows * columns, &values);
    if (file->status == STATUS_OK && array->shape[0] > 0)
        write_rows(file, dataset, array, &chunks, piece, values);
    free(values);
    return dataset;
}

/* ---- chunks ---- */

/* The part of the array that chunk `number` holds. */
static struct box box_of_chunk(const struct hdf5_chunks *chunks, uint64_t number)
{
    struct box box;
    for (int k = chunks->dimensions; k-- > 0;) {
        const uint64_t along = parts_of(chunks->shape[k], chunks->chunk[k]);
        box.start[k] = number % along * chunks->chunk[k];
        const hsize_t rest = chunks->shape[k] - box.start[k];
        box.extent[k] = rest < chunks->chunk[k] ? rest : chunks->chunk[k];
        number /= along;
    }
    return box;
}

/* Before each write all ranks agree that the one before it succeeded. */
static void write_chunks(struct hdf5_file *file, hid_t dataset, const struct hdf5_chunks *chunks,
                         uint64_t all, uint64_t bytes, char *values)
{
    const uint64_t rank = (uint64_t)file->communicator->rank, ranks = (uint64_t)file->communicator->size;
    for (uint64_t first = 0; first < all; first += HDF5_CHUNKS_PIECE) {
        const uint64_t count = all - first < HDF5_CHUNKS_PIECE ? all - first : HDF5_CHUNKS_PIECE;
        chunks->fill(chunks->source, first, (size_t)count, values);
        for (uint64_t n = rank; n < count + rank; n += ranks) {
            const struct box box = n < count ? box_of_chunk(chunks, first + n) : (struct box){{0}, {0}};
            if (!hdf5_file_agree(file))
                return;
            write_box(file, dataset, chunks, &box, chunks->chunk, values + (n < count ? n * bytes : 0));
        }
    }
}

hid_t hdf5_chunked(struct hdf5_file *file, hid_t parent, const char *name, const struct hdf5_chunks *chunks)
{
    uint64_t elements = 1;
    for (int k = 0; k < chunks->dimensions; k++)
        elements *= chunks->chunk[k];
    void *values;
    const uint64_t all = stored_elements(chunks) / elements;
    const uint64_t room = all < HDF5_CHUNKS_PIECE ? all : HDF5_CHUNKS_PIECE;
    const hid_t dataset = begin(file, parent, name, chunks, room * elements, &values);
    if (file->status == STATUS_OK)
        write_chunks(file, dataset, chunks, all, elements * H5Tget_size(chunks->type), values);
    free(values);
    return dataset;
}
