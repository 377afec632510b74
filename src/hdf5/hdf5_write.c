/* HDF5 write: from the recorded tree to a file that appears whole or not at all.
 *
 * Rank 0 alone calls HDF5. Each rank packs its own chunks and sends them to rank 0, rank by rank; the
 * elements of a chunk that several ranks share travel as they are, and rank 0 packs them. A rank that fails
 * sends empty messages in their place, and one whose disk is full goes on receiving, so that no rank waits
 * for another; in the end all agree. Of a plain file rank 0 makes the frame, and then each rank writes its
 * part of the arrays where their bytes lie.
 *
 * Only the file system decides when a full disk is noticed: often in a close, so every close is checked. */
#include "hdf5/hdf5_write.h"

#include "base/below.h"
#include "base/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- what reading and the writing of chunks share ---- */

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
    const hid_t types[] = {[HDF5_TEXT] = H5T_C_S1,
                           [HDF5_UINT8] = H5T_NATIVE_UINT8,
                           [HDF5_UINT32] = H5T_NATIVE_UINT32,
                           [HDF5_UINT64] = H5T_NATIVE_UINT64,
                           [HDF5_FLOAT] = H5T_NATIVE_FLOAT,
                           [HDF5_DOUBLE] = H5T_NATIVE_DOUBLE};
    return types[type];
}

bool writing_agree(struct writing *writing)
{
    writing->status = communicator_agree(writing->communicator, writing->status);
    return writing->status == STATUS_OK;
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

/* ---- opening ---- */

static void open_file(struct writing *writing)
{
    const hid_t access = hdf5_access(), creation = H5Pcreate(H5P_FILE_CREATE);
    H5Pset_userblock(creation, writing->file->user_block);
    H5Pset_obj_track_times(creation, false); /* of the root group */
    /* Of a killed run; a link is removed too, and EXCL follows none that is made meanwhile. */
    unlinkat(writing->folder, HDF5_UNFINISHED, 0);
    writing->id = H5Fcreate(writing->file->temporary, H5F_ACC_EXCL, creation, access);
    if (writing->id < 0)
        writing_fail_in(writing, "create it");
    else
        writing->descriptor = below_open(writing->folder, HDF5_UNFINISHED, O_WRONLY);
    H5Pclose(creation);
    H5Pclose(access);
}

static hid_t create_dataset(struct writing *writing, hid_t parent, const struct hdf5_object *object)
{
    const struct hdf5_array *array = &object->array;
    const hid_t space = H5Screate_simple(array->dimensions, (const hsize_t *)array->shape, NULL);
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(creation, false); /* the same state gives the same bytes */
    H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
    if (writing->file->is_plain) {
        H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);
    } else if (array->shape[0] > 0) {
        H5Pset_chunk(creation, array->dimensions, (const hsize_t *)array->chunk);
        if (writing->file->compression) {
            H5Pset_shuffle(creation);
            H5Pset_deflate(creation, writing->file->compression);
        }
        H5Pset_fletcher32(creation);
    }
    const hid_t dataset =
        H5Dcreate2(parent, object->name, hdf5_native(array->type), space, H5P_DEFAULT, creation, H5P_DEFAULT);
    if (dataset < 0)
        writing_fail_in(writing, "write a dataset");
    H5Pclose(creation);
    H5Sclose(space);
    return dataset;
}

/* ---- the tree ---- */

