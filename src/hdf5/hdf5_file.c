/* HDF5 file: the recorded tree. */
#include "hdf5/hdf5_file.h"

#include "base/huge_pages.h"

#include <stdlib.h>
#include <string.h>

struct kept {
    struct kept *next;
    max_align_t memory[];
};

enum status hdf5_file_create(const struct communicator *communicator, const char *folder, const char *name,
                             struct hdf5_file **result)
{
    struct hdf5_file *file = *result = calloc(1, sizeof *file);
    enum status status = file ? STATUS_OK : status_fail(STATUS_FAILED, "no memory to write %s", name);
    if (file) {
        file->root = (struct hdf5_object){.file = file, .is_group = true};
        snprintf(file->folder, sizeof file->folder, "%s", folder);
        snprintf(file->path, sizeof file->path, "%s/%s", folder, name);
        const int length = snprintf(file->temporary, sizeof file->temporary, "%s/" HDF5_UNFINISHED, folder);
        if (length >= (int)sizeof file->temporary)
            status = status_fail(STATUS_FAILED, "%s: this name of a folder is too long", folder);
    }
    status = communicator_agree(communicator, status);
    if (status != STATUS_OK)
        hdf5_file_free(result);
    return status;
}

void hdf5_file_free(struct hdf5_file **file)
{
    for (struct kept *kept = *file ? (*file)->kept : NULL, *next; kept; kept = next) {
        next = kept->next;
        free(kept);
    }
    free(*file);
    *file = NULL;
}

void hdf5_file_fail(struct hdf5_file *file, enum status status)
{
    if (file->status == STATUS_OK)
        file->status = status;
}

void *hdf5_file_keep(struct hdf5_file *file, size_t bytes)
{
    if (file->status != STATUS_OK)
        return NULL;
    struct kept *kept = malloc(sizeof *kept + bytes);
    if (!kept) {
        file->status = status_fail(STATUS_FAILED, "%s: no memory for a copy of %.1f MB to write", file->path,
                                   1e-6 * (double)bytes);
        return NULL;
    }
    ask_for_huge_pages(kept, sizeof *kept + bytes); /* filled once, and each page takes time */
    kept->next = file->kept;
    file->kept = kept;
    return kept->memory;
}

void *hdf5_file_keep_copy(struct hdf5_file *file, size_t bytes, const void *values)
{
    void *copy = hdf5_file_keep(file, bytes);
    return copy ? memcpy(copy, values, bytes) : NULL;
}

void *hdf5_file_room(struct hdf5_file *file, size_t bytes)
{
    return hdf5_file_keep(file, file->has_no_data ? 0 : bytes);
}

/* ---- objects ---- */

static struct hdf5_object *add_object(struct hdf5_object *parent, const char *name)
{
    if (!parent)
        return NULL;
    struct hdf5_file *file = parent->file;
    struct hdf5_object *object = hdf5_file_keep(file, sizeof *object);
    const char *copy = hdf5_file_keep_copy(file, strlen(name) + 1, name);
    if (!object || !copy)
        return NULL;
    *object = (struct hdf5_object){.file = file, .name = copy};
    *(parent->last_child ? &parent->last_child->next : &parent->first_child) = object;
    parent->last_child = object;
    return object;
}

struct hdf5_object *hdf5_group(struct hdf5_object *parent, const char *name)
{
    struct hdf5_object *group = add_object(parent, name);
    if (group)
        group->is_group = true;
    return group;
}

struct hdf5_object *hdf5_dataset(struct hdf5_object *parent, const char *name, const struct hdf5_array *array)
{
    struct hdf5_object *dataset = add_object(parent, name);
    if (!dataset)
        return NULL;
    dataset->array = *array;
    if (!parent->file->is_plain)
        hdf5_choose_chunks(&dataset->array);
    return dataset;
}

/* ---- attributes ---- */

static size_t values_bytes(enum hdf5_type type, size_t length, size_t count)
{
    return (type == HDF5_TEXT ? length : hdf5_size(type)) * (count ? count : 1);
}

