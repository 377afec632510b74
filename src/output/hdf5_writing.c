/* HDF5 writing: what the writing of the tree and that of chunks share. */
#include "output/hdf5_write.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

hid_t hdf5_access(void)
{
    H5dont_atexit();                       /* fails after the first time, in silence */
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* the status message says it, in one sentence */
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_sec2(access); /* whatever the environment names: descriptors of the file are used too */
    H5Pset_fclose_degree(access, H5F_CLOSE_STRONG); /* also when an error left a dataset open */
    /* No other program knows the temporary name, and some parallel file systems refuse locks. */
    H5Pset_file_locking(access, false, true);
    /* The newest format of metadata has checksums. */
    H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    return access;
}

hid_t hdf5_native(enum hdf5_type type)
{
    switch (type) {
    case HDF5_UINT8:
        return H5T_NATIVE_UINT8;
    case HDF5_UINT32:
        return H5T_NATIVE_UINT32;
    case HDF5_UINT64:
        return H5T_NATIVE_UINT64;
    case HDF5_FLOAT:
        return H5T_NATIVE_FLOAT;
    case HDF5_DOUBLE:
        return H5T_NATIVE_DOUBLE;
    case HDF5_TEXT:
        break;
    }
    return H5T_C_S1;
}

bool writing_agree(struct writing *writing)
{
    writing->status = communicator_agree(writing->communicator, writing->status);
    return writing->status == STATUS_OK;
}

/* The system alone would begin much later: an fsync() of it all then takes as long as the packing did. */
void writing_hand(struct writing *writing, size_t bytes)
{
    const uint64_t enough = 1 << 24;
    writing->handed += bytes;
    if (writing->descriptor < 0 || writing->handed < enough)
        return;
    sync_file_range(writing->descriptor, 0, 0, SYNC_FILE_RANGE_WRITE); /* what fails here fails in fsync() */
    writing->handed = 0;
}

enum status writing_fill(const struct hdf5_array *array, uint64_t first, size_t count, void *values)
{
    const size_t size = hdf5_size(array->type);
    if (first < array->first || first + count > array->first + array->count)
        return status_fail(STATUS_FAILED, "a rank has no elements %llu to %llu of an array to write",
                           (unsigned long long)first, (unsigned long long)(first + count - 1));
    if (array->fill)
        return array->fill(array->source, first - array->first, count, values);
    memcpy(values, (const char *)array->source + (first - array->first) * size, count * size);
    return STATUS_OK;
}

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

enum status writing_fail_errno(struct writing *writing, const char *doing, int error_number)
{
    if (writing->status == STATUS_OK)
        writing->status = status_fail(STATUS_FAILED, "%s: cannot %s: %s", writing->file->path, doing,
                                      strerror(error_number));
    return writing->status;
}

enum status writing_fail_in(struct writing *writing, const char *doing)
{
    struct cause cause = {0};
    if (writing->status != STATUS_OK)
        return writing->status;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, find_cause, &cause); /* visits the lowest error first */
    if (cause.error_number)
        return writing_fail_errno(writing, doing, cause.error_number);
    return writing->status = status_fail(STATUS_FAILED, "%s: cannot %s: HDF5 says: %s", writing->file->path,
                                         doing, cause.text[0] ? cause.text : "nothing");
}
