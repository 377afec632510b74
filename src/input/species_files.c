/* Species files: columns become particles, each rank's part, and an array the density at profile_nodes(). */
#include "input/species_files.h"

#include "config/formula.h"
#include "domain/grid.h"
#include "folder/digest.h"
#include "hdf5/writer.h"
#include "input/box_array.h"
#include "shared/loading.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- particles ---- */

static struct columns columns_of(const struct communicator *communicator, const struct config *config,
                                 const struct species_config *species)
{
    const struct units units = units_make(&config->units);
    const struct grid grid = grid_make(&config->grid);
    const double momentum = units.momentum * species->mass;
    struct columns columns = {.path = species->positions.file,
                              .place = species->positions.place[0] ? species->positions.place : species->name,
                              .all = species->particles,
                              .unit = {grid.dx, grid.dy, 1, 1, 1, 1, grid.dx, grid.dy},
                              .si = {grid.dx * units.length, grid.dy * units.length, momentum, momentum,
                                     momentum, units.particles, grid.dx * units.length,
                                     grid.dy * units.length}};
    columns.first = communicator_share(communicator, species->particles, &columns.count);
    return columns;
}

static enum status refuse(const struct columns *columns, uint64_t n, int k, double value,
                          const char *expected)
{
    return status_fail(STATUS_USAGE, "%s: particle %" PRIu64 " has %s %.9g, expected %s", columns->path,
                       columns->first + n, columns_name(columns, k), value, expected);
}

static enum status require(const struct columns *columns, int k)
{
    return columns->numbers[k]
               ? STATUS_OK
               : status_fail(STATUS_USAGE, "%s: %s is missing", columns->path, columns_name(columns, k));
}

/* Cells and offsets along an axis, of which the file may have the whole cells apart. The box repeats,
 * wherever that of the file begins. ends[2] <- the greatest place, and the least with its sign turned, in
 * cells. */
static enum status set_places(const struct columns *columns, int axis, uint32_t cells,
                              struct loaded_particle *particles, double ends[2])
{
    const double *rest = columns->numbers[COLUMN_X + axis], *whole = columns->numbers[COLUMN_CELL + axis];
    TRY(require(columns, COLUMN_X + axis));
    for (uint64_t n = 0; n < columns->count; n++) {
        const double of_cell = whole ? whole[n] : 0, below = floor(of_cell),
                     in_cell = rest[n] + (of_cell - below);
        const double place = below + in_cell, cell = fmod(below + floor(in_cell), cells);
        if (!isfinite(place))
            return refuse(columns, n, COLUMN_X + axis, place, "a finite number");
        ends[0] = fmax(ends[0], place);
        ends[1] = fmax(ends[1], -place);
        particles[n].cell[axis] = (uint32_t)(cell < 0 ? cell + cells : cell);
        particles[n].offset[axis] = in_cell - floor(in_cell);
    }
    return STATUS_OK;
}

/* Both ends of the box are one place, and what single precision rounds lies within, also far from 0.
 * *is_wrapped <- true where places are outside of the box. */
static enum status check_span(const struct columns *columns, int axis, uint32_t cells, const double ends[2],
                              bool *is_wrapped)
{
    const double cell = columns->unit[axis];
    const double rounding = 2e-6 * cells + 0x1p-22 * fmax(fabs(ends[0]), fabs(ends[1]));
    *is_wrapped |= ends[0] > cells + rounding || ends[1] > rounding;
    return ends[0] + ends[1] <= cells + rounding
               ? STATUS_OK
               : status_fail(
                     STATUS_USAGE,
                     "%s: expected places within one length of the box, %g, found %s from %.9g to %.9g",
                     columns->path, cells * cell, columns_name(columns, COLUMN_X + axis), -ends[1] * cell,
                     ends[0] * cell);
}

static enum status set_velocities(const struct columns *columns, int axis, double fastest,
                                  struct loaded_particle *particles)
{
    const int k = COLUMN_U + axis;
    TRY(require(columns, k));
    if (columns->is_macro)
        TRY(require(columns, COLUMN_WEIGHT));
    for (uint64_t n = 0; n < columns->count; n++) {
        particles[n].velocity[axis] =
            columns->numbers[k][n] /
            (columns->is_macro ? columns->numbers[COLUMN_WEIGHT][n] * columns->si[COLUMN_WEIGHT] : 1);
        if (!(fabs(particles[n].velocity[axis]) <= fastest))
            return refuse(columns, n, k, columns->numbers[k][n],
                          isfinite(particles[n].velocity[axis])
                              ? "a speed that the precision of the run holds"
                              : "a finite number");
    }
    return STATUS_OK;
}

/* Sets the weights over their mean, which is returned. 0: all are 0. */
static double set_weights(const struct communicator *communicator, const struct columns *columns,
                          struct loaded_particle *particles)
{
    const double *weights = columns->numbers[COLUMN_WEIGHT];
    const double mean = communicator_mean(communicator, columns->all, columns->count, weights);
    for (uint64_t n = 0; n < columns->count && mean > 0; n++)
        particles[n].weight = weights[n] / mean;
    return mean;
}

