/* HDF5 array: chunks, pieces and collective writes. */
#include "output/hdf5_array.h"

#include <stdlib.h>
#include <string.h>

/* ---- what both kinds share ---- */

static hid_t create(struct hdf5_file *file, hid_t parent, const char *name, hid_t type, int dimensions,
                    const hsize_t *shape, const hsize_t *chunk)
{
    const hid_t space = H5Screate_simple(dimensions, shape, NULL);
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(creation, false); /* the same state gives the same bytes */
    if (shape[0] > 0) {
        H5Pset_chunk(creation, dimensions, chunk);
        H5Pset_shuffle(creation);
        if (file->compression)
            H5Pset_deflate(creation, file->compression);
        H5Pset_fletcher32(creation);
        /* MPI-IO gives every chunk its place at once; without this it would write all of them twice. */
        H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
    }
    const hid_t dataset = H5Dcreate2(parent, name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    if (dataset < 0)
        hdf5_file_fail_in(file, "write a dataset");
    H5Pclose(creation);
    H5Sclose(space);
    return dataset;
}

/* MPI-IO writes each chunk full of zeros where a dataset of `bytes` is created; they deflate to a thousandth.
 */
static bool reserve(struct hdf5_file *file, uint64_t bytes)
{
    return hdf5_file_reserve(file, file->compression ? bytes / 64 : bytes + bytes / 1024);
}

static void *allocate(struct hdf5_file *file, const char *name, uint64_t bytes)
{
    void *values = malloc((size_t)bytes + 1);
    if (!values)
        hdf5_file_fail(file, status_fail(STATUS_FAILED, "%s: no memory to write %s", file->path, name));
    return values;
}

/* A part of a dataset; extent[0] is 0 where there is none. */
struct box {
    hsize_t start[HDF5_DIMENSIONS], extent[HDF5_DIMENSIONS];
};

/* One write of all ranks, each its own box, from memory of the shape `room`. It is one operation for all
 * chunks, and each rank writes its own bytes in it, so that a rank whose disk fails leaves no other one
 * waiting before they can agree. */
static void write_box(struct hdf5_file *file, hid_t dataset, hid_t type, int dimensions,
                      const struct box *box, const hsize_t *room, const void *values)
{
    static const hsize_t origin[HDF5_DIMENSIONS] = {0};
    const hid_t memory = H5Screate_simple(dimensions, room, NULL), space = H5Dget_space(dataset);
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
    if (H5Dwrite(dataset, type, memory, space, transfer, values) < 0)
        hdf5_file_fail_in(file, "write it");
    H5Pclose(transfer);
    H5Sclose(space);
    H5Sclose(memory);
}

/* ---- rows ---- */

/* A chunk fits HDF5's cache of 1 MiB in double precision, so it is compressed once. */
static const uint64_t chunk_target = 1 << 16;

/* An array as rows of contiguous elements, cut into chunks of nearly equal size: the last one wastes little.
 */
struct layout {
    uint64_t rows, columns;
    uint64_t chunk_rows, chunk_columns;
    uint64_t piece_rows; /* rows read and written at once: whole chunks */
};

static uint64_t parts_of(uint64_t whole, uint64_t most)
{
    return (whole + most - 1) / most;
}

/* The size of a part when `whole` is cut into as few nearly equal parts of at most `most` as possible. */
static uint64_t equal_part(uint64_t whole, uint64_t most)
{
    return parts_of(whole, parts_of(whole, most));
}

/* For arrays with at least one element. */
static struct layout layout_make(int dimensions, const uint64_t shape[2])
{
    struct layout layout = {.rows = shape[0], .columns = dimensions == 2 ? shape[1] : 1};
    layout.chunk_columns = equal_part(layout.columns, chunk_target);
    layout.chunk_rows = equal_part(layout.rows, chunk_target / layout.chunk_columns);
    const uint64_t chunks = HDF5_PIECE / (layout.chunk_rows * layout.columns);
    layout.piece_rows = layout.chunk_rows * (chunks ? chunks : 1);
    return layout;
}

uint64_t hdf5_stored_elements(int dimensions, const uint64_t shape[2])
{
    if (shape[0] == 0)
        return 0;
    const struct layout layout = layout_make(dimensions, shape);
    return parts_of(layout.rows, layout.chunk_rows) * layout.chunk_rows *
           parts_of(layout.columns, layout.chunk_columns) * layout.chunk_columns;
}

static enum status fill(const struct hdf5_array *array, uint64_t first, size_t count, void *values)
{
    const size_t size = H5Tget_size(array->type);
    if (array->fill)
        return array->fill(array->source, first, count, values);
    memcpy(values, (const char *)array->source + first * size, count * size);
    return STATUS_OK;
}

/* Pieces end where chunks end, so that a chunk is compressed once; but for those that a rank shares with the
 * next one. Before each write all ranks agree that the one before it succeeded and that all have what to
 * write. */
static void write_rows(struct hdf5_file *file, hid_t dataset, const struct hdf5_array *array,
                       const struct layout *layout, void *values)
{
    const uint64_t first = array->first_row, end = first + array->rows, columns = layout->columns;
    const uint64_t origin = first - first % layout->chunk_rows;
    const hsize_t room[2] = {layout->piece_rows, columns};
    double pieces = array->rows ? (double)parts_of(end - origin, layout->piece_rows) : 0;
    communicator_max(file->communicator, 1, &pieces);
    for (uint64_t n = 0; n < (uint64_t)pieces; n++) {
        const uint64_t begin = origin + n * layout->piece_rows, low = begin > first ? begin : first;
        const uint64_t high = begin + layout->piece_rows < end ? begin + layout->piece_rows : end;
        const struct box box = {{low, 0}, {low < high ? high - low : 0, columns}};
        if (file->status == STATUS_OK && low < high)
            hdf5_file_fail(file,
                           fill(array, (low - first) * columns, (size_t)((high - low) * columns), values));
        if (!hdf5_file_agree(file))
            return;
        write_box(file, dataset, array->type, array->dimensions, &box, room, values);
    }
}

hid_t hdf5_dataset(struct hdf5_file *file, hid_t parent, const char *name, const struct hdf5_array *array)
{
    const size_t size = H5Tget_size(array->type);
    if (!reserve(file, hdf5_stored_elements(array->dimensions, array->shape) * size))
        return H5I_INVALID_HID;
    const bool empty = array->shape[0] == 0;
    const struct layout layout = empty ? (struct layout){0} : layout_make(array->dimensions, array->shape);
    const uint64_t rows = layout.piece_rows < array->rows ? layout.piece_rows : array->rows;
    const hid_t dataset = create(file, parent, name, array->type, array->dimensions,
                                 (const hsize_t[]){array->shape[0], array->shape[1]},
                                 (const hsize_t[]){layout.chunk_rows, layout.chunk_columns});
    void *values = allocate(file, name, rows * layout.columns * size);
    if (hdf5_file_agree(file) && !empty)
        write_rows(file, dataset, array, &layout, values);
    free(values);
    return dataset;
}

/* ---- chunks ---- */

static uint64_t chunks_along(const struct hdf5_chunks *chunks, int k)
{
    return parts_of(chunks->shape[k], chunks->chunk[k]);
}

/* The part of the array that chunk `number` holds. */
static struct box box_of_chunk(const struct hdf5_chunks *chunks, uint64_t number)
{
    struct box box;
    for (int k = chunks->dimensions; k-- > 0; number /= chunks_along(chunks, k)) {
        box.start[k] = number % chunks_along(chunks, k) * chunks->chunk[k];
        const hsize_t rest = chunks->shape[k] - box.start[k];
        box.extent[k] = rest < chunks->chunk[k] ? rest : chunks->chunk[k];
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
            write_box(file, dataset, chunks->type, chunks->dimensions, &box, chunks->chunk,
                      values + (n < count ? n * bytes : 0));
        }
    }
}

hid_t hdf5_chunked(struct hdf5_file *file, hid_t parent, const char *name, const struct hdf5_chunks *chunks)
{
    uint64_t count = 1, bytes = H5Tget_size(chunks->type);
    for (int k = 0; k < chunks->dimensions; k++) {
        count *= chunks_along(chunks, k);
        bytes *= chunks->chunk[k];
    }
    if (!reserve(file, count * bytes))
        return H5I_INVALID_HID;
    const hid_t dataset =
        create(file, parent, name, chunks->type, chunks->dimensions, chunks->shape, chunks->chunk);
    char *values = allocate(file, name, (count < HDF5_CHUNKS_PIECE ? count : HDF5_CHUNKS_PIECE) * bytes);
    if (hdf5_file_agree(file))
        write_chunks(file, dataset, chunks, count, bytes, values);
    free(values);
    return dataset;
}