static void add_attribute(struct hdf5_object *object, const char *name, enum hdf5_type type, size_t length,
                          size_t count, const void *values)
{
    if (!object)
        return;
    struct hdf5_file *file = object->file;
    struct hdf5_attribute *attribute = hdf5_file_keep(file, sizeof *attribute);
    const char *copy = hdf5_file_keep_copy(file, strlen(name) + 1, name);
    void *kept = hdf5_file_keep_copy(file, values_bytes(type, length, count), values);
    if (!attribute || !copy || !kept)
        return;
    *attribute = (struct hdf5_attribute){NULL, copy, type, length, count, kept};
    *(object->last_attribute ? &object->last_attribute->next : &object->first_attribute) = attribute;
    object->last_attribute = attribute;
}

void hdf5_numbers(struct hdf5_object *object, const char *name, enum hdf5_type type, size_t count,
                  const void *values)
{
    add_attribute(object, name, type, 0, count, values);
}

void hdf5_text(struct hdf5_object *object, const char *name, const char *value)
{
    add_attribute(object, name, HDF5_TEXT, strlen(value) + 1, 0, value);
}

void hdf5_texts(struct hdf5_object *object, const char *name, size_t count, const char *const *values)
{
    size_t length = 0;
    for (size_t n = 0; n < count; n++)
        length = strlen(values[n]) + 1 > length ? strlen(values[n]) + 1 : length;
    char *packed = object ? hdf5_file_keep(object->file, count * length) : NULL;
    if (!packed)
        return;
    memset(packed, 0, count * length);
    for (size_t n = 0; n < count; n++)
        memcpy(packed + n * length, values[n], strlen(values[n]));
    add_attribute(object, name, HDF5_TEXT, length, count, packed);
}

void hdf5_double(struct hdf5_object *object, const char *name, double value)
{
    hdf5_numbers(object, name, HDF5_DOUBLE, 0, &value);
}

void hdf5_doubles(struct hdf5_object *object, const char *name, size_t count, const double *values)
{
    hdf5_numbers(object, name, HDF5_DOUBLE, count, values);
}

/* ---- arrays ---- */

size_t hdf5_size(enum hdf5_type type)
{
    static const size_t sizes[] = {[HDF5_TEXT] = 1,
                                   [HDF5_UINT8] = 1,
                                   [HDF5_UINT32] = 4,
                                   [HDF5_UINT64] = 8,
                                   [HDF5_FLOAT] = sizeof(float),
                                   [HDF5_DOUBLE] = sizeof(double)};
    return sizes[type];
}

static uint64_t parts_of(uint64_t whole, uint64_t most)
{
    return (whole + most - 1) / most;
}

void hdf5_choose_chunks(struct hdf5_array *array)
{
    const uint64_t most = HDF5_CHUNK;
    uint64_t row = 1;
    int k = array->dimensions - 1;
    if (array->shape[0] == 0)
        return;
    for (; k > 0 && row * array->shape[k] <= most; k--)
        row *= array->chunk[k] = array->shape[k];
    uint64_t side = most / row;
    if (k == 0)
        side = parts_of(array->shape[0], parts_of(array->shape[0], side));
    while (k > 0 && array->shape[k] % side > 0)
        side--;
    for (array->chunk[k] = side; k-- > 0;)
        array->chunk[k] = 1;
}

/* Whole chunks, with the index and the checksum of each. */
static uint64_t array_bytes(const struct hdf5_array *array)
{
    enum { INDEX = 64 };
    uint64_t elements = 1, chunks = 1;
    for (int k = 0; k < array->dimensions; k++) {
        const uint64_t along = array->chunk[k] ? parts_of(array->shape[k], array->chunk[k]) : 1;
        elements *= array->chunk[k] ? along * array->chunk[k] : array->shape[k];
        chunks *= along;
    }
    return elements * hdf5_size(array->type) + (array->chunk[0] ? chunks * INDEX : 0);
}

uint64_t hdf5_bytes(const struct hdf5_object *object)
{
    /* Measured, and rounded up. From some attributes on an object has a heap for them. */
    enum { HEADER = 352, ATTRIBUTE = 40, FEW = 8, HEAP = 2560 };
    uint64_t bytes = HEADER + (object->is_group ? 0 : array_bytes(&object->array)), attributes = 0;
    for (const struct hdf5_attribute *a = object->first_attribute; a; a = a->next, attributes++)
        bytes += ATTRIBUTE + strlen(a->name) + values_bytes(a->type, a->length, a->count);
    for (const struct hdf5_object *child = object->first_child; child; child = child->next)
        bytes += hdf5_bytes(child);
    return bytes + (attributes > FEW ? HEAP : 0);
}