/* All particles have one weight, that of the first. */
static enum status check_weights(const struct columns *columns, double first)
{
    for (uint64_t n = 0; columns->numbers[COLUMN_WEIGHT] && n < columns->count; n++)
        if (!(fabs(columns->numbers[COLUMN_WEIGHT][n] - first) <= 1e-5 * first))
            return refuse(columns, n, COLUMN_WEIGHT, columns->numbers[COLUMN_WEIGHT][n],
                          "that of particle 0; weights: file in the species takes them as they are");
    return STATUS_OK;
}

static enum status require_weights(const struct columns *columns)
{
    const double *weights = columns->numbers[COLUMN_WEIGHT];
    TRY(require(columns, COLUMN_WEIGHT));
    for (uint64_t n = 0; n < columns->count; n++)
        if (!(weights[n] >= 0 && isfinite(weights[n])))
            return refuse(columns, n, COLUMN_WEIGHT, weights[n], "a finite number of at least 0");
    return STATUS_OK;
}

static enum status read_share(const struct config *config, struct species_config *species,
                              struct columns *columns, double ends[2][2])
{
    struct loaded_particle *particles = calloc(columns->count + 1, sizeof *particles);
    species->read.particles = particles;
    if (!particles)
        return status_fail(STATUS_FAILED, "%s: no memory to read it", columns->path);
    pthread_mutex_lock(&writer_hdf5);
    const enum status status = columns_read(columns);
    pthread_mutex_unlock(&writer_hdf5);
    TRY(status);
    for (int axis = 0; axis < 2; axis++)
        TRY(set_places(columns, axis, config->grid.cells[axis], particles, ends[axis]));
    for (int axis = 0; species->velocities.kind == VELOCITIES_FILE && axis < (int)species_dimensions(species);
         axis++)
        TRY(set_velocities(columns, axis, precision_fastest(config->precision), particles));
    for (uint64_t n = 0; n < columns->count; n++)
        particles[n].weight = 1;
    return species->weights == WEIGHTS_FILE ? require_weights(columns) : STATUS_OK;
}

static enum status read_particles(const struct communicator *communicator, const struct config *config,
                                  struct species_config *species)
{
    struct columns columns = columns_of(communicator, config, species);
    struct species_read *read = &species->read;
    double sums[6] = {0}, weight = 0, ends[2][2] = {{-INFINITY, -INFINITY}, {-INFINITY, -INFINITY}};
    const bool weighs = species->weights == WEIGHTS_FILE;
    enum status status = communicator_agree(communicator, read_share(config, species, &columns, ends));
    communicator_max(communicator, 4, ends[0]);
    for (int axis = 0; axis < 2; axis++)
        TRY_IF_OK(check_span(&columns, axis, config->grid.cells[axis], ends[axis], &read->is_wrapped));
    if (status == STATUS_OK && weighs && (weight = set_weights(communicator, &columns, read->particles)) == 0)
        status = status_fail(STATUS_USAGE, "%s: expected a weight above 0, found 0 in all particles",
                             columns.path);
    for (uint64_t n = 0; status == STATUS_OK && n < columns.count; n++)
        for (int axis = 0; axis < 3; axis++) {
            const struct loaded_particle *particle = read->particles + n;
            sums[axis] += particle->weight * particle->velocity[axis];
            sums[3 + axis] += particle->weight * pow(particle->velocity[axis], 2);
        }
    communicator_sum(communicator, 6, sums);
    for (int axis = 0; axis < 3; axis++) {
        read->facts.mean[axis] = sums[axis] / (double)columns.all;
        read->facts.thermal[axis] =
            sqrt(fmax(sums[3 + axis] / (double)columns.all - pow(read->facts.mean[axis], 2), 0));
    }
    if (!weighs) {
        if (status == STATUS_OK && columns.numbers[COLUMN_WEIGHT])
            weight = columns.numbers[COLUMN_WEIGHT][0];
        communicator_broadcast(communicator, sizeof weight, &weight);
        TRY_IF_OK(communicator_agree(communicator, check_weights(&columns, weight)));
    }
    read->facts.density = weight * (double)columns.all / (config->grid.length[0] * config->grid.length[1]);
    read->left = columns.is_cut ? columns.axes[2] : '\0';
    if (species->velocities.kind == VELOCITIES_FILE) {
        read->mass = columns.mass / units_make(&config->units).mass;
        read->behind = -columns.seconds / units_make(&config->units).time;
    }
    read->starts_back = fabs(read->behind / config->time.step - 0.5) < 1e-6;
    for (int k = 0; k < COLUMNS; k++)
        free(columns.numbers[k]);
    return status;
}

/* ---- a density ---- */

