/* Field files: meshes become E and B on the nodes, in the units of the run. */
#include "input/field_files.h"

#include "folder/digest.h"
#include "hdf5/writer.h"
#include "input/box_array.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Multiplies the numbers of a component by `factor`; then they are finite, and so are their squares. *is_zero
 * <- whether all are 0. */
static enum status scale_numbers(const struct config *config, const struct columns_array *array, int c,
                                 double factor, bool *is_zero)
{
    const double most = precision_fastest(config->precision);
    *is_zero = true;
    for (uint64_t i = 0; i < array->shape[0]; i++)
        for (uint64_t j = 0; j < array->shape[1]; j++) {
            const double value = array->values[i * array->stride[0] + j * array->stride[1]] *= factor;
            *is_zero &= value == 0;
            if (!(fabs(value) <= most))
                return status_fail(STATUS_USAGE,
                                   "%s: %s%c: expected numbers of up to %g, found %g at [%" PRIu64
                                   ", %" PRIu64 "]",
                                   array->path, array->place, "xyz"[c % 3], most, value, i, j);
        }
    return STATUS_OK;
}

/* *found <- component c on the nodes; NULL where it is 0 everywhere. */
static enum status set_component(const struct config *config, const struct columns_fields *fields, int c,
                                 double **found)
{
    const struct units units = units_make(&config->units);
    const struct columns_array *array = &fields->array[c];
    const double factor = array->si / (c < 3 ? units.electric_field : units.magnetic_field);
    bool is_zero;
    if (!array->values)
        return STATUS_OK;
    TRY(box_array_check_length(config, array));
    TRY(scale_numbers(config, array, c, factor, &is_zero));
    if (is_zero)
        return STATUS_OK;
    *found = malloc((size_t)config->grid.cells[0] * config->grid.cells[1] * sizeof **found);
    return *found ? box_array_at_nodes(array, config->grid.cells, 0, *found)
                  : status_fail(STATUS_FAILED, "%s: no memory to read it", fields->path);
}

/* With fields.mean=zero the mean of E is 0 but for what single precision rounds. */
static enum status check_mean(const struct config *config, const struct field_file *file)
{
    const size_t nodes = (size_t)config->grid.cells[0] * config->grid.cells[1];
    double mean[3] = {0, 0, 0}, most = 0;
    for (int axis = 0; axis < 3 && config->fields.mean == MEAN_ZERO; axis++)
        for (size_t n = 0; file->values[axis] && n < nodes; n++) {
            mean[axis] += file->values[axis][n] / (double)nodes;
            most = fmax(most, fabs(file->values[axis][n]));
        }
    if (hypot(hypot(mean[0], mean[1]), mean[2]) <= 1e-6 * most)
        return STATUS_OK;
    return status_fail(STATUS_USAGE,
                       "%s: expected a mean of E of 0 with fields.mean=zero, found (%.3g, %.3g, %.3g); take "
                       "fields.mean=ampere",
                       file->path, mean[0], mean[1], mean[2]);
}

/* As of formulas: config/check_species.c. */
static enum status check_dimensions(const struct config *config, const struct field_file *file)
{
    const char *what = file->values[2]                      ? "Ez"
                       : file->values[3] || file->values[4] ? "a B in the plane"
                                                            : NULL;
    for (uint32_t s = 0; s < config->species_count && what; s++) {
        const struct species_config *species = &config->species[s];
        if (species->push && species->charge != 0 && !species_has_w(species))
            return status_fail(STATUS_USAGE,
                               "%s: it has %s, which needs velocities in three dimensions, which species %s "
                               "lacks: set species.%s.velocities.dimensions=3",
                               file->path, what, species->name, species->name);
    }
    return STATUS_OK;
}

static enum status read_file(const struct config *config, int group, struct field_file *file)
{
    struct columns_fields fields = {.path = file->path, .place = file->place};
    memcpy(fields.dimension[0], field_table[FIELD_E].dimension, sizeof fields.dimension[0]);
    memcpy(fields.dimension[1], field_table[FIELD_B].dimension, sizeof fields.dimension[1]);
    pthread_mutex_lock(&writer_hdf5);
    enum status status = columns_read_fields(&fields);
    pthread_mutex_unlock(&writer_hdf5);
    for (int c = 0; c < 6; c++) {
        TRY_IF_OK(set_component(config, &fields, c, &file->values[c]));
        free(fields.array[c].values);
    }
    TRY(status);
    if (group == FIELDS_INITIAL && fields.states > 1)
        return status_fail(STATUS_USAGE, "%s: expected fields of one time, found means over %g states",
                           file->path, fields.states);
    return group == FIELDS_INITIAL ? check_mean(config, file) : check_dimensions(config, file);
}

/* A run that goes on has the external fields of the run before. */
static enum status require_same(const struct field_file *file, uint64_t old)
{
    char expected[48] = "no file", found[48] = "none";
    if (old != 0)
        snprintf(expected, sizeof expected, "a file of digest %016" PRIx64, old);
    if (file->digest != 0)
        snprintf(found, sizeof found, "one of digest %016" PRIx64, file->digest);
    return file->digest == old ? STATUS_OK
                               : status_fail(STATUS_USAGE,
                                             "fields.external.file: a run that goes on must not change its "
                                             "external fields: expected %s, found %s",
                                             expected, found);
}

enum status field_files_read(const struct communicator *communicator, struct config *config,
                             const struct config *before)
{
    for (int group = 0; group < FIELD_GROUPS; group++) {
        struct field_file *file = &config->fields.file[group];
        const uint64_t old = before ? before->fields.file[group].digest : 0;
        const bool is_state = before && group == FIELDS_INITIAL, is_read = file->path[0] && !is_state;
        file->digest = is_state ? old : 0;
        const enum status status =
            is_read ? digest_require_same(communicator, file->path, UINT64_MAX, &file->digest) : STATUS_OK;
        if (status != STATUS_OK)
            return old != 0 ? status_fail(status,
                                          "%s; the run goes on with its external fields: set "
                                          "fields.external.file to the place of that file",
                                          status_message())
                            : status;
        if (before)
            TRY(require_same(file, old));
        if (is_read)
            TRY(communicator_agree(communicator, read_file(config, group, file)));
    }
    return STATUS_OK;
}

void field_file_free(struct field_file *file)
{
    for (int c = 0; c < 6; c++) {
        free(file->values[c]);
        file->values[c] = NULL;
    }
}

void field_files_announce(const struct config *config, struct log *log)
{
    for (int group = 0; group < FIELD_GROUPS; group++) {
        const struct field_file *file = &config->fields.file[group];
        if (file->digest)
            log_line(log, LOG_NORMAL, "fields.%s: %s, digest %016" PRIx64, field_groups[group].name,
                     file->path, file->digest);
    }
}
