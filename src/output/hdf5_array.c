/* HDF5 array: chunks, pieces and collective writes. */
#include "output/hdf5_array.h"

#include <stdlib.h>

/* A chunk fits HDF5's cache of 1 MiB in double precision, so it is compressed once. */
static const uint64_t chunk_target = 1 << 16;

/* An array as rows of contiguous elements, cut into chunks of nearly equal size: the last one wastes little.
 */
struct layout {
    uint64_t rows, columns;
    uint64_t chunk_rows, chunk_columns;
    uint64_t piece_rows; /* rows read and written at once: whole chunks */
};

/* The size of a part when `whole` is cut into as few nearly equal parts of at most `most` as possible. */
static uint64_t equal_part(uint64_t whole, uint64_t most)
{
    const uint64_t parts = (whole + most - 1) / most;
    return (whole + parts - 1) / parts;
}

/* For arrays with at least one element. */
static struct layout layout_make(int dimensions, const uint64_t shape[2])
{
    struct layout layout = {.rows = shape[0], .columns = dimensions == 2 ? shape[1] : 1};
    layout.chunk_columns = equal_part(layout.columns, chunk_target);
    const uint64_t most_rows = chunk_target / layout.chunk_columns;
    layout.chunk_rows = equal_part(layout.rows, most_rows);
    const uint64_t chunks = HDF5_PIECE / (layout.chunk_rows * layout.columns);
    layout.piece_rows = layout.chunk_rows * (chunks ? chunks : 1);
    return layout;
}

uint64_t hdf5_stored_elements(int dimensions, const uint64_t shape[2])
{
    if (shape[0] == 0)
        return 0;
    const struct layout layout = layout_make(dimensions, shape);
    const uint64_t down = (layout.rows + layout.chunk_rows - 1) / layout.chunk_rows;
    const uint64_t across = (layout.columns + layout.chunk_columns - 1) / layout.chunk_columns;
    return down * layout.chunk_rows * across * layout.chunk_columns;
}

/* ---- the dataset ---- */

static hid_t creation_properties(const struct hdf5_file *file, int dimensions, const hsize_t *chunk)
{
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(creation, false); /* the same state gives the same bytes */
    if (!chunk)
        return creation;
    H5Pset_chunk(creation, dimensions, chunk);
    H5Pset_shuffle(creation);
    if (file->compression)
        H5Pset_deflate(creation, file->compression);
    H5Pset_fletcher32(creation);
    /* MPI-IO gives every chunk its place at once; without this it would write all of them twice. */
    H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
    return creation;
}

hid_t hdf5_create_dataset(struct hdf5_file *file, hid_t parent, const char *name, hid_t type, int dimensions,
                          const hsize_t *shape, const hsize_t *chunk)
{
    const hid_t space = H5Screate_simple(dimensions, shape, NULL);
    const hid_t creation = creation_properties(file, dimensions, chunk);
    const hid_t dataset = H5Dcreate2(parent, name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    if (dataset < 0)
        hdf5_file_fail_in(file, "write a dataset");
    H5Pclose(creation);
    H5Sclose(space);
    return dataset;
}

static hid_t create_dataset(struct hdf5_file *file, hid_t parent, const char *name,
                            const struct hdf5_array *array, const struct layout *layout)
{
    const hsize_t shape[2] = {array->shape[0], array->shape[1]};
    const hsize_t chunk[2] = {layout->chunk_rows, layout->chunk_columns};
    return hdf5_create_dataset(file, parent, name, array->type, array->dimensions, shape,
                               shape[0] ? chunk : NULL);
}

/* Rows [begin, end) of the array; none where they are equal. */
struct piece {
    uint64_t begin, end;
};

static struct piece own_part(const struct hdf5_array *array)
{
    return (struct piece){array->first_row, array->first_row + array->rows};
}

/* Pieces of a part end where chunks end, so that a chunk is compressed once; but for those that a rank shares
 * with the next one. */
static uint64_t pieces_of(const struct layout *layout, struct piece part)
{
    const uint64_t origin = part.begin - part.begin % layout->chunk_rows;
    return part.begin == part.end ? 0 : (part.end - origin + layout->piece_rows - 1) / layout->piece_rows;
}

/* The n-th piece of a part; an empty one after the last. */
static struct piece piece_of(const struct layout *layout, struct piece part, uint64_t n)
{
    const uint64_t origin = part.begin - part.begin % layout->chunk_rows;
    if (n >= pieces_of(layout, part))
        return (struct piece){0, 0};
    const uint64_t begin = origin + n * layout->piece_rows, end = begin + layout->piece_rows;
    return (struct piece){begin > part.begin ? begin : part.begin, end < part.end ? end : part.end};
}

hid_t hdf5_transfer_properties(const struct hdf5_file *file)
{
    const hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
    if (file->communicator->size > 1) {
        H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
        H5Pset_dxpl_mpio_chunk_opt(transfer, H5FD_MPIO_CHUNK_ONE_IO);
        H5Pset_dxpl_mpio_collective_opt(transfer, H5FD_MPIO_INDIVIDUAL_IO);
    }
    return transfer;
}

static void select_piece(hid_t space, struct piece piece, uint64_t begin, uint64_t columns)
{
    const hsize_t start[2] = {piece.begin - begin, 0};
    const hsize_t extent[2] = {piece.end - piece.begin, columns};
    if (piece.begin == piece.end)
        H5Sselect_none(space);
    else
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, extent, NULL);
}

