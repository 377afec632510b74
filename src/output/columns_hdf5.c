/* Columns of HDF5 by openPMD 1: a component of a record is a dataset, or a group with one constant value, in
 * units of its attribute unitSI. To close a handle below 0, which could not be opened, does nothing. */
#include "config/field_table.h"
#include "output/columns.h"
#include "output/hdf5_write.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_LENGTH = 1536 };

/* Where something is. */
struct search {
    const char *end; /* of its path */
    unsigned long long step;
    char path[PATH_LENGTH];
};

static herr_t look_at(hid_t root, const char *link, const H5L_info_t *info, void *context)
{
    struct search *search = context;
    const size_t length = strlen(link), end = strlen(search->end);
    unsigned long long step = 0;
    (void)root, (void)info, (void)sscanf(link, "data/%llu/", &step);
    if (length >= end && length + 1 < PATH_LENGTH && step >= search->step &&
        (length == end || link[length - end - 1] == '/') && strcmp(link + length - end, search->end) == 0) {
        search->step = step;
        snprintf(search->path, PATH_LENGTH, "/%s", link);
    }
    return 0;
}

/* Opens the file, and finds the place. */
static enum status open_place(const char *path, const char *place, hid_t *file, struct search *search)
{
    const hid_t access = hdf5_access();
    *search = (struct search){.end = field_record(place)};
    *file = H5Fopen(path, H5F_ACC_RDONLY, access);
    H5Pclose(access);
    if (*file < 0)
        return status_fail(STATUS_USAGE, "%s: expected a .npy or HDF5 file, or of particles a .csv file",
                           path);
    if (place[0] == '/' && snprintf(search->path, PATH_LENGTH, "%s", place) > 0)
        (void)sscanf(place, "/data/%llu/", &search->step);
    else
        H5Lvisit(*file, H5_INDEX_NAME, H5_ITER_INC, look_at, search);
    const hid_t object = H5Oopen(*file, search->path, H5P_DEFAULT);
    H5Oclose(object);
    return object >= 0
               ? STATUS_OK
               : status_fail(STATUS_USAGE, "%s: there is no \"%s\" in it, which `place` says", path, place);
}

/* A number that is an attribute of an object; `otherwise`: there is none; NAN: it is not one number. */
static double attribute(hid_t file, const char *object, const char *name, double otherwise)
{
    const hid_t found = H5Aopen_by_name(file, object, name, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Aget_space(found);
    double value = found < 0 ? otherwise : NAN;
    if (H5Sget_simple_extent_npoints(space) == 1)
        H5Aread(found, H5T_NATIVE_DOUBLE, &value);
    H5Sclose(space);
    H5Aclose(found);
    return value;
}

/* *values <- rows of a dataset of so many dimensions, at most `count` from `first` on; shape <- its own. */
static enum status read_rows(hid_t file, const char *path, const char *name, int dimensions, hsize_t first,
                             hsize_t count, uint64_t shape[2], double **values)
{
    hsize_t all[2] = {0, 1};
    const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(dataset);
    bool is_read = H5Sget_simple_extent_ndims(space) == dimensions &&
                   H5Sget_simple_extent_dims(space, all, NULL) == dimensions &&
                   (dimensions == 1 || (all[0] < NODES_MOST && all[1] < NODES_MOST));
    count = first + count <= all[0] ? count : all[0];
    const hsize_t own[2] = {count, all[1]};
    const hid_t memory = H5Screate_simple(dimensions, own, NULL);
    *values = is_read ? malloc((count * all[1] + 1) * sizeof **values) : NULL;
    if (is_read && first + count <= all[0] && count * all[1] > 0)
        is_read =
            *values &&
            H5Sselect_hyperslab(space, H5S_SELECT_SET, (const hsize_t[]){first, 0}, NULL, own, NULL) >= 0 &&
            H5Dread(dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, *values) >= 0;
    memcpy(shape, (const uint64_t[]){all[0], all[1]}, 2 * sizeof *shape);
    H5Sclose(memory);
    H5Sclose(space);
    H5Dclose(dataset);
    return is_read ? STATUS_OK
                   : status_fail(STATUS_USAGE, "%s: %s is no array of numbers of %d dimensions, or too large",
                                 path, name, dimensions);
}

/* Where it is there. */
static enum status read_column(hid_t file, const char *group, int k, struct columns *columns)
{
    char name[2 * PATH_LENGTH];
    uint64_t shape[2];
    double **numbers = &columns->numbers[k];
    snprintf(name, sizeof name, "%s/%s", group, columns_name(columns->path, k));
    const hid_t object = H5Oopen(file, name, H5P_DEFAULT);
    const double constant = attribute(file, name, "value", NAN);
    const double factor = attribute(file, name, "unitSI", 1) / columns->si[k];
    H5Oclose(object);
    if (object < 0)
        return STATUS_OK;
    if (isnan(constant)) {
        TRY(read_rows(file, columns->path, name, 1, columns->first, columns->count, shape, numbers));
        TRY(columns_require(columns, shape[0]));
    } else if (!(*numbers = malloc((columns->count + 1) * sizeof **numbers))) {
        return status_fail(STATUS_FAILED, "%s: no memory to read it", columns->path);
    }
    for (uint64_t n = 0; n < columns->count; n++)
        (*numbers)[n] = factor * (isnan(constant) ? (*numbers)[n] : constant);
    return STATUS_OK;
}

enum status columns_read_hdf5(struct columns *columns)
{
    struct search search;
    char momentum[2 * PATH_LENGTH], iteration[48];
    hid_t file;
    enum status status = open_place(columns->path, columns->place, &file, &search);
    for (int k = 0; k < COLUMNS && status == STATUS_OK; k++)
        status = read_column(file, search.path, k, columns);
    snprintf(momentum, sizeof momentum, "%s/momentum", search.path);
    snprintf(iteration, sizeof iteration, "/data/%llu", search.step);
    columns->is_macro = attribute(file, momentum, "macroWeighted", 0) == 1;
    columns->seconds =
        attribute(file, momentum, "timeOffset", 0) * attribute(file, iteration, "timeUnitSI", 1);
    H5Fclose(file);
    return status;
}

enum status columns_read_hdf5_array(const char *path, const char *place, uint64_t shape[2], double **values)
{
    struct search search;
    hid_t file;
    enum status status = open_place(path, place, &file, &search);
    TRY_NEXT(read_rows(file, path, search.path, 2, 0, NODES_MOST, shape, values));
    H5Fclose(file);
    return status;
}
