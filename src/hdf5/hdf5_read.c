/* HDF5 read: numbers and arrays of a file that may be damaged or made to harm. */
#include "hdf5/hdf5_read.h"

#include "base/pool.h"
#include "base/regular.h"
#include "hdf5/hdf5_write.h"

#include <errno.h>
#include <math.h>
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
    return status_fail(source->failure, "%s: %s %s", source->path, name, what);
}

/* ---- the file ---- */

/* A pipe or a device would hold HDF5 up for ever. */
enum status hdf5_source_open(const char *path, enum status failure, struct hdf5_source *source)
{
    struct stat found;
    FILE *file;
    *source = (struct hdf5_source){path, failure, H5I_INVALID_HID, 0};
    TRY(regular_require(path, failure, &file, &found));
    source->bytes = (uint64_t)found.st_size;
    const hid_t access = hdf5_access();
    source->file = H5Fopen(path, H5F_ACC_RDONLY, access);
    H5Pclose(access);
    fclose(file);
    return source->file >= 0 ? STATUS_OK : status_fail(failure, "%s: HDF5 cannot open it to read", path);
}

void hdf5_source_close(struct hdf5_source *source)
{
    if (source->file >= 0)
        H5Fclose(source->file);
    source->file = H5I_INVALID_HID;
}

enum status hdf5_find(const struct hdf5_source *source, const char *path, bool *is_there)
{
    char step[2048];
    H5L_info_t link;
    *is_there = strlen(path) < sizeof step;
    for (size_t end = 0; *is_there && path[end] && path[end + 1];) {
        end += strcspn(path + end + 1, "/") + 1;
        snprintf(step, sizeof step, "%.*s", (int)end, path);
        *is_there = H5Lget_info(source->file, step, &link, H5P_DEFAULT) >= 0;
        if (*is_there && link.type != H5L_TYPE_HARD)
            return fail(source, path, "is a link to another place, which is not followed");
    }
    return STATUS_OK;
}

/* Whether `stored`, which is closed, is a type of integers or reals; *size <- that of one. */
static bool is_of_numbers(hid_t stored, size_t *size)
{
    enum { WIDEST = 16 /* bytes */ };
    const H5T_class_t class = H5Tget_class(stored);
    *size = H5Tget_size(stored);
    H5Tclose(stored);
    return (class == H5T_INTEGER || class == H5T_FLOAT) && *size <= WIDEST;
}

/* ---- attributes ---- */

static enum status fail_attribute(const struct hdf5_source *source, const char *object, const char *name,
                                  const char *expected)
{
    return status_fail(source->failure, "%s: %s of %s: expected %s", source->path, name, object, expected);
}