/* A density of charges may be negative everywhere. */
static enum status check_density(const struct columns_array *array)
{
    double sum = 0, most = 0;
    for (uint64_t n = 0; n < array->shape[0] * array->shape[1]; n++) {
        sum += isfinite(array->values[n]) ? array->values[n] : 0;
        most = fmax(most, fabs(array->values[n]));
    }
    for (uint64_t n = 0; n < array->shape[0] * array->shape[1]; n++) {
        const double value =
            array->values[n / array->shape[1] * array->stride[0] + n % array->shape[1] * array->stride[1]];
        if (!isfinite(value) || !(value * sum >= 0) || sum == 0)
            return status_fail(STATUS_USAGE,
                               "%s: expected finite numbers of one sign, found %g at [%" PRIu64 ", %" PRIu64
                               "]",
                               array->path, value, n / array->shape[1], n % array->shape[1]);
    }
    return density_is_sound(most)
               ? STATUS_OK
               : status_fail(STATUS_USAGE, "%s: expected a greatest value from " DENSITIES ", found %g",
                             array->path, most);
}

static enum status read_density(const struct config *config, struct species_config *species)
{
    const struct profile_config *profile = &species->profile;
    const struct nodes nodes = profile_nodes(config->grid.cells, config->grid.length);
    struct columns_array array = {.path = profile->file, .place = profile->place};
    double *values = malloc(nodes_count(&nodes) * sizeof *values);
    species->read.density_nodes = values;
    pthread_mutex_lock(&writer_hdf5);
    enum status status = values ? columns_read_array(&array)
                                : status_fail(STATUS_FAILED, "%s: no memory to read it", profile->file);
    pthread_mutex_unlock(&writer_hdf5);
    TRY_IF_OK(box_array_check_length(config, &array));
    TRY_IF_OK(check_density(&array));
    TRY_IF_OK(box_array_at_nodes(&array, nodes.intervals, 1, values));
    for (size_t n = 0; n < nodes_count(&nodes) && status == STATUS_OK; n++)
        values[n] = fabs(values[n]);
    free(array.values);
    return status;
}

/* ---- all of it ---- */

enum status species_files_read(const struct communicator *communicator, struct config *config)
{
    for (uint32_t s = 0; s < config->species_count; s++) {
        struct species_config *species = &config->species[s];
        const char *path = species_file(species);
        if (path[0] == '\0')
            continue;
        TRY(digest_require_same(communicator, path, UINT64_MAX, &species->read.facts.digest));
        TRY(path == species->positions.file
                ? read_particles(communicator, config, species)
                : communicator_agree(communicator, read_density(config, species)));
    }
    return STATUS_OK;
}

void species_files_free(struct config *config)
{
    for (uint32_t s = 0; s < config->species_count; s++) {
        struct species_read *read = &config->species[s].read;
        free(read->particles);
        free(read->density_nodes);
        read->particles = NULL;
        read->density_nodes = NULL;
    }
}

void species_files_announce(const struct config *config, struct log *log)
{
    for (uint32_t s = 0; s < config->species_count; s++) {
        const struct species_config *species = &config->species[s];
        const struct species_read *read = &species->read;
        const bool has_particles = species->positions.kind == POSITIONS_FILE;
        if (read->facts.digest == 0)
            continue;
        log_line(log, LOG_NORMAL, "%s of %s: %s, digest %016" PRIx64, has_particles ? "particles" : "density",
                 species->name, species_file(species), read->facts.digest);
        if (has_particles)
            log_line(
                log, LOG_NORMAL,
                "%s: %" PRIu64 " particles, at the start mean velocity (%.4g, %.4g, %.4g), deviations (%.4g, "
                "%.4g, %.4g)",
                species->name, species->particles, read->facts.mean[0], read->facts.mean[1],
                read->facts.mean[2], read->facts.thermal[0], read->facts.thermal[1], read->facts.thermal[2]);
        if (read->facts.density > 0)
            log_line(log, LOG_NORMAL,
                     "%s: the weights in the file make a density of %.6g in a box of depth 1, here it is %g",
                     species->name, read->facts.density, species->density);
        if (read->is_wrapped)
            log_line(log, LOG_NORMAL, "%s: places outside of the box come in at its other side",
                     species->name);
        if (read->left)
            log_warning(
                log, "%s: positions along %c are not read, since E in the file lies in the plane across %c",
                species->name, read->left, read->left);
        if (read->mass != 0 && fabs(read->mass - species->mass) > 1e-3 * species->mass)
            log_warning(
                log, "%s: the mass in the file is %.6g, here it is %g: the run has the momenta of the file",
                species->name, read->mass, species->mass);
        if (read->behind != 0 && !read->starts_back)
            log_warning(log,
                        "%s: the velocities in the file are %.6g before the positions, and half a step "
                        "is %g: the run takes them as at the positions",
                        species->name, read->behind, config->time.step / 2);
    }
}
