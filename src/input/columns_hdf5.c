/* Columns of HDF5 by openPMD 1: a component of a record is a dataset, or a group with one constant value, in
 * units of its attribute unitSI. A mesh says which axis is which, and where its numbers lie. */
#include "config/field_table.h"
#include "hdf5/hdf5_read.h"
#include "input/columns.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_LENGTH = 1536 };

/* A search for an object of an iteration. */
struct search {
    char ends[2][PATH_LENGTH]; /* its path ends with the first or the second */
    const char *within;        /* and begins with this one; NULL: with any */
    unsigned long long step;
    char path[PATH_LENGTH];
};

static bool ends_in(const char *link, const char *end)
{
    const size_t length = strlen(link), own = strlen(end);
    return length >= own && (length == own || link[length - own - 1] == '/') &&
           strcmp(link + length - own, end) == 0;
}

/* Whether a path, without its first /, is within another one. */
static bool is_within(const char *link, const char *above)
{
    const size_t first = strspn(above, "/"), length = strlen(above) - first;
    return strncmp(link, above + first, length) == 0 &&
           (length == 0 || link[length] == '/' || link[length - 1] == '/');
}

static herr_t look_at(hid_t root, const char *link, const H5L_info_t *info, void *context)
{
    struct search *search = context;
    unsigned long long step = 0;
    (void)root, (void)info, (void)sscanf(link, "data/%llu/", &step);
    if (strlen(link) + 1 < PATH_LENGTH && step >= search->step &&
        (!search->within || is_within(link, search->within)) &&
        (ends_in(link, search->ends[0]) || ends_in(link, search->ends[1]))) {
        search->step = step;
        snprintf(search->path, PATH_LENGTH, "/%s", link);
    }
    return 0;
}

/* Opens the file, and finds the place: a path, or a record below what the attribute `base` of the file names,
 * with that name or another one. search->within is given. */
static enum status open_place(const char *path, const char *place, const char *other, const char *base,
                              struct hdf5_source *source, struct search *search)
{
    char below[1][HDF5_WORD] = {""};
    bool is_there = false;
    if (hdf5_source_open(path, STATUS_USAGE, source) != STATUS_OK)
        return status_fail(STATUS_USAGE, "%s; expected %s", status_message(),
                           search->within ? "an HDF5 file"
                                          : "a .npy or HDF5 file, or of particles a .csv file");
    TRY(hdf5_read_texts(source, "/", base, 1, below));
    if (search->within && !below[0][0])
        return status_fail(STATUS_USAGE, "%s: the attribute %s is missing, which says where meshes are", path,
                           base);
    snprintf(search->ends[0], PATH_LENGTH, "%s%s", below[0], place);
    snprintf(search->ends[1], PATH_LENGTH, "%s%s", below[0], other);
    if (place[0] == '/' && snprintf(search->path, PATH_LENGTH, "%s", place) > 0)
        (void)sscanf(place, "/data/%llu/", &search->step);
    else
        H5Lvisit(source->file, H5_INDEX_NAME, H5_ITER_INC, look_at, search);
    if (search->path[0])
        TRY(hdf5_find(source, search->path, &is_there));
    if (is_there)
        return STATUS_OK;
    return search->within
               ? status_fail(STATUS_USAGE, "%s: there is no mesh %s or %s in it%s%s", path, place, other,
                             search->within[0] ? " within " : "", search->within)
               : status_fail(STATUS_USAGE, "%s: there is no \"%s\" in it, which `place` says", path, place);
}

/* ---- attributes of meshes ---- */

/* Attributes of a mesh, in the order of its labels. */
struct mesh {
    char geometry[1][HDF5_WORD], order[1][HDF5_WORD], labels[2][HDF5_WORD];
    double spacing[2], offset[2], position[2], unit;
};

static const struct mesh usual_mesh = {.geometry = {"cartesian"}, .order = {"C"}, .labels = {"x", "y"}};