static void write_attribute(struct writing *writing, hid_t object, const struct hdf5_attribute *attribute)
{
    const hsize_t shape = attribute->count;
    const hid_t space = shape ? H5Screate_simple(1, &shape, NULL) : H5Screate(H5S_SCALAR);
    const hid_t type = H5Tcopy(hdf5_native(attribute->type));
    if (attribute->type == HDF5_TEXT)
        H5Tset_size(type, attribute->length);
    const hid_t id = H5Acreate2(object, attribute->name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (id < 0 || H5Awrite(id, type, attribute->values) < 0)
        writing_fail_in(writing, "write an attribute");
    if (id >= 0 && H5Aclose(id) < 0)
        writing_fail_in(writing, "write an attribute");
    H5Tclose(type);
    H5Sclose(space);
}

static hid_t create_group(struct writing *writing, hid_t parent, const char *name)
{
    const hid_t creation = H5Pcreate(H5P_GROUP_CREATE);
    H5Pset_obj_track_times(creation, false); /* the same state gives the same bytes */
    const hid_t group = H5Gcreate2(parent, name, H5P_DEFAULT, creation, H5P_DEFAULT);
    H5Pclose(creation);
    if (group < 0)
        writing_fail_in(writing, "write a group");
    return group;
}

/* Collective. Ranks but the first pass H5I_INVALID_HID. */
static void write_object(struct writing *writing, struct hdf5_object *object, hid_t parent)
{
    hid_t id = H5I_INVALID_HID;
    if (writing_is_first(writing) && writing_is_well(writing))
        id = object == &writing->file->root ? H5Gopen2(writing->id, "/", H5P_DEFAULT)
             : object->is_group             ? create_group(writing, parent, object->name)
                                            : create_dataset(writing, parent, object);
    for (const struct hdf5_attribute *attribute = object->first_attribute;
         attribute && id >= 0 && writing_is_well(writing); attribute = attribute->next)
        write_attribute(writing, id, attribute);
    if (!object->is_group && !writing->file->is_plain && object->array.shape[0] > 0)
        writing_chunks(writing, object, id);
    if (!object->is_group && writing->file->is_plain && id >= 0) {
        object->address = (uint64_t)H5Dget_offset(id);
        if (object->address == HADDR_UNDEF && object->array.shape[0] > 0)
            writing_fail_in(writing, "find a place for an array");
    }
    for (struct hdf5_object *child = object->first_child; child; child = child->next)
        write_object(writing, child, id);
    if (id >= 0 && H5Oclose(id) < 0)
        writing_fail_in(writing, "write it");
}

static void close_file(struct writing *writing)
{
    if (writing->id < 0)
        return;
    if (writing->descriptor >= 0)
        close(writing->descriptor);
    if (writing_is_well(writing) && H5Fflush(writing->id, H5F_SCOPE_LOCAL) < 0)
        writing_fail_in(writing, "write it");
    if (H5Fclose(writing->id) < 0)
        writing_fail_in(writing, "close it");
}

/* ---- plain arrays ---- */

enum { PLAIN_PIECE = 1 << 18 /* elements */ };

struct plain {
    struct writing *writing;
    const struct hdf5_object *object;
    int descriptor;
};

static enum status write_plain_piece(void *context, size_t n, void *scratch)
{
    const struct plain *plain = context;
    const struct hdf5_array *array = &plain->object->array;
    const size_t size = hdf5_size(array->type);
    const uint64_t begin = n * (uint64_t)PLAIN_PIECE, left = array->count - begin;
    const size_t count = left < PLAIN_PIECE ? (size_t)left : PLAIN_PIECE, bytes = count * size;
    const char *values = array->fill ? scratch : (const char *)array->source + begin * size;
    if (array->fill)
        TRY(writing_fill(array, array->first + begin, count, scratch));
    for (size_t done = 0; done < bytes;) {
        const off_t place = (off_t)(plain->object->address + (array->first + begin) * size + done);
        const ssize_t written = pwrite(plain->descriptor, values + done, bytes - done, place);
        if (written == 0 || (written < 0 && errno != EINTR))
            return status_fail(STATUS_FAILED, "%s: cannot write it: %s", plain->writing->file->path,
                               strerror(errno));
        done += written > 0 ? (size_t)written : 0;
        if (written > 0)
            sync_file_range(plain->descriptor, place, written, SYNC_FILE_RANGE_WRITE);
    }
    return STATUS_OK;
}

static void write_plain(struct writing *writing, struct hdf5_object *object, int descriptor)
{
    communicator_broadcast(writing->communicator, sizeof object->address, &object->address);
    if (!object->is_group && writing->status == STATUS_OK) {
        struct plain plain = {writing, object, descriptor};
        const struct pool_work work = {write_plain_piece, NULL, &plain,
                                       PLAIN_PIECE * hdf5_size(object->array.type)};
        writing->status = pool_run(&work, (size_t)((object->array.count + PLAIN_PIECE - 1) / PLAIN_PIECE));
    }
    for (struct hdf5_object *child = object->first_child; child; child = child->next)
        write_plain(writing, child, descriptor);
}

/* Each rank its own part, once the frame is there. */
static void write_plain_arrays(struct writing *writing)
{
    const int descriptor = below_open(writing->folder, HDF5_UNFINISHED, O_RDWR);
    if (descriptor < 0 && writing_is_first(writing))
        writing_fail_errno(writing, "open it", errno);
    else if (descriptor < 0)
        writing->status = status_fail(STATUS_FAILED,
                                      "%s: rank 0 created it, but rank %d cannot open it: %s; do all ranks "
                                      "see the same folder?",
                                      writing->file->path, writing->communicator->rank, strerror(errno));
    write_plain(writing, &writing->file->root, descriptor);
    if (descriptor >= 0 && close(descriptor) != 0)
        writing_fail_errno(writing, "close it", errno);
}

/* ---- finishing ---- */

/* Brings the bytes to the disk, on one rank of each machine: what a machine has not yet sent to a common file
 * system only it can send. Rank 0 lists the file. */
static void save(struct writing *writing)
{
    struct hdf5_file *file = writing->file;
    struct stat information = {0};
    const int descriptor = below_open(writing->folder, HDF5_UNFINISHED, O_RDWR);
    if (descriptor < 0 || !sync_file(descriptor) || fstat(descriptor, &information) != 0)
        writing_fail_errno(writing, "bring it to the disk", errno);
    else if (writing_is_first(writing) && file->before)
        writing->status = file->before(file, descriptor);
    file->bytes = (uint64_t)information.st_size;
    below_end(descriptor);
}

/* From a complete HDF5 file under the temporary name to a safe one under its own. */
static void publish(struct writing *writing)
{
    const struct hdf5_file *file = writing->file;
    const char *name = file->path + strlen(file->folder) + 1;
    if ((file->is_plain && writing->communicator->local_rank == 0) || writing_is_first(writing))
        save(writing);
    if (!writing_agree(writing) || !writing_is_first(writing))
        return;
    if (renameat(writing->folder, HDF5_UNFINISHED, writing->folder, name) != 0)
        writing_fail_errno(writing, "give it its name", errno);
    else if (!below_sync(writing->folder, name))
        writing_fail_errno(writing, "bring its folder to the disk", errno);
    else if (file->after)
        writing->status = file->after(file);
}

enum status hdf5_file_write(struct hdf5_file *file, const struct communicator *communicator)
{
    struct writing writing = {.file = file,
                              .communicator = communicator,
                              .id = H5I_INVALID_HID,
                              .folder = below_begin(file->folder, O_NOFOLLOW),
                              .descriptor = -1,
                              .status = file->status};
    if (writing.folder < 0 && writing_is_first(&writing))
        writing_fail_errno(&writing, "open its folder", errno);
    if (writing_agree(&writing) && writing_is_first(&writing))
        open_file(&writing);
    if (writing_agree(&writing))
        write_object(&writing, &file->root, H5I_INVALID_HID);
    close_file(&writing);
    if (writing_agree(&writing) && file->is_plain)
        write_plain_arrays(&writing);
    if (writing_agree(&writing) && file->seal && writing_is_first(&writing))
        writing.status = file->seal(file->temporary);
    if (writing_agree(&writing))
        publish(&writing);
    if (writing_agree(&writing))
        communicator_broadcast(communicator, sizeof file->bytes, &file->bytes);
    else if (writing_is_first(&writing) && file->status == STATUS_OK)
        unlinkat(writing.folder, HDF5_UNFINISHED, 0); /* gone already when only a sync failed */
    below_end(writing.folder);
    return writing.status;
}