static void write_piece(struct hdf5_file *file, hid_t dataset, const struct hdf5_array *array,
                        const struct layout *layout, struct piece piece, const void *values)
{
    const hsize_t extent[2] = {layout->piece_rows, layout->columns};
    const hid_t memory = H5Screate_simple(array->dimensions, extent, NULL);
    const hid_t space = H5Dget_space(dataset);
    const hid_t transfer = hdf5_transfer_properties(file);
    select_piece(memory, piece, piece.begin, layout->columns);
    select_piece(space, piece, 0, layout->columns);
    if (H5Dwrite(dataset, array->type, memory, space, transfer, values) < 0)
        hdf5_file_fail_in(file, "write it");
    H5Pclose(transfer);
    H5Sclose(space);
    H5Sclose(memory);
}

/* Before each write all ranks agree that the one before it succeeded and that all have what to write. */
static void write_part(struct hdf5_file *file, hid_t dataset, const struct hdf5_array *array,
                       const struct layout *layout, void *values)
{
    const struct piece part = own_part(array);
    double pieces = (double)pieces_of(layout, part);
    communicator_max(file->communicator, 1, &pieces);
    for (uint64_t n = 0; n < (uint64_t)pieces; n++) {
        const struct piece piece = piece_of(layout, part, n);
        if (file->status == STATUS_OK && piece.begin < piece.end)
            hdf5_file_fail(file, array->fill(array->source, (piece.begin - part.begin) * layout->columns,
                                             (size_t)((piece.end - piece.begin) * layout->columns), values));
        if (!hdf5_file_agree(file))
            return;
        write_piece(file, dataset, array, layout, piece, values);
    }
}

uint64_t hdf5_bytes_at_creation(const struct hdf5_file *file, uint64_t bytes)
{
    return file->compression ? bytes / 64 : bytes + bytes / 1024;
}

hid_t hdf5_dataset(struct hdf5_file *file, hid_t parent, const char *name, const struct hdf5_array *array)
{
    const uint64_t bytes = hdf5_stored_elements(array->dimensions, array->shape) * H5Tget_size(array->type);
    if (!hdf5_file_reserve(file, hdf5_bytes_at_creation(file, bytes)))
        return H5I_INVALID_HID;
    const bool empty = array->shape[0] == 0;
    const struct layout layout = empty ? (struct layout){0} : layout_make(array->dimensions, array->shape);
    const hid_t dataset = create_dataset(file, parent, name, array, &layout);
    const uint64_t room = layout.piece_rows < array->rows ? layout.piece_rows : array->rows;
    void *values = malloc((size_t)(room * layout.columns) * H5Tget_size(array->type) + 1);
    if (!values)
        hdf5_file_fail(file, status_fail(STATUS_FAILED, "%s: no memory to write %s", file->path, name));
    if (hdf5_file_agree(file) && !empty)
        write_part(file, dataset, array, &layout, values);
    free(values);
    return dataset;
}