/* Reads the attributes of a component, or of the record that it is in. */
static enum status read_mesh(const struct hdf5_source *source, const char *object, struct mesh *mesh)
{
    TRY(hdf5_read_texts(source, object, "geometry", 1, mesh->geometry));
    if (strcmp(mesh->geometry[0], "cartesian") != 0)
        return status_fail(STATUS_USAGE, "%s: %s: geometry: expected cartesian, found %s", source->path,
                           object, mesh->geometry[0]);
    TRY(hdf5_read_texts(source, object, "dataOrder", 1, mesh->order));
    TRY(hdf5_read_texts(source, object, "axisLabels", 2, mesh->labels));
    TRY(hdf5_read_reals(source, object, "gridSpacing", 2, mesh->spacing));
    TRY(hdf5_read_reals(source, object, "gridGlobalOffset", 2, mesh->offset));
    TRY(hdf5_read_reals(source, object, "gridUnitSI", 1, &mesh->unit));
    return hdf5_read_reals(source, object, "position", 2, mesh->position);
}

/* The place of the first number, in steps. Without a spacing an offset has none. */
static double shift_along(const struct mesh *mesh, int n)
{
    return mesh->position[n] + (mesh->offset[n] == 0 ? 0 : mesh->offset[n] / mesh->spacing[n]);
}

/* Refuses a mesh that this grid cannot hold, with the name of the attribute that says so. */
static enum status check_mesh(const struct hdf5_source *source, const char *object, const struct mesh *mesh)
{
    const char *x = mesh->labels[0], *y = mesh->labels[1], *order = mesh->order[0];
    const bool are_axes = strspn(x, "xyz") == 1 && strspn(y, "xyz") == 1 && !x[1] && !y[1] && x[0] != y[0];
    const char *wrong = strcmp(order, "C") != 0 && strcmp(order, "F") != 0 ? "dataOrder: expected C or F"
                        : !are_axes ? "axisLabels: expected two of x, y and z"
                                    : NULL;
    for (int n = 0; n < 2 && !wrong; n++)
        if (mesh->spacing[n] < 0 || !isfinite(shift_along(mesh, n)))
            wrong = "gridSpacing: expected lengths above 0, by which gridGlobalOffset is a place";
    return wrong ? status_fail(STATUS_USAGE, "%s: %s: %s", source->path, object, wrong) : STATUS_OK;
}

/* The letters of two axes of a file in the order that they have here, and of the third, which is not in their
 * plane. Returns 1, or -1 where they are left-handed: the third axis here then points against that of the
 * file. */
static int find_axes(char first, char second, char axes[3])
{
    axes[0] = first < second ? first : second;
    axes[1] = first < second ? second : first;
    axes[2] = (char)('x' + 'y' + 'z' - first - second);
    return axes[2] == 'y' ? -1 : 1;
}

/* ---- particles ---- */

/* The bytes of a path that are its iteration's, whose number may begin with zeros. */
static int iteration_length(const char *path)
{
    return strncmp(path, "/data/", 6) == 0 ? 6 + (int)strspn(path + 6, "0123456789") : 0;
}

/* The plane of the positions, x-y where they are along one axis or none; a third momentum may be against that
 * here. Where they are along three, as those of Warp in a plane, the labels of E say which it is. */
static enum status find_plane(const struct hdf5_source *source, const struct search *search,
                              struct columns *columns)
{
    char name[2 * PATH_LENGTH], base[1][HDF5_WORD] = {""}, found[3];
    struct mesh mesh = usual_mesh; /* of labels x, y */
    int count = 0;
    bool is_there;
    for (int axis = 0; axis < 3; axis++) {
        snprintf(name, sizeof name, "%s/position/%c", search->path, "xyz"[axis]);
        TRY(hdf5_find(source, name, &is_there));
        if (is_there)
            found[count++] = "xyz"[axis];
    }
    if (count == 3) {
        mesh.labels[0][0] = '\0';
        TRY(hdf5_read_texts(source, "/", "meshesPath", 1, base));
        snprintf(name, sizeof name, "%.*s/%sE", iteration_length(search->path), search->path, base[0]);
        TRY(hdf5_find(source, name, &is_there));
        if (is_there)
            TRY(read_mesh(source, name, &mesh));
        if (!mesh.labels[0][0])
            return status_fail(
                STATUS_USAGE,
                "%s: %s: expected positions along two axes, found x, y and z, and no mesh E with "
                "the labels of two; to read them, write them to a .npy file",
                source->path, search->path);
        TRY(check_mesh(source, name, &mesh));
    }
    columns->is_cut = count == 3;
    columns->si[COLUMN_U + 2] *= count == 2 ? find_axes(found[0], found[1], columns->axes)
                                            : find_axes(mesh.labels[0][0], mesh.labels[1][0], columns->axes);
    return STATUS_OK;
}

