/* HDF5 read: every handle is checked, for a damaged file may have anything anywhere. */
#include "output/hdf5_read.h"

#include "output/hdf5_file.h"

#include <inttypes.h>
#include <stdbool.h>

static enum status fail(const struct hdf5_source *source, const char *name, const char *what)
{
    return status_fail(STATUS_FAILED, "%s: %s %s", source->path, name, what);
}

enum status hdf5_source_open(const char *path, struct hdf5_source *source)
{
    *source = (struct hdf5_source){.path = path};
    hdf5_prepare();
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_sec2(access);
    H5Pset_fclose_degree(access, H5F_CLOSE_STRONG); /* also when an error left a dataset open */
    H5Pset_file_locking(access, false, true);       /* some parallel file systems refuse locks */
    source->id = H5Fopen(path, H5F_ACC_RDONLY, access);
    H5Pclose(access);
    return source->id >= 0 ? STATUS_OK : status_fail(STATUS_FAILED, "%s: HDF5 cannot open it to read", path);
}

void hdf5_source_close(struct hdf5_source *source)
{
    if (source->id >= 0)
        H5Fclose(source->id);
    source->id = H5I_INVALID_HID;
}

/* Whether numbers of type `stored` are those of `native`, but for the order of their bytes. */
static bool same_kind(hid_t stored, hid_t native)
{
    if (stored < 0 || H5Tget_class(stored) != H5Tget_class(native) ||
        H5Tget_size(stored) != H5Tget_size(native))
        return false;
    return H5Tget_class(native) != H5T_INTEGER || H5Tget_sign(stored) == H5Tget_sign(native);
}

static void close_type(hid_t type)
{
    if (type >= 0)
        H5Tclose(type);
}

static void close_space(hid_t space)
{
    if (space >= 0)
        H5Sclose(space);
}

/* ---- attributes ---- */

static enum status read_open_attribute(const struct hdf5_source *source, const char *name, hid_t attribute,
                                       hid_t type, size_t count, void *values)
{
    const hid_t stored = H5Aget_type(attribute);
    const hid_t space = H5Aget_space(attribute);
    const bool expected =
        same_kind(stored, type) && space >= 0 && H5Sget_simple_extent_npoints(space) == (hssize_t)count;
    close_type(stored);
    close_space(space);
    if (!expected)
        return fail(source, name, "is of another type or length");
    return H5Aread(attribute, type, values) >= 0 ? STATUS_OK : fail(source, name, "cannot be read");
}

enum status hdf5_read_attribute(const struct hdf5_source *source, const char *name, hid_t type, size_t count,
                                void *values)
{
    const hid_t attribute = H5Aopen(source->id, name, H5P_DEFAULT);
    if (attribute < 0)
        return fail(source, name, "is missing");
    const enum status status = read_open_attribute(source, name, attribute, type, count, values);
    H5Aclose(attribute);
    return status;
}

/* ---- arrays ---- */

/* Whether `dataset` has so many dimensions; their lengths go into shape. */
static bool get_shape(hid_t dataset, int dimensions, hsize_t shape[2])
{
    const hid_t space = H5Dget_space(dataset);
    const bool fits = space >= 0 && H5Sget_simple_extent_ndims(space) == dimensions &&
                      H5Sget_simple_extent_dims(space, shape, NULL) == dimensions;
    close_space(space);
    return fits;
}

static enum status check_array(const struct hdf5_source *source, const char *name, hid_t dataset,
                               const struct hdf5_rows *rows)
{
    hsize_t shape[2] = {0, 0};
    const hid_t stored = H5Dget_type(dataset);
    const bool same_type = same_kind(stored, rows->type);
    close_type(stored);
    if (!same_type)
        return fail(source, name, "holds numbers of another type");
    if (!get_shape(dataset, rows->dimensions, shape) || shape[0] != rows->shape[0] ||
        (rows->dimensions == 2 && shape[1] != rows->shape[1]))
        return fail(source, name, "is of another shape than the state that the file tells of");
    return STATUS_OK;
}

static enum status read_selected(const struct hdf5_source *source, const char *name, hid_t dataset,
                                 const struct hdf5_rows *rows, void *values)
{
    const hsize_t start[2] = {rows->first, 0};
    const hsize_t extent[2] = {rows->count, rows->shape[1]};
    const hid_t memory = H5Screate_simple(rows->dimensions, extent, NULL);
    const hid_t space = H5Dget_space(dataset);
    const bool read = memory >= 0 && space >= 0 &&
                      H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, extent, NULL) >= 0 &&
                      H5Dread(dataset, rows->type, memory, space, H5P_DEFAULT, values) >= 0;
    close_space(space);
    close_space(memory);
    return read ? STATUS_OK : fail(source, name, "cannot be read: its checksum is wrong, or the disk fails");
}

enum status hdf5_read_rows(const struct hdf5_source *source, const char *name, const struct hdf5_rows *rows,
                           void *values)
{
    const hid_t dataset = H5Dopen2(source->id, name, H5P_DEFAULT);
    if (dataset < 0)
        return fail(source, name, "is missing");
    enum status status = check_array(source, name, dataset, rows);
    if (status == STATUS_OK && rows->count)
        status = read_selected(source, name, dataset, rows, values);
    H5Dclose(dataset);
    return status;
}

enum status hdf5_read_length(const struct hdf5_source *source, const char *name, uint64_t *length)
{
    const hid_t dataset = H5Dopen2(source->id, name, H5P_DEFAULT);
    if (dataset < 0)
        return fail(source, name, "is missing");
    hsize_t shape[2] = {0, 0};
    const bool fits = get_shape(dataset, 1, shape);
    H5Dclose(dataset);
    *length = shape[0];
    return fits ? STATUS_OK : fail(source, name, "is not of one dimension");
}
