/* HDF5 read: numbers and arrays of a file of which nothing is believed. */
#include "output/hdf5_read.h"

#include "base/pool.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum status hdf5_read_bytes(const char *path, int descriptor, uint64_t begin, size_t count, void *bytes)
{
    for (size_t done = 0; done < count;) {
        const ssize_t read = pread(descriptor, (char *)bytes + done, count - done, (off_t)(begin + done));
        if (read == 0 || (read < 0 && errno != EINTR))
            return status_fail(STATUS_FAILED, "%s: cannot read it: %s", path,
                               read < 0 ? strerror(errno) : "it became shorter");
        done += read > 0 ? (size_t)read : 0;
    }
    return STATUS_OK;
}

static enum status fail(const struct hdf5_source *source, const char *name, const char *what)
{
    return status_fail(STATUS_FAILED, "%s: %s %s", source->path, name, what);
}

/* Whether `stored`, which is closed, is that native type. */
static bool is_of_type(hid_t stored, hid_t native)
{
    const bool same = stored >= 0 && H5Tequal(stored, native) > 0;
    H5Tclose(stored);
    return same;
}

/* Whether `space`, which is closed, has so many dimensions; their lengths go into shape. */
static bool get_shape(hid_t space, int dimensions, hsize_t shape[2])
{
    const bool fits = space >= 0 && H5Sget_simple_extent_ndims(space) == dimensions &&
                      H5Sget_simple_extent_dims(space, shape, NULL) == dimensions;
    H5Sclose(space);
    return fits;
}

enum status hdf5_read_number(const struct hdf5_source *source, const char *name, hid_t type, void *value)
{
    enum status status = STATUS_OK;
    const hid_t attribute = H5Aopen(source->file, name, H5P_DEFAULT);
    if (attribute < 0)
        return fail(source, name, "is missing");
    const hid_t space = H5Aget_space(attribute);
    const bool is_single = H5Sget_simple_extent_npoints(space) == 1;
    H5Sclose(space);
    if (!is_single || !is_of_type(H5Aget_type(attribute), type))
        status = fail(source, name, "is of another type or length");
    else if (H5Aread(attribute, type, value) < 0)
        status = fail(source, name, "cannot be read");
    H5Aclose(attribute);
    return status;
}

/* Refuses a path, before it is followed, of which a step is a link to another file or another name. */
static enum status require_within(const struct hdf5_source *source, const char *name)
{
    char path[256];
    H5L_info_t link;
    for (size_t end = strcspn(name + 1, "/") + 1;; end += strcspn(name + end + 1, "/") + 1) {
        snprintf(path, sizeof path, "%.*s", (int)end, name);
        if (H5Lget_info(source->file, path, &link, H5P_DEFAULT) < 0)
            return fail(source, name, "is missing");
        if (link.type != H5L_TYPE_HARD)
            return fail(source, name, "is a link to another place, which is not followed");
        if (name[end] == '\0')
            return STATUS_OK;
    }
}

/* Opens a dataset with numbers that lie in the file itself, one after the other. Asked before anything else,
 * for the shape of a virtual one is found in other files. */
static enum status open_plain(const struct hdf5_source *source, const char *name, hid_t *dataset)
{
    TRY(require_within(source, name));
    *dataset = H5Dopen2(source->file, name, H5P_DEFAULT);
    if (*dataset < 0)
        return fail(source, name, "is missing");
    const hid_t creation = H5Dget_create_plist(*dataset);
    const bool is_plain =
        creation >= 0 && H5Pget_layout(creation) == H5D_CONTIGUOUS && H5Pget_external_count(creation) == 0;
    H5Pclose(creation);
    if (is_plain)
        return STATUS_OK;
    H5Dclose(*dataset);
    return fail(source, name, "is not stored as one piece of this file");
}

/* Numbers as the host has them, which all processors read. */
struct plain {
    const struct hdf5_source *source;
    int descriptor;
    uint64_t begin, bytes; /* in the file */
    char *values;
};

static enum status read_piece(void *context, size_t n, void *scratch)
{
    const struct plain *plain = context;
    const uint64_t begin = n * (uint64_t)HDF5_PIECE, left = plain->bytes - begin;
    (void)scratch;
    return hdf5_read_bytes(plain->source->path, plain->descriptor, plain->begin + begin,
                           left < HDF5_PIECE ? (size_t)left : HDF5_PIECE, plain->values + begin);
}

static enum status read_plain(const struct hdf5_source *source, hid_t dataset, const struct hdf5_rows *rows,
                              void *values)
{
    void *descriptor = NULL;
    const uint64_t row = H5Tget_size(rows->type) * (rows->shape[1] ? rows->shape[1] : 1);
    struct plain plain = {.source = source,
                          .begin = (uint64_t)H5Dget_offset(dataset) + rows->first_row * row,
                          .bytes = rows->rows * row,
                          .values = values};
    const struct pool_work work = {.make = read_piece, .context = &plain};
    if (H5Fget_vfd_handle(source->file, H5P_DEFAULT, &descriptor) < 0 || !descriptor)
        return status_fail(STATUS_FAILED, "%s: HDF5 reads it in another way than as a file", source->path);
    plain.descriptor = *(const int *)descriptor;
    return pool_run(&work, hdf5_pieces(plain.bytes));
}

enum status hdf5_read_rows(const struct hdf5_source *source, const char *name, const struct hdf5_rows *rows,
                           void *values)
{
    hsize_t shape[2] = {0, 0};
    enum status status = STATUS_OK;
    hid_t dataset = H5I_INVALID_HID;
    TRY(open_plain(source, name, &dataset));
    if (!is_of_type(H5Dget_type(dataset), rows->type))
        status = fail(source, name, "holds numbers of another type");
    else if (!get_shape(H5Dget_space(dataset), rows->shape[1] ? 2 : 1, shape) || shape[0] != rows->shape[0] ||
             shape[1] != rows->shape[1])
        status = fail(source, name, "is of another shape than the state that the file tells of");
    else if (rows->shape[0] > 0 && H5Dget_offset(dataset) == HADDR_UNDEF)
        status = fail(source, name, "is nowhere in this file");
    else if (rows->rows > 0)
        status = read_plain(source, dataset, rows, values);
    H5Dclose(dataset);
    return status;
}

enum status hdf5_read_length(const struct hdf5_source *source, const char *name, uint64_t *length)
{
    hsize_t shape[2] = {0, 0};
    hid_t dataset = H5I_INVALID_HID;
    TRY(open_plain(source, name, &dataset));
    const bool fits = get_shape(H5Dget_space(dataset), 1, shape);
    *length = shape[0];
    H5Dclose(dataset);
    return fits ? STATUS_OK : fail(source, name, "is not of one dimension");
}