/* Reads the rows of an array of numbers that the columns ask for. */
static enum status read_rows(const struct hdf5_source *source, const char *name, struct columns *columns,
                             double *numbers)
{
    struct hdf5_rows rows = {H5T_NATIVE_DOUBLE, {0}, columns->first, columns->count};
    TRY(hdf5_read_shape(source, name, rows.shape));
    if (rows.shape[1] > 0)
        return status_fail(STATUS_USAGE, "%s: %s is not of one dimension", source->path, name);
    TRY(columns_require(columns, rows.shape[0]));
    return hdf5_read_rows(source, name, &rows, numbers);
}

/* Reads a column, unless the file has none. */
static enum status read_column(const struct hdf5_source *source, const char *group, int k,
                               struct columns *columns)
{
    char name[2 * PATH_LENGTH];
    double constant = NAN, unit = 1;
    bool is_there;
    snprintf(name, sizeof name, "%s/%s", group, columns_name(columns, k));
    TRY(hdf5_find(source, name, &is_there));
    if (!is_there)
        return STATUS_OK;
    if (hdf5_is_group(source, name))
        TRY(hdf5_read_reals(source, name, "value", 1, &constant));
    TRY(hdf5_read_reals(source, name, "unitSI", 1, &unit));
    if (!(unit > 0))
        return status_fail(STATUS_USAGE, "%s: unitSI of %s: expected a number above 0, found %g",
                           columns->path, name, unit);
    double *numbers = columns->numbers[k] = malloc((columns->count + 1) * sizeof *numbers);
    if (!numbers)
        return status_fail(STATUS_FAILED, "%s: no memory to read it", columns->path);
    if (isnan(constant))
        TRY(read_rows(source, name, columns, numbers));
    for (uint64_t n = 0; n < columns->count; n++)
        numbers[n] = unit / columns->si[k] * (isnan(constant) ? numbers[n] : constant);
    return STATUS_OK;
}

/* The mass that all particles have, where the file says it once; 0 where it does not. */
static enum status read_mass(const struct hdf5_source *source, const char *group, double *mass)
{
    char name[PATH_LENGTH + 8];
    double unit = 1, is_macro = 0;
    snprintf(name, sizeof name, "%s/mass", group);
    TRY(hdf5_read_reals(source, name, "macroWeighted", 1, &is_macro));
    if (is_macro == 0 && hdf5_is_group(source, name))
        TRY(hdf5_read_reals(source, name, "value", 1, mass));
    TRY(hdf5_read_reals(source, name, "unitSI", 1, &unit));
    *mass = isfinite(*mass * unit) ? *mass * unit : 0;
    return STATUS_OK;
}

static enum status read_columns(const struct hdf5_source *source, const struct search *search,
                                struct columns *columns)
{
    char momentum[2 * PATH_LENGTH], iteration[PATH_LENGTH];
    double is_macro = 0, offset = 0, unit = 1;
    TRY(find_plane(source, search, columns));
    for (int k = 0; k < COLUMNS; k++)
        TRY(read_column(source, search->path, k, columns));
    snprintf(momentum, sizeof momentum, "%s/momentum", search->path);
    snprintf(iteration, sizeof iteration, "%.*s", iteration_length(search->path), search->path);
    TRY(hdf5_read_reals(source, momentum, "macroWeighted", 1, &is_macro));
    TRY(hdf5_read_reals(source, momentum, "timeOffset", 1, &offset));
    TRY(hdf5_read_reals(source, iteration, "timeUnitSI", 1, &unit));
    TRY(read_mass(source, search->path, &columns->mass));
    columns->is_macro = is_macro == 1;
    columns->seconds = offset * unit;
    return isfinite(columns->seconds)
               ? STATUS_OK
               : status_fail(STATUS_USAGE, "%s: timeOffset of %s times timeUnitSI of %s is not finite",
                             columns->path, momentum, iteration);
}

