/* HDF5 file: opening, finishing, errors and attributes. */
#include "diag/hdf5_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- errors ---- */

struct cause {
    int error_number;
    char text[256]; /* HDF5's innermost description */
};

/* HDF5 tells errno only within the text of its lowest error. */
static herr_t find_cause(unsigned n, const H5E_error2_t *error, void *found)
{
    (void)n;
    struct cause *cause = found;
    if (!error->desc)
        return 0;
    static const char mark[] = "errno = ";
    const char *number = strstr(error->desc, mark);
    if (number && !cause->error_number)
        cause->error_number = atoi(number + sizeof mark - 1);
    if (!cause->text[0])
        snprintf(cause->text, sizeof cause->text, "%s", error->desc);
    return 0;
}

/* Records why the HDF5 call before this one failed; H5E_WALK_UPWARD visits the lowest error first. */
static void fail_hdf5(struct hdf5_file *file, const char *doing)
{
    struct cause cause = {0};
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, find_cause, &cause);
    if (cause.error_number)
        file->status =
            status_fail(STATUS_FAILED, "%s: cannot %s: %s", file->path, doing, strerror(cause.error_number));
    else
        file->status = status_fail(STATUS_FAILED, "%s: cannot %s: HDF5 says: %s", file->path, doing,
                                   cause.text[0] ? cause.text : "nothing");
}

static void fail_errno(struct hdf5_file *file, const char *doing)
{
    file->status = status_fail(STATUS_FAILED, "%s: cannot %s: %s", file->path, doing, strerror(errno));
}

/* ---- opening and finishing ---- */

/* Before the first call of any other HDF5 function: see the head of hdf5_file.h. */
static void prepare_library(void)
{
    static bool prepared = false;
    if (prepared)
        return;
    prepared = true;
    H5dont_atexit();
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* the status message says it, in one sentence */
}

