/* HDF5 chunks: creation and collective writes. */
#include "output/hdf5_chunks.h"

#include "output/hdf5_array.h"

#include <stdlib.h>

/* Numbers of chunks along each axis; returns their product. */
static uint64_t count_chunks(const struct hdf5_chunks *chunks, uint64_t along[HDF5_CHUNKS_DIMENSIONS])
{
    uint64_t count = 1;
    for (int k = 0; k < chunks->dimensions; k++) {
        along[k] = (chunks->shape[k] + chunks->chunk[k] - 1) / chunks->chunk[k];
        count *= along[k];
    }
    return count;
}

static uint64_t chunk_elements(const struct hdf5_chunks *chunks)
{
    uint64_t elements = 1;
    for (int k = 0; k < chunks->dimensions; k++)
        elements *= chunks->chunk[k];
    return elements;
}

/* Writes chunk `number`, or takes part in the writing of the others' where there is none of that number. */
static void write_chunk(struct hdf5_file *file, hid_t dataset, const struct hdf5_chunks *chunks,
                        uint64_t number, const void *values)
{
    static const hsize_t origin[HDF5_CHUNKS_DIMENSIONS] = {0};
    uint64_t along[HDF5_CHUNKS_DIMENSIONS];
    hsize_t start[HDF5_CHUNKS_DIMENSIONS], extent[HDF5_CHUNKS_DIMENSIONS];
    const uint64_t count = count_chunks(chunks, along);
    const hid_t memory = H5Screate_simple(chunks->dimensions, chunks->chunk, NULL);
    const hid_t space = H5Dget_space(dataset);
    const hid_t transfer = hdf5_transfer_properties(file);
    if (number < count) {
        for (int k = chunks->dimensions; k-- > 0; number /= along[k]) {
            start[k] = number % along[k] * chunks->chunk[k];
            const hsize_t rest = chunks->shape[k] - start[k];
            extent[k] = rest < chunks->chunk[k] ? rest : chunks->chunk[k];
        }
        H5Sselect_hyperslab(memory, H5S_SELECT_SET, origin, NULL, extent, NULL);
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, extent, NULL);
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

/* Before each write all ranks agree that the one before it succeeded. */
static void write_all(struct hdf5_file *file, hid_t dataset, const struct hdf5_chunks *chunks, char *values)
{
    uint64_t along[HDF5_CHUNKS_DIMENSIONS];
    const uint64_t all = count_chunks(chunks, along);
    const uint64_t rank = (uint64_t)file->communicator->rank, ranks = (uint64_t)file->communicator->size;
    const uint64_t bytes = chunk_elements(chunks) * H5Tget_size(chunks->type);
    for (uint64_t first = 0; first < all; first += HDF5_CHUNKS_PIECE) {
        const uint64_t count = all - first < HDF5_CHUNKS_PIECE ? all - first : HDF5_CHUNKS_PIECE;
        chunks->fill(chunks->source, first, (size_t)count, values);
        for (uint64_t n = 0; n < count; n += ranks) {
            const uint64_t own = n + rank;
            if (!hdf5_file_agree(file))
                return;
            write_chunk(file, dataset, chunks, own < count ? first + own : all,
                        values + (own < count ? own * bytes : 0));
        }
    }
}

hid_t hdf5_chunked(struct hdf5_file *file, hid_t parent, const char *name, const struct hdf5_chunks *chunks)
{
    uint64_t along[HDF5_CHUNKS_DIMENSIONS];
    const uint64_t count = count_chunks(chunks, along);
    const uint64_t bytes = chunk_elements(chunks) * H5Tget_size(chunks->type);
    if (!hdf5_file_reserve(file, hdf5_bytes_at_creation(file, count * bytes)))
        return H5I_INVALID_HID;
    const hid_t dataset = hdf5_create_dataset(file, parent, name, chunks->type, chunks->dimensions,
                                              chunks->shape, chunks->chunk);
    char *values = malloc((size_t)((count < HDF5_CHUNKS_PIECE ? count : HDF5_CHUNKS_PIECE) * bytes));
    if (!values)
        hdf5_file_fail(file, status_fail(STATUS_FAILED, "%s: no memory to write %s", file->path, name));
    if (hdf5_file_agree(file))
        write_all(file, dataset, chunks, values);
    free(values);
    return dataset;
}