enum status columns_read_hdf5(struct columns *columns)
{
    struct search search = {.step = 0};
    struct hdf5_source source;
    enum status status =
        open_place(columns->path, columns->place, columns->place, "particlesPath", &source, &search);
    TRY_IF_OK(read_columns(&source, &search, columns));
    hdf5_source_close(&source);
    return status;
}

/* ---- meshes ---- */

/* The label that comes first in the alphabet is x here. In the order C the first label is that of the slowest
 * index, in F that of the fastest. */
static void place_mesh(const struct mesh *mesh, const uint64_t shape[2], struct columns_array *array)
{
    for (int n = 0; n < 2; n++) {
        const int axis = mesh->labels[n][0] > mesh->labels[!n][0];
        const int dimension = strcmp(mesh->order[0], "F") == 0 ? !n : n;
        array->shape[axis] = shape[dimension];
        array->stride[axis] = dimension == 0 ? shape[1] : 1;
        array->first[axis] = shift_along(mesh, n);
        array->length[axis] = mesh->spacing[n] * (double)shape[dimension];
    }
    array->unit = mesh->unit;
}

/* A component that is constant is a group, with its value and the shape that it stands for. */
static enum status read_constant(const struct hdf5_source *source, const char *path, double *value,
                                 uint64_t numbers[2])
{
    double shape[2] = {0, 0};
    TRY(hdf5_read_reals(source, path, "value", 1, value));
    TRY(hdf5_read_reals(source, path, "shape", 2, shape));
    for (int n = 0; n < 2; n++)
        numbers[n] = (uint64_t)fmin(fmax(shape[n], 0), 2.0 * NODES_MOST);
    return isnan(*value)
               ? status_fail(STATUS_USAGE, "%s: %s: is no array, and no group with the attribute value",
                             source->path, path)
               : STATUS_OK;
}

/* Of a mesh that is turned the position is along its second axis, and then along its first. */
static enum status read_array(const struct hdf5_source *source, const char *path, bool is_turned,
                              struct columns_array *array)
{
    char record[PATH_LENGTH];
    struct mesh mesh = usual_mesh;
    struct hdf5_rows all = {.type = H5T_NATIVE_DOUBLE};
    const size_t above = (size_t)(strrchr(path, '/') - path);
    const bool is_constant = hdf5_is_group(source, path);
    double value = NAN;
    snprintf(record, sizeof record, "%.*s", (int)(above > 0 ? above : 1), path);
    TRY(read_mesh(source, record, &mesh));
    TRY(read_mesh(source, path, &mesh));
    TRY(is_constant ? read_constant(source, path, &value, all.shape)
                    : hdf5_read_shape(source, path, all.shape));
    if (!columns_may_hold(all.shape))
        return status_fail(STATUS_USAGE, "%s: %s: expected 1 to %d numbers, found %" PRIu64 " x %" PRIu64,
                           source->path, path, NODES_MOST, all.shape[0], all.shape[1]);
    if (is_turned) {
        const double first = mesh.position[0];
        mesh.position[0] = mesh.position[1];
        mesh.position[1] = first;
    }
    TRY(check_mesh(source, path, &mesh));
    place_mesh(&mesh, all.shape, array);
    array->values = malloc(all.shape[0] * all.shape[1] * sizeof *array->values);
    if (!array->values)
        return status_fail(STATUS_FAILED, "%s: no memory to read it", source->path);
    all.rows = all.shape[0];
    if (!is_constant)
        return hdf5_read_rows(source, path, &all, array->values);
    array->shape[0] = array->shape[1] = 1;
    array->values[0] = value;
    return STATUS_OK;
}

enum status columns_read_hdf5_array(struct columns_array *array)
{
    struct search search = {.step = 0};
    struct hdf5_source source;
    enum status status =
        open_place(array->path, array->place, field_record(array->place), "meshesPath", &source, &search);
    TRY_IF_OK(read_array(&source, search.path, false, array));
    hdf5_source_close(&source);
    return status;
}

/* ---- E and B ---- */

static enum status check_dimension(const struct hdf5_source *source, const char *record, const double own[7])
{
    double dimension[7];
    memcpy(dimension, own, sizeof dimension);
    TRY(hdf5_read_reals(source, record, "unitDimension", 7, dimension));
    for (int n = 0; n < 7; n++)
        if (dimension[n] != own[n])
            return status_fail(STATUS_USAGE, "%s: unitDimension of %s: expected that of %s", source->path,
                               record, own[0] == 0 ? "T" : "V/m");
    return STATUS_OK;
}