static void open_file(struct hdf5_file *file)
{
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_sec2(access);
    H5Pset_fclose_degree(access, H5F_CLOSE_STRONG); /* also when an error left a dataset open */
    /* Nobody else knows the temporary name, and some parallel file systems refuse locks. */
    H5Pset_file_locking(access, false, true);
    file->id = H5Fcreate(file->temporary, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    if (file->id < 0) {
        fail_hdf5(file, "create it");
        unlink(file->temporary); /* opened, but not to be written */
    }
    H5Pclose(access);
}

static void free_names(struct hdf5_file *file)
{
    free(file->folder);
    free(file->path);
    free(file->temporary);
    file->folder = file->path = file->temporary = NULL;
}

enum status hdf5_file_create(const char *folder, const char *name, uint32_t compression,
                             struct hdf5_file *file)
{
    *file = (struct hdf5_file){.id = H5I_INVALID_HID, .compression = compression};
    prepare_library();
    file->folder = strdup(folder);
    if (asprintf(&file->path, "%s/%s", folder, name) < 0)
        file->path = NULL;
    if (asprintf(&file->temporary, "%s/.%s.tmp", folder, name) < 0)
        file->temporary = NULL;
    if (file->folder && file->path && file->temporary)
        open_file(file);
    else
        file->status = status_fail(STATUS_FAILED, "%s/%s: no memory for its name", folder, name);
    if (file->status != STATUS_OK)
        free_names(file);
    return file->status;
}

/* Brings what was written, or a rename in a folder, to the disk. */
static int sync_path(const char *path, int flags, uint64_t *bytes)
{
    const int descriptor = open(path, flags | O_CLOEXEC);
    if (descriptor < 0)
        return -1;
    struct stat information;
    int result = fstat(descriptor, &information);
    if (result == 0 && bytes)
        *bytes = (uint64_t)information.st_size;
    /* A file system that cannot sync a folder says EINVAL; its renames are as safe as they get. */
    if (result == 0 && fsync(descriptor) != 0 && errno != EINVAL)
        result = -1;
    const int error_number = errno;
    close(descriptor);
    errno = error_number;
    return result;
}

/* From a complete HDF5 file under the temporary name to a safe one under its own. */
static void publish(struct hdf5_file *file, uint64_t *bytes)
{
    if (sync_path(file->temporary, O_RDWR, bytes) != 0)
        fail_errno(file, "bring it to the disk");
    else if (rename(file->temporary, file->path) != 0)
        fail_errno(file, "give it its name");
    else if (sync_path(file->folder, O_RDONLY | O_DIRECTORY, NULL) != 0)
        fail_errno(file, "bring its folder to the disk");
}

enum status hdf5_file_finish(struct hdf5_file *file, uint64_t *bytes)
{
    *bytes = 0;
    if (file->status == STATUS_OK && H5Fflush(file->id, H5F_SCOPE_LOCAL) < 0)
        fail_hdf5(file, "write it");
    if (H5Fclose(file->id) < 0 && file->status == STATUS_OK)
        fail_hdf5(file, "close it");
    if (file->status == STATUS_OK)
        publish(file, bytes);
    if (file->status != STATUS_OK)
        unlink(file->temporary); /* gone already when only the folder's sync failed */
    free_names(file);
    return file->status;
}

/* ---- groups and attributes ---- */

hid_t hdf5_group(struct hdf5_file *file, hid_t parent, const char *name)
{
    if (file->status != STATUS_OK)
        return H5I_INVALID_HID;
    const hid_t group = H5Gcreate2(parent, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (group < 0)
        fail_hdf5(file, "write a group");
    return group;
}

void hdf5_close(struct hdf5_file *file, hid_t object)
{
    if (object >= 0 && H5Oclose(object) < 0 && file->status == STATUS_OK)
        fail_hdf5(file, "write it");
}

/* count 0 stands for a single number, which HDF5 tells from an array of one. */
static void attribute(struct hdf5_file *file, hid_t object, const char *name, hid_t type, size_t count,
                      const void *values)
{
    if (file->status != STATUS_OK)
        return;
    const hsize_t shape = count;
    const hid_t space = count ? H5Screate_simple(1, &shape, NULL) : H5Screate(H5S_SCALAR);
    const hid_t id = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (id < 0 || H5Awrite(id, type, values) < 0)
        fail_hdf5(file, "write an attribute");
    if (id >= 0 && H5Aclose(id) < 0 && file->status == STATUS_OK)
        fail_hdf5(file, "write an attribute");
    H5Sclose(space);
}

/* A fixed-length string of `length` bytes, its end among them. */
static hid_t text_type(size_t length)
{
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, length);
    return type;
}

void hdf5_text(struct hdf5_file *file, hid_t object, const char *name, const char *value)
{
    const hid_t type = text_type(strlen(value) + 1);
    attribute(file, object, name, type, 0, value);
    H5Tclose(type);
}

void hdf5_texts(struct hdf5_file *file, hid_t object, const char *name, size_t count,
                const char *const *values)
{
    size_t length = 0;
    for (size_t n = 0; n < count; n++)
        length = strlen(values[n]) + 1 > length ? strlen(values[n]) + 1 : length;
    char *packed = calloc(count, length);
    if (!packed) {
        file->status = status_fail(STATUS_FAILED, "%s: no memory for attribute %s", file->path, name);
        return;
    }
    for (size_t n = 0; n < count; n++)
        memcpy(packed + n * length, values[n], strlen(values[n]));
    const hid_t type = text_type(length);
    attribute(file, object, name, type, count, packed);
    H5Tclose(type);
    free(packed);
}

void hdf5_double(struct hdf5_file *file, hid_t object, const char *name, double value)
{
    attribute(file, object, name, H5T_NATIVE_DOUBLE, 0, &value);
}

void hdf5_doubles(struct hdf5_file *file, hid_t object, const char *name, size_t count, const double *values)
{
    attribute(file, object, name, H5T_NATIVE_DOUBLE, count, values);
}

void hdf5_uint32(struct hdf5_file *file, hid_t object, const char *name, uint32_t value)
{
    attribute(file, object, name, H5T_NATIVE_UINT32, 0, &value);
}

void hdf5_uint64s(struct hdf5_file *file, hid_t object, const char *name, size_t count,
                  const uint64_t *values)
{
    attribute(file, object, name, H5T_NATIVE_UINT64, count, values);
}

/* ---- arrays ---- */

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
static struct layout layout_make(int rank, const uint64_t shape[2])
{
    struct layout layout = {.rows = shape[0], .columns = rank == 2 ? shape[1] : 1};
    layout.chunk_columns = equal_part(layout.columns, chunk_target);
    const uint64_t most_rows = chunk_target / layout.chunk_columns;
    layout.chunk_rows = equal_part(layout.rows, most_rows);
    const uint64_t chunks = HDF5_PIECE / (layout.chunk_rows * layout.columns);
    layout.piece_rows = layout.chunk_rows * (chunks ? chunks : 1);
    return layout;
}

uint64_t hdf5_stored_elements(int rank, const uint64_t shape[2])
{
    if (shape[0] == 0)
        return 0;
    const struct layout layout = layout_make(rank, shape);
    const uint64_t down = (layout.rows + layout.chunk_rows - 1) / layout.chunk_rows;
    const uint64_t across = (layout.columns + layout.chunk_columns - 1) / layout.chunk_columns;
    return down * layout.chunk_rows * across * layout.chunk_columns;
}

static hid_t create_dataset(struct hdf5_file *file, hid_t parent, const char *name,
                            const struct hdf5_array *array, const struct layout *layout)
{
    const hsize_t shape[2] = {array->shape[0], array->shape[1]};
    const hid_t space = H5Screate_simple(array->rank, shape, NULL);
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(creation, false); /* the same state gives the same bytes */
    if (shape[0]) {                          /* an empty array has no chunks */
        const hsize_t chunk[2] = {layout->chunk_rows, layout->chunk_columns};
        H5Pset_chunk(creation, array->rank, chunk);
        H5Pset_shuffle(creation);
        if (file->compression)
            H5Pset_deflate(creation, file->compression);
        H5Pset_fletcher32(creation);
    }
    const hid_t dataset = H5Dcreate2(parent, name, array->type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    if (dataset < 0)
        fail_hdf5(file, "write a dataset");
    H5Pclose(creation);
    H5Sclose(space);
    return dataset;
}

static void write_rows(struct hdf5_file *file, hid_t dataset, const struct hdf5_array *array, uint64_t first,
                       uint64_t rows, const struct layout *layout, void *values)
{
    const size_t count = (size_t)(rows * layout->columns);
    file->status = array->fill(array->source, first * layout->columns, count, values);
    if (file->status != STATUS_OK)
        return;
    const hsize_t start[2] = {first, 0};
    const hsize_t extent[2] = {rows, layout->columns};
    const hid_t memory = H5Screate_simple(array->rank, extent, NULL);
    const hid_t space = H5Dget_space(dataset);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, extent, NULL);
    if (H5Dwrite(dataset, array->type, memory, space, H5P_DEFAULT, values) < 0)
        fail_hdf5(file, "write it");
    H5Sclose(space);
    H5Sclose(memory);
}

hid_t hdf5_dataset(struct hdf5_file *file, hid_t parent, const char *name, const struct hdf5_array *array)
{
    if (file->status != STATUS_OK)
        return H5I_INVALID_HID;
    const bool empty = array->shape[0] == 0;
    const struct layout layout = empty ? (struct layout){0} : layout_make(array->rank, array->shape);
    const hid_t dataset = create_dataset(file, parent, name, array, &layout);
    if (dataset < 0 || empty)
        return dataset;
    const uint64_t piece = layout.piece_rows < layout.rows ? layout.piece_rows : layout.rows;
    void *values = malloc((size_t)(piece * layout.columns) * H5Tget_size(array->type));
    if (!values)
        file->status = status_fail(STATUS_FAILED, "%s: no memory to write %s", file->path, name);
    for (uint64_t row = 0; row < layout.rows && file->status == STATUS_OK; row += piece)
        write_rows(file, dataset, array, row, row + piece < layout.rows ? piece : layout.rows - row, &layout,
                   values);
    free(values);
    return dataset;
}
