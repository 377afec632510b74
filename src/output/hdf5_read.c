/* HDF5 read: every handle is checked, for a damaged file may have anything anywhere. To close what could not
 * be opened does nothing. */
#include "output/hdf5_read.h"

#include "output/hdf5_file.h"

static enum status fail(const struct hdf5_source *source, const char *name, const char *what)
{
    return status_fail(STATUS_FAILED, "%s: %s %s", source->path, name, what);
}

enum status hdf5_source_open(const char *path, struct hdf5_source *source)
{
    const hid_t access = hdf5_access(false);
    *source = (struct hdf5_source){.id = H5Fopen(path, H5F_ACC_RDONLY, access), .path = path};
    H5Pclose(access);
    return source->id >= 0 ? STATUS_OK : status_fail(STATUS_FAILED, "%s: HDF5 cannot open it to read", path);
}

void hdf5_source_close(struct hdf5_source *source)
{
    if (source->id >= 0)
        H5Fclose(source->id);
    source->id = H5I_INVALID_HID;
}

/* Whether numbers of type `stored`, which is closed, are those of `native`, but for the order of their bytes.
 */
static bool is_of_kind(hid_t stored, hid_t native)
{
    const bool same = stored >= 0 && H5Tget_class(stored) == H5Tget_class(native) &&
                      H5Tget_size(stored) == H5Tget_size(native) &&
                      (H5Tget_class(native) != H5T_INTEGER || H5Tget_sign(stored) == H5Tget_sign(native));
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

enum status hdf5_read_attribute(const struct hdf5_source *source, const char *name, hid_t type, void *value)
{
    enum status status = STATUS_OK;
    const hid_t attribute = H5Aopen(source->id, name, H5P_DEFAULT);
    if (attribute < 0)
        return fail(source, name, "is missing");
    const hid_t space = H5Aget_space(attribute);
    const bool is_single = H5Sget_simple_extent_npoints(space) == 1;
    H5Sclose(space);
    if (!is_single || !is_of_kind(H5Aget_type(attribute), type))
        status = fail(source, name, "is of another type or length");
    else if (H5Aread(attribute, type, value) < 0)
        status = fail(source, name, "cannot be read");
    H5Aclose(attribute);
    return status;
}

static bool read_selected(hid_t dataset, int dimensions, const struct hdf5_rows *rows, void *values)
{
    const hsize_t start[2] = {rows->first, 0}, extent[2] = {rows->count, rows->shape[1]};
    const hid_t memory = H5Screate_simple(dimensions, extent, NULL), space = H5Dget_space(dataset);
    const bool read = memory >= 0 && space >= 0 &&
                      H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, extent, NULL) >= 0 &&
                      H5Dread(dataset, rows->type, memory, space, H5P_DEFAULT, values) >= 0;
    H5Sclose(space);
    H5Sclose(memory);
    return read;
}

enum status hdf5_read_rows(const struct hdf5_source *source, const char *name, const struct hdf5_rows *rows,
                           void *values)
{
    const int dimensions = rows->shape[1] ? 2 : 1;
    hsize_t shape[2] = {0, 0};
    enum status status = STATUS_OK;
    const hid_t dataset = H5Dopen2(source->id, name, H5P_DEFAULT);
    if (dataset < 0)
        return fail(source, name, "is missing");
    if (!is_of_kind(H5Dget_type(dataset), rows->type))
        status = fail(source, name, "holds numbers of another type");
    else if (!get_shape(H5Dget_space(dataset), dimensions, shape) || shape[0] != rows->shape[0] ||
             shape[1] != rows->shape[1])
        status = fail(source, name, "is of another shape than the state that the file tells of");
    else if (rows->count > 0 && !read_selected(dataset, dimensions, rows, values))
        status = fail(source, name, "cannot be read: its checksum is wrong, or the disk fails");
    H5Dclose(dataset);
    return status;
}

enum status hdf5_read_length(const struct hdf5_source *source, const char *name, uint64_t *length)
{
    hsize_t shape[2] = {0, 0};
    const hid_t dataset = H5Dopen2(source->id, name, H5P_DEFAULT);
    if (dataset < 0)
        return fail(source, name, "is missing");
    const bool fits = get_shape(H5Dget_space(dataset), 1, shape);
    H5Dclose(dataset);
    *length = shape[0];
    return fits ? STATUS_OK : fail(source, name, "is not of one dimension");
}