/* PIConGPU writes axisLabels y, x and the position along x, y: E/x then lies between nodes along y alone, and
 * B/x along x alone, which is no Yee cell. *is_turned <- whether a component of a mesh with these labels is
 * so. */
static enum status find_turned(const struct hdf5_source *source, const char *path, const struct mesh *mesh,
                               int field, bool *is_turned)
{
    char software[1][HDF5_WORD] = {""};
    double position[2] = {0, 0};
    if (hdf5_read_texts(source, "/", "software", 1, software) != STATUS_OK)
        software[0][0] = '\0'; /* a program without a name is none of those known */
    TRY(hdf5_read_reals(source, path, "position", 2, position));
    const int own = mesh->labels[1][0] == path[strlen(path) - 1], between = field == 0 ? !own : own;
    *is_turned =
        strncmp(software[0], "PIConGPU", 8) == 0 && position[between] == 0.5 && position[!between] == 0;
    return STATUS_OK;
}

/* E or B: both components in the plane, or none, and the third, or none. */
static enum status read_vector(const struct hdf5_source *source, const char *record, int field,
                               struct columns_fields *fields, double *offset)
{
    struct columns_array *array = fields->array + 3 * field;
    struct mesh mesh = usual_mesh;
    char axes[3], path[PATH_LENGTH + 8];
    bool is_there[3], is_turned;
    TRY(read_mesh(source, record, &mesh));
    TRY(check_mesh(source, record, &mesh));
    TRY(check_dimension(source, record, fields->dimension[field]));
    TRY(hdf5_read_reals(source, record, "timeOffset", 1, offset));
    TRY(hdf5_read_reals(source, record, "averagedStates", 1, &fields->states)); /* of this program */
    const int hand = find_axes(mesh.labels[0][0], mesh.labels[1][0], axes);
    for (int axis = 0; axis < 3; axis++) {
        array[axis] =
            (struct columns_array){.path = fields->path, .place = field == 0 ? "E" : "B", .si = NAN};
        snprintf(path, sizeof path, "%s/%c", record, axes[axis]);
        TRY(hdf5_find(source, path, &is_there[axis]));
        if (!is_there[axis])
            continue;
        TRY(find_turned(source, path, &mesh, field, &is_turned));
        TRY(read_array(source, path, is_turned, array + axis));
        TRY(hdf5_read_reals(source, path, "unitSI", 1, &array[axis].si));
        if (isnan(array[axis].si))
            return status_fail(STATUS_USAGE, "%s: unitSI of %s is missing", source->path, path);
        if (!(array[axis].si > 0))
            return status_fail(STATUS_USAGE, "%s: unitSI of %s: expected a number above 0, found %g",
                               source->path, path, array[axis].si);
        array[axis].si *= axis == 2 ? hand : 1;
    }
    if (is_there[0] == is_there[1] && (is_there[0] || is_there[2]))
        return STATUS_OK;
    return status_fail(STATUS_USAGE, "%s: %s/%c is missing", source->path, record, axes[is_there[0]]);
}

/* Both are of the iteration that one of them was found in, and of one time. */
static enum status read_fields(const struct hdf5_source *source, char *record, struct columns_fields *fields)
{
    double offset[2] = {NAN, NAN};
    bool is_there;
    for (int field = 0; field < 2; field++) {
        record[strlen(record) - 1] = "EB"[field];
        TRY(hdf5_find(source, record, &is_there));
        if (is_there)
            TRY(read_vector(source, record, field, fields, &offset[field]));
    }
    return offset[0] < offset[1] || offset[0] > offset[1]
               ? status_fail(STATUS_USAGE, "%s: timeOffset: expected the same of E and B, found %g and %g",
                             source->path, offset[0], offset[1])
               : STATUS_OK;
}

enum status columns_read_fields(struct columns_fields *fields)
{
    struct search search = {.within = fields->place};
    struct hdf5_source source;
    enum status status = open_place(fields->path, "E", "B", "meshesPath", &source, &search);
    TRY_IF_OK(read_fields(&source, search.path, fields));
    hdf5_source_close(&source);
    return status;
}
