/* HDF5 file: opening, finishing, errors and attributes. */
#include "output/hdf5_file.h"

#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_parallel(const struct hdf5_file *file)
{
    return file->communicator->size > 1;
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

static void fail_errno(struct hdf5_file *file, const char *doing, int error_number)
{
    if (file->status == STATUS_OK)
        file->status =
            status_fail(STATUS_FAILED, "%s: cannot %s: %s", file->path, doing, strerror(error_number));
}

/* MPI-IO does not tell the system's reason, so this asks the system again: appends to the temporary file,
 * which is of no use any more; twice, for the first write may stop short at a limit. 0 when that works. */
static int errno_of_writing(const struct hdf5_file *file)
{
    enum { SOME = 1 << 20 };
    int error_number = 0;
    char *zeros = calloc(1, SOME);
    const int descriptor = open(file->temporary, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (zeros && descriptor >= 0 &&
        (write(descriptor, zeros, SOME) < 0 || write(descriptor, zeros, SOME) < 0 || fsync(descriptor) != 0))
        error_number = errno;
    if (descriptor >= 0)
        close(descriptor);
    free(zeros);
    return error_number;
}

void hdf5_file_fail_in(struct hdf5_file *file, const char *doing)
{
    if (file->status != STATUS_OK)
        return;
    struct cause cause = {0};
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, find_cause, &cause); /* visits the lowest error first */
    if (!cause.error_number && is_parallel(file))
        cause.error_number = errno_of_writing(file);
    if (cause.error_number)
        fail_errno(file, doing, cause.error_number);
    else
        file->status = status_fail(STATUS_FAILED, "%s: cannot %s: HDF5 says: %s", file->path, doing,
                                   cause.text[0] ? cause.text : "nothing");
}

void hdf5_file_fail(struct hdf5_file *file, enum status status)
{
    if (file->status == STATUS_OK)
        file->status = status;
}

bool hdf5_file_agree(struct hdf5_file *file)
{
    file->status = communicator_agree(file->communicator, file->status);
    return file->status == STATUS_OK;
}

/* ---- opening ---- */

hid_t hdf5_access(bool through_mpi)
{
    H5dont_atexit();                       /* fails after the first time, in silence */
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* the status message says it, in one sentence */
    /* Open MPI would keep the file's shared pointer, which is not used here, in a semaphore named like the
     * file: one that a killed run left in the machine makes the next run wait for ever. */
    setenv("OMPI_MCA_sharedfp", "^sm", 0);
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (through_mpi) {
        H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
        H5Pset_coll_metadata_write(access, true);
    } else {
        H5Pset_fapl_sec2(access);
    }
    H5Pset_fclose_degree(access, H5F_CLOSE_STRONG); /* also when an error left a dataset open */
    /* No other program knows the temporary name, and some parallel file systems refuse locks. */
    H5Pset_file_locking(access, false, true);
    /* The newest format of metadata has checksums. */
    H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    return access;
}

/* A file system that cannot do it says EOPNOTSUPP; then a full disk is noticed later. */
static int make_room(int descriptor, uint64_t bytes)
{
    const int result = fallocate(descriptor, 0, 0, (off_t)bytes);
    return result != 0 && (errno == EOPNOTSUPP || errno == ENOSYS) ? 0 : result;
}

/* Whether MPI-IO will open the file on all ranks: rank 0 creates it, empty, on a disk with some room. What
 * fails here fails with the system's own reason; within MPI-IO the other ranks would wait. */
static bool is_openable(struct hdf5_file *file)
{
    enum { SOME_ROOM = 1 << 16 };
    const bool is_first = file->communicator->rank == 0;
    int descriptor = is_first ? open(file->temporary, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
    if (is_first &&
        (descriptor < 0 || make_room(descriptor, SOME_ROOM) != 0 || ftruncate(descriptor, 0) != 0))
        fail_errno(file, "create it", errno);
    if (hdf5_file_agree(file) && !is_first) {
        descriptor = open(file->temporary, O_RDWR | O_CLOEXEC);
        if (descriptor < 0)
            file->status = status_fail(STATUS_FAILED,
                                       "%s: rank 0 created it, but rank %d cannot open it: %s; do all ranks "
                                       "see the same folder?",
                                       file->path, file->communicator->rank, strerror(errno));
    }
    if (descriptor >= 0)
        close(descriptor);
    return hdf5_file_agree(file);
}

static void open_file(struct hdf5_file *file, size_t user_block)
{
    if (is_parallel(file) && !is_openable(file))
        return;
    const hid_t access = hdf5_access(is_parallel(file));
    const hid_t creation = H5Pcreate(H5P_FILE_CREATE);
    H5Pset_userblock(creation, user_block);
    H5Pset_obj_track_times(creation, false); /* of the root group */
    file->id = H5Fcreate(file->temporary, H5F_ACC_TRUNC, creation, access);
    if (file->id < 0)
        hdf5_file_fail_in(file, "create it");
    H5Pclose(creation);
    H5Pclose(access);
    (void)hdf5_file_agree(file);
}

/* Removes the temporary file, if there still is one, once no rank will touch it again. */
static void remove_temporary(const struct hdf5_file *file)
{
    if (file->communicator->rank == 0)
        unlink(file->temporary);
}

enum status hdf5_file_create(const struct communicator *communicator, const char *folder, const char *name,
                             uint32_t compression, size_t user_block, struct hdf5_file *file)
{
    *file =
        (struct hdf5_file){.communicator = communicator, .id = H5I_INVALID_HID, .compression = compression};
    snprintf(file->folder, sizeof file->folder, "%s", folder);
    snprintf(file->path, sizeof file->path, "%s/%s", folder, name);
    const int length = snprintf(file->temporary, sizeof file->temporary, "%s/.%s.tmp", folder, name);
    if (length < 0 || (size_t)length >= sizeof file->temporary)
        hdf5_file_fail(file, status_fail(STATUS_FAILED, "%s: this name of a folder is too long", folder));
    if (hdf5_file_agree(file))
        open_file(file, user_block);
    if (file->status != STATUS_OK)
        remove_temporary(file); /* opened, but not to be written */
    return file->status;
}

/* ---- finishing ---- */

/* Takes room at the end of the file, on rank 0. HDF5 cuts off what was too much. */
static void take_room(struct hdf5_file *file, uint64_t bytes)
{
    enum { ALIGNMENT = 1 << 16 }; /* more than HDF5 leaves between two blocks of metadata */
    size_t metadata = 0;
    struct stat information;
    const int descriptor = open(file->temporary, O_RDWR | O_CLOEXEC);
    if (descriptor < 0 || fstat(descriptor, &information) != 0)
        fail_errno(file, "measure it", errno);
    else if (H5Fget_mdc_size(file->id, NULL, NULL, &metadata, NULL) < 0)
        hdf5_file_fail_in(file, "measure it");
    else if (make_room(descriptor, (uint64_t)information.st_size + bytes + metadata + ALIGNMENT) != 0)
        fail_errno(file, "write it", errno);
    if (descriptor >= 0)
        close(descriptor);
}

bool hdf5_file_reserve(struct hdf5_file *file, uint64_t bytes)
{
    if (hdf5_file_agree(file) && is_parallel(file) && file->communicator->rank == 0)
        take_room(file, bytes);
    return hdf5_file_agree(file);
}

/* Gives up a file of several ranks: MPI-IO lets go of it, HDF5 is not asked to. See the head of
 * hdf5_file.h. */
static void abandon(struct hdf5_file *file)
{
    void *handle = NULL;
    if (H5Fget_vfd_handle(file->id, H5P_DEFAULT, &handle) >= 0)
        MPI_File_close(handle);
    file->id = H5I_INVALID_HID;
}

static void close_file(struct hdf5_file *file)
{
    if (!hdf5_file_reserve(file, 0) && is_parallel(file))
        abandon(file);
    if (file->id < 0)
        return;
    if (file->status == STATUS_OK && H5Fflush(file->id, H5F_SCOPE_LOCAL) < 0)
        hdf5_file_fail_in(file, "write it");
    if (!hdf5_file_agree(file) && is_parallel(file))
        abandon(file);
    else if (H5Fclose(file->id) < 0)
        hdf5_file_fail_in(file, "close it");
    file->id = H5I_INVALID_HID;
}

/* Brings what was written, or a rename in a folder, to the disk; false with errno. */
static bool sync_path(const char *path, int flags)
{
    const int descriptor = open(path, flags | O_CLOEXEC);
    /* A file system that cannot sync a folder says EINVAL; its renames are as safe as they get. */
    const bool synced = descriptor >= 0 && (fsync(descriptor) == 0 || errno == EINVAL);
    const int error_number = errno;
    if (descriptor >= 0)
        close(descriptor);
    errno = error_number;
    return synced;
}

/* From a complete HDF5 file under the temporary name to a safe one under its own. */
static void publish(struct hdf5_file *file, uint64_t *bytes)
{
    struct stat information = {0};
    /* One rank of each machine: what a machine has not yet sent to a common file system only it can send. */
    if (file->communicator->local_rank == 0 &&
        (!sync_path(file->temporary, O_RDWR) || stat(file->temporary, &information) != 0))
        fail_errno(file, "bring it to the disk", errno);
    *bytes = (uint64_t)information.st_size;
    if (!hdf5_file_agree(file) || file->communicator->rank != 0)
        return;
    if (rename(file->temporary, file->path) != 0)
        fail_errno(file, "give it its name", errno);
    else if (!sync_path(file->folder, O_RDONLY | O_DIRECTORY))
        fail_errno(file, "bring its folder to the disk", errno);
}

enum status hdf5_file_finish(struct hdf5_file *file, uint64_t *bytes)
{
    *bytes = 0;
    close_file(file);
    if (hdf5_file_agree(file) && file->seal && file->communicator->rank == 0)
        hdf5_file_fail(file, file->seal(file->temporary));
    if (hdf5_file_agree(file))
        publish(file, bytes);
    if (hdf5_file_agree(file))
        communicator_broadcast(file->communicator, sizeof *bytes, bytes);
    else
        remove_temporary(file); /* gone already when only the folder's sync failed */
    return file->status;
}

/* ---- groups and attributes ---- */

hid_t hdf5_group(struct hdf5_file *file, hid_t parent, const char *name)
{
    if (file->status != STATUS_OK)
        return H5I_INVALID_HID;
    const hid_t creation = H5Pcreate(H5P_GROUP_CREATE);
    H5Pset_obj_track_times(creation, false); /* the same state gives the same bytes */
    const hid_t group = H5Gcreate2(parent, name, H5P_DEFAULT, creation, H5P_DEFAULT);
    H5Pclose(creation);
    if (group < 0)
        hdf5_file_fail_in(file, "write a group");
    return group;
}

void hdf5_close(struct hdf5_file *file, hid_t object)
{
    if (object >= 0 && H5Oclose(object) < 0)
        hdf5_file_fail_in(file, "write it");
}

void hdf5_numbers(struct hdf5_file *file, hid_t object, const char *name, hid_t type, size_t count,
                  const void *values)
{
    if (file->status != STATUS_OK)
        return;
    const hsize_t shape = count;
    const hid_t space = count ? H5Screate_simple(1, &shape, NULL) : H5Screate(H5S_SCALAR);
    const hid_t id = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (id < 0 || H5Awrite(id, type, values) < 0)
        hdf5_file_fail_in(file, "write an attribute");
    if (id >= 0 && H5Aclose(id) < 0)
        hdf5_file_fail_in(file, "write an attribute");
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
    hdf5_numbers(file, object, name, type, 0, value);
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
        hdf5_file_fail(file, status_fail(STATUS_FAILED, "%s: no memory for attribute %s", file->path, name));
        return;
    }
    for (size_t n = 0; n < count; n++)
        memcpy(packed + n * length, values[n], strlen(values[n]));
    const hid_t type = text_type(length);
    hdf5_numbers(file, object, name, type, count, packed);
    H5Tclose(type);
    free(packed);
}

void hdf5_double(struct hdf5_file *file, hid_t object, const char *name, double value)
{
    hdf5_numbers(file, object, name, H5T_NATIVE_DOUBLE, 0, &value);
}

void hdf5_doubles(struct hdf5_file *file, hid_t object, const char *name, size_t count, const double *values)
{
    hdf5_numbers(file, object, name, H5T_NATIVE_DOUBLE, count, values);
}