/* *attribute <- that of an object, below 0 where there is none: to close it then does nothing. */
static enum status open_attribute(const struct hdf5_source *source, const char *object, const char *name,
                                  size_t count, hid_t *attribute)
{
    bool is_there;
    *attribute = H5I_INVALID_HID;
    TRY(hdf5_find(source, object, &is_there));
    if (!is_there || H5Aexists_by_name(source->file, object, name, H5P_DEFAULT) <= 0)
        return STATUS_OK;
    *attribute = H5Aopen_by_name(source->file, object, name, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Aget_space(*attribute);
    const bool fits = H5Sget_simple_extent_npoints(space) == (hssize_t)count;
    H5Sclose(space);
    if (fits)
        return STATUS_OK;
    H5Aclose(*attribute);
    return fail_attribute(source, object, name,
                          count == 1   ? "one value"
                          : count == 2 ? "two values, those of a mesh of two dimensions"
                                       : "seven values");
}

/* *is_there <- whether there is one. */
static enum status read_attribute(const struct hdf5_source *source, const char *object, const char *name,
                                  size_t count, hid_t type, void *values, bool *is_there)
{
    hid_t attribute;
    size_t size;
    TRY(open_attribute(source, object, name, count, &attribute));
    *is_there = attribute >= 0;
    const bool is_read =
        !*is_there || (is_of_numbers(H5Aget_type(attribute), &size) && H5Aread(attribute, type, values) >= 0);
    H5Aclose(attribute);
    return is_read ? STATUS_OK : fail_attribute(source, object, name, "numbers");
}

enum status hdf5_read_number(const struct hdf5_source *source, const char *name, hid_t type, void *value)
{
    bool is_there;
    TRY(read_attribute(source, "/", name, 1, type, value, &is_there));
    return is_there ? STATUS_OK : fail(source, name, "is missing");
}

enum status hdf5_read_reals(const struct hdf5_source *source, const char *object, const char *name,
                            size_t count, double *values)
{
    bool is_there;
    TRY(read_attribute(source, object, name, count, H5T_NATIVE_DOUBLE, values, &is_there));
    for (size_t n = 0; n < count && is_there; n++)
        if (!isfinite(values[n]))
            return fail_attribute(source, object, name, "finite numbers");
    return STATUS_OK;
}

enum status hdf5_read_texts(const struct hdf5_source *source, const char *object, const char *name,
                            size_t count, char texts[][HDF5_WORD])
{
    char *items[HDF5_WORDS] = {NULL};
    hid_t attribute;
    TRY(open_attribute(source, object, name, count, &attribute));
    if (attribute < 0)
        return STATUS_OK;
    const hid_t stored = H5Aget_type(attribute), space = H5Aget_space(attribute), type = H5Tcopy(H5T_C_S1);
    const bool is_variable = H5Tis_variable_str(stored) > 0;
    H5Tset_size(type, is_variable ? H5T_VARIABLE : HDF5_WORD);
    H5Tset_cset(type, H5Tget_cset(stored));
    const bool is_read = H5Tget_class(stored) == H5T_STRING &&
                         H5Aread(attribute, type, is_variable ? (void *)items : (void *)texts) >= 0;
    for (size_t n = 0; n < count && is_variable; n++)
        snprintf(texts[n], HDF5_WORD, "%s", items[n] ? items[n] : "");
    if (is_variable)
        H5Dvlen_reclaim(type, space, H5P_DEFAULT, items);
    H5Tclose(type);
    H5Sclose(space);
    H5Tclose(stored);
    H5Aclose(attribute);
    return is_read ? STATUS_OK : fail_attribute(source, object, name, "text");
}

/* ---- arrays ---- */

/* Why a dataset is not read, or NULL. Numbers that are not stored would be made up by HDF5, and a whole chunk
 * is unpacked at once. */
static const char *find_fault(const struct hdf5_source *source, hid_t dataset, hid_t creation, hid_t space,
                              uint64_t shape[2])
{
    enum { TIGHTEST = 4096 /* bytes in one that is stored: deflate makes 1,032 at most, few filters more */ };
    hsize_t lengths[2] = {0, 1}, chunk[2] = {1, 1};
    size_t size;
    if (H5Pget_layout(creation) == H5D_CHUNKED)
        H5Pget_chunk(creation, 2, chunk);
    if (!is_of_numbers(H5Dget_type(dataset), &size))
        return "holds no numbers";
    const int dimensions = H5Sget_simple_extent_ndims(space);
    if (dimensions < 1 || dimensions > 2)
        return "is not of one dimension or two";
    H5Sget_simple_extent_dims(space, lengths, NULL);
    shape[0] = lengths[0];
    shape[1] = dimensions == 2 ? lengths[1] : 0;
    const haddr_t begin = H5Dget_offset(dataset); /* of chunks there is none */
    const double before = begin == HADDR_UNDEF ? 0 : (double)begin;
    const double stored = (double)H5Dget_storage_size(dataset);
    const double count = (double)lengths[0] * (double)lengths[1];
    const double unpacked = (double)size * fmax(count, (double)chunk[0] * (double)chunk[1]);
    return count > 0 && (before + stored > (double)source->bytes || unpacked > TIGHTEST * stored)
               ? "has a size of more numbers than the file can hold"
               : NULL;
}

/* Opens an array, and then its space: the shape of a virtual one is found in other files. */
static enum status open_array(const struct hdf5_source *source, const char *name, hid_t *dataset,
                              hid_t *space, uint64_t shape[2])
{
    bool is_there;
    TRY(hdf5_find(source, name, &is_there));
    if (!is_there)
        return fail(source, name, "is missing");
    *dataset = H5Dopen2(source->file, name, H5P_DEFAULT);
    const hid_t creation = H5Dget_create_plist(*dataset);
    const H5D_layout_t layout = H5Pget_layout(creation);
    const bool is_own = layout >= 0 && layout != H5D_VIRTUAL && H5Pget_external_count(creation) == 0;
    *space = is_own ? H5Dget_space(*dataset) : H5I_INVALID_HID;
    const char *fault = *dataset < 0 ? "is no array"
                        : is_own     ? find_fault(source, *dataset, creation, *space, shape)
                                     : "is not stored in this file";
    H5Pclose(creation);
    if (!fault)
        return STATUS_OK;
    H5Sclose(*space);
    H5Dclose(*dataset);
    return fail(source, name, fault);
}

bool hdf5_is_group(const struct hdf5_source *source, const char *path)
{
    const hid_t object = H5Oopen(source->file, path, H5P_DEFAULT);
    const bool is_group = object >= 0 && H5Iget_type(object) == H5I_GROUP;
    if (object >= 0)
        H5Oclose(object);
    return is_group;
}

enum status hdf5_read_shape(const struct hdf5_source *source, const char *name, uint64_t shape[2])
{
    hid_t dataset, space;
    TRY(open_array(source, name, &dataset, &space, shape));
    H5Sclose(space);
    H5Dclose(dataset);
    return STATUS_OK;
}

/* Numbers in one piece of the file as the host has them, which all processors read. */
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

/* False where the numbers are not so. */
static bool find_plain(const struct hdf5_source *source, hid_t dataset, const struct hdf5_rows *rows,
                       struct plain *plain)
{
    void *descriptor = NULL;
    const uint64_t row = H5Tget_size(rows->type) * (rows->shape[1] ? rows->shape[1] : 1);
    const hid_t type = H5Dget_type(dataset);
    const haddr_t begin = H5Dget_offset(dataset);
    const bool is_plain = begin != HADDR_UNDEF && H5Tequal(type, rows->type) > 0 &&
                          H5Fget_vfd_handle(source->file, H5P_DEFAULT, &descriptor) >= 0;
    H5Tclose(type);
    if (is_plain)
        *plain = (struct plain){source, *(const int *)descriptor, begin + rows->first_row * row,
                                rows->rows * row, plain->values};
    return is_plain;
}

static enum status read_rows(const struct hdf5_source *source, const char *name, hid_t dataset, hid_t space,
                             const struct hdf5_rows *rows, void *values)
{
    struct plain plain = {.values = values};
    const struct pool_work work = {.make = read_piece, .context = &plain};
    if (find_plain(source, dataset, rows, &plain))
        return pool_run(&work, hdf5_pieces(plain.bytes));
    const hsize_t first[2] = {rows->first_row, 0}, own[2] = {rows->rows, rows->shape[1]};
    const hid_t memory = H5Screate_simple(own[1] ? 2 : 1, own, NULL);
    const bool is_read = H5Sselect_hyperslab(space, H5S_SELECT_SET, first, NULL, own, NULL) >= 0 &&
                         H5Dread(dataset, rows->type, memory, space, H5P_DEFAULT, values) >= 0;
    H5Sclose(memory);
    return is_read ? STATUS_OK : fail(source, name, "cannot be read");
}

enum status hdf5_read_rows(const struct hdf5_source *source, const char *name, const struct hdf5_rows *rows,
                           void *values)
{
    enum status status = STATUS_OK;
    uint64_t shape[2];
    hid_t dataset, space;
    TRY(open_array(source, name, &dataset, &space, shape));
    if (shape[0] != rows->shape[0] || shape[1] != rows->shape[1])
        status = fail(source, name, "is of another shape than the state that the file tells of");
    else if (rows->rows > 0)
        status = read_rows(source, name, dataset, space, rows, values);
    H5Sclose(space);
    H5Dclose(dataset);
    return status;
}
