/* Checkpoint, reading: rank 0 finds a whole file; then each rank opens it, holds its parts against each other
 * and reads its own rows. */
#include "output/checkpoint.h"

#include "config/config_reader.h"
#include "output/checkpoint_folder.h"
#include "output/checkpoint_seal.h"
#include "output/hdf5_read.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_CONFIG_BYTES = 1 << 20, NAME_LENGTH = 160 };

struct checkpoint {
    char path[PATH_MAX];
    struct hdf5_source source;
    struct config config;
    struct checkpoint_header header; /* but for the capacities */
    struct partition partition;      /* owned */
    uint32_t *capacities;            /* owned: [ranks][species] */
    uint64_t *row_starts;            /* owned: [species][nx + 1], the particles in the rows before each */
};

static enum status no_memory(const struct checkpoint *checkpoint)
{
    return status_fail(STATUS_FAILED, "%s: no memory to read it", checkpoint->path);
}

static enum status impossible(const struct checkpoint *checkpoint, const char *what)
{
    return status_fail(STATUS_FAILED, "%s holds an impossible state: %s", checkpoint->path, what);
}

static const uint64_t *row_starts(const struct checkpoint *checkpoint, uint32_t species)
{
    return checkpoint->row_starts + species * (checkpoint->config.grid.cells[0] + (size_t)1);
}

/* ---- what is in the file beside the particles ---- */

static enum status read_header(struct checkpoint *checkpoint, uint32_t *ranks)
{
    const struct hdf5_source *source = &checkpoint->source;
    struct checkpoint_header *header = &checkpoint->header;
    uint32_t version = 0;
    TRY(hdf5_read_attribute(source, "version", H5T_NATIVE_UINT32, &version));
    if (version != CHECKPOINT_VERSION)
        return impossible(checkpoint, "its version is not that of its first block");
    TRY(hdf5_read_attribute(source, "step", H5T_NATIVE_UINT64, &header->step));
    TRY(hdf5_read_attribute(source, "first_energy", H5T_NATIVE_DOUBLE, &header->first_energy));
    TRY(hdf5_read_attribute(source, "ranks", H5T_NATIVE_UINT32, ranks));
    return hdf5_read_attribute(source, "ghost", H5T_NATIVE_UINT32, &header->ghost);
}

static enum status read_config(struct checkpoint *checkpoint)
{
    uint64_t length = 0;
    TRY(hdf5_read_length(&checkpoint->source, "config", &length));
    if (length > MOST_CONFIG_BYTES)
        return impossible(checkpoint, "its config is too long");
    char *text = calloc(length + 1, 1);
    if (!text)
        return no_memory(checkpoint);
    enum status status =
        hdf5_read_rows(&checkpoint->source, "config",
                       &(struct hdf5_rows){H5T_NATIVE_UINT8, 1, {length, 0}, 0, length}, text);
    if (status == STATUS_OK)
        status = config_read_text(checkpoint->path, text, length, NULL, 0, &checkpoint->config);
    free(text);
    if (status == STATUS_OK)
        return status;
    char *why = strdup(status_message());
    status =
        status_fail(STATUS_FAILED, "%s: its config cannot be read: %s", checkpoint->path, why ? why : "");
    free(why);
    return status;
}

static enum status read_partition(struct checkpoint *checkpoint, uint32_t ranks)
{
    const uint32_t rows = checkpoint->config.grid.cells[0];
    if (ranks == 0 || ranks > rows)
        return impossible(checkpoint, "it has no rows for so many ranks");
    const uint64_t length = ranks + UINT64_C(1);
    uint32_t *first = calloc(length, sizeof *first);
    if (!first)
        return no_memory(checkpoint);
    enum status status =
        hdf5_read_rows(&checkpoint->source, "first_rows",
                       &(struct hdf5_rows){H5T_NATIVE_UINT32, 1, {length, 0}, 0, length}, first);
    bool ordered = first[0] == 0 && first[ranks] == rows;
    for (uint32_t rank = 0; rank < ranks && ordered; rank++)
        ordered = first[rank] < first[rank + 1];
    if (status == STATUS_OK && !ordered)
        status = impossible(checkpoint, "its ranks do not share the rows of the grid");
    if (status == STATUS_OK)
        status = partition_given((int)ranks, first, &checkpoint->partition);
    free(first);
    return status;
}

static enum status read_array(const struct checkpoint *checkpoint, uint32_t species, const char *array,
                              const struct hdf5_rows *rows, void *values)
{
    char name[NAME_LENGTH];
    snprintf(name, sizeof name, "/particles/%s/%s", checkpoint->config.species[species].name, array);
    return hdf5_read_rows(&checkpoint->source, name, rows, values);
}

/* `count` particles from number `first` of a species on; none: whether they are there. */
static enum status read_attribute(const struct checkpoint *checkpoint, uint32_t species, enum attribute a,
                                  uint64_t first, uint64_t count, void *values)
{
    const struct config *config = &checkpoint->config;
    return read_array(checkpoint, species, attribute_table[a].name,
                      &(struct hdf5_rows){attribute_type(config->precision, a),
                                          2,
                                          {config->species[species].particles, attribute_table[a].components},
                                          first,
                                          count},
                      values);
}

/* Reads no particle, but sees that all are there, and that the ranks had room for them. */
static enum status read_species(struct checkpoint *checkpoint, uint32_t species)
{
    const struct config *config = &checkpoint->config;
    const uint32_t nx = config->grid.cells[0];
    uint64_t *starts = checkpoint->row_starts + species * (nx + (size_t)1);
    TRY(read_array(checkpoint, species, "row_counts",
                   &(struct hdf5_rows){H5T_NATIVE_UINT64, 1, {nx, 0}, 0, nx}, starts + 1));
    uint64_t missing = config->species[species].particles;
    for (uint32_t row = 0; row < nx && starts[row + 1] <= missing; row++) {
        missing -= starts[row + 1];
        starts[row + 1] += starts[row];
    }
    if (missing != 0 || starts[nx] != config->species[species].particles)
        return impossible(checkpoint, "it has more or fewer particles than its config");
    for (int rank = 0; rank < checkpoint->partition.ranks; rank++) {
        const uint32_t *first = checkpoint->partition.first + rank;
        if (checkpoint->capacities[(size_t)rank * config->species_count + species] <
            starts[first[1]] - starts[first[0]])
            return impossible(checkpoint, "a rank has no room for its particles");
    }
    for (enum attribute a = 0; a < ATTRIBUTES; a++)
        if (attribute_present(&config->species[species], a))
            TRY(read_attribute(checkpoint, species, a, 0, 0, NULL));
    return STATUS_OK;
}

static enum status load(struct checkpoint *checkpoint)
{
    const struct config *config = &checkpoint->config;
    uint32_t ranks = 0;
    TRY(hdf5_source_open(checkpoint->path, &checkpoint->source));
    TRY(read_header(checkpoint, &ranks));
    TRY(read_config(checkpoint));
    TRY(read_partition(checkpoint, ranks));
    checkpoint->capacities = calloc((size_t)ranks * config->species_count, sizeof *checkpoint->capacities);
    checkpoint->row_starts =
        calloc(config->species_count * (config->grid.cells[0] + (size_t)1), sizeof *checkpoint->row_starts);
    if (!checkpoint->capacities || !checkpoint->row_starts)
        return no_memory(checkpoint);
    TRY(hdf5_read_rows(&checkpoint->source, "capacities",
                       &(struct hdf5_rows){H5T_NATIVE_UINT32, 2, {ranks, config->species_count}, 0, ranks},
                       checkpoint->capacities));
    for (uint32_t s = 0; s < config->species_count; s++)
        TRY(read_species(checkpoint, s));
    return STATUS_OK;
}

static void unload(struct checkpoint *checkpoint)
{
    hdf5_source_close(&checkpoint->source);
    partition_destroy(&checkpoint->partition);
    free(checkpoint->capacities);
    free(checkpoint->row_starts);
    checkpoint->capacities = NULL;
    checkpoint->row_starts = NULL;
}

/* ---- finding a whole one ---- */

static enum status load_whole(struct checkpoint *checkpoint)
{
    TRY(checkpoint_seal_check(checkpoint->path, true));
    return load(checkpoint);
}

/* Loads the newest whole checkpoint of a folder. */
static enum status load_newest(const char *folder, void (*warn)(void *context, const char *sentence),
                               void *context, struct checkpoint *checkpoint)
{
    uint64_t *steps;
    size_t count;
    enum status status = checkpoint_folder_list(folder, &steps, &count);
    if (status == STATUS_OK && count == 0)
        status = status_fail(STATUS_FAILED, "%s holds no checkpoint: no file checkpoint_STEP.h5", folder);
    for (size_t n = 0; n < count; n++) {
        char name[CHECKPOINT_NAME_LENGTH];
        checkpoint_name(steps[n], name);
        snprintf(checkpoint->path, sizeof checkpoint->path, "%s/%s", folder, name);
        status = load_whole(checkpoint);
        if (status == STATUS_OK)
            break;
        warn(context, status_message());
        unload(checkpoint);
    }
    free(steps);
    if (status == STATUS_OK || count == 0)
        return status;
    char *last = strdup(status_message());
    status =
        status_fail(STATUS_FAILED, "%s holds no whole checkpoint; the oldest: %s", folder, last ? last : "");
    free(last);
    return status;
}

enum status checkpoint_open(const struct communicator *communicator, const char *path,
                            void (*warn)(void *context, const char *sentence), void *context,
                            struct checkpoint **result)
{
    struct stat found;
    struct checkpoint *checkpoint = calloc(1, sizeof *checkpoint);
    enum status status = STATUS_OK;
    *result = checkpoint;
    if (checkpoint)
        checkpoint->source.id = H5I_INVALID_HID;
    else
        status = status_fail(STATUS_FAILED, "no memory to read a checkpoint");
    TRY_CLEANUP(communicator_agree(communicator, status));
    snprintf(checkpoint->path, sizeof checkpoint->path, "%s", path);
    if (communicator->rank == 0)
        status = stat(path, &found) == 0 && S_ISDIR(found.st_mode)
                     ? load_newest(path, warn, context, checkpoint)
                     : load_whole(checkpoint);
    TRY_CLEANUP(communicator_agree(communicator, status));
    communicator_broadcast(communicator, sizeof checkpoint->path, checkpoint->path);
    TRY_CLEANUP(communicator_agree(communicator, communicator->rank == 0 ? STATUS_OK : load(checkpoint)));
    return STATUS_OK;

cleanup:
    checkpoint_close(result);
    return status;
}

void checkpoint_close(struct checkpoint **checkpoint)
{
    if (*checkpoint)
        unload(*checkpoint);
    free(*checkpoint);
    *checkpoint = NULL;
}

/* ---- what was read ---- */

const char *checkpoint_path(const struct checkpoint *checkpoint)
{
    return checkpoint->path;
}

const struct config *checkpoint_config(const struct checkpoint *checkpoint)
{
    return &checkpoint->config;
}

const struct partition *checkpoint_partition(const struct checkpoint *checkpoint)
{
    return &checkpoint->partition;
}

enum status checkpoint_header(const struct checkpoint *checkpoint, int rank, struct checkpoint_header *header)
{
    const uint32_t species = checkpoint->config.species_count;
    if (rank < 0 || rank >= checkpoint->partition.ranks)
        return status_fail(STATUS_FAILED, "%s was written by %d ranks: there is no rank %d", checkpoint->path,
                           checkpoint->partition.ranks, rank);
    *header = checkpoint->header;
    memcpy(header->capacity, checkpoint->capacities + (size_t)rank * species, species * sizeof(uint32_t));
    return STATUS_OK;
}

void checkpoint_loads(const struct checkpoint *checkpoint, uint64_t *loads)
{
    const uint32_t nx = checkpoint->config.grid.cells[0];
    memset(loads, 0, nx * sizeof *loads);
    for (uint32_t s = 0; s < checkpoint->config.species_count; s++)
        for (uint32_t row = 0; row < nx; row++)
            loads[row] += row_starts(checkpoint, s)[row + 1] - row_starts(checkpoint, s)[row];
}

/* What shapes neither the physics nor the state. */
static const char *const may_differ[] = {
    "title",    "time.steps",    "time.check_every",     "device",         "sort",   "step",
    "parallel", "fields.solver", "fields.decomposition", "deposit.method", "output", NULL};

enum status checkpoint_require_same(const struct checkpoint *checkpoint, const struct config *config)
{
    char *lines = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&lines, &length);
    if (!stream)
        return no_memory(checkpoint);
    const size_t count = config_compare(&(struct config_side){"the checkpoint", &checkpoint->config},
                                        &(struct config_side){"the config", config}, may_differ, stream);
    fprintf(stream, "a run that goes on from %s must not change %s", checkpoint->path,
            count > 1 ? "these keys" : "this key");
    enum status status = STATUS_OK;
    if (fclose(stream) != 0)
        status = no_memory(checkpoint);
    else if (count > 0)
        status = status_fail(STATUS_USAGE, "%s", lines);
    free(lines);
    return status;
}

/* ---- lists ---- */

/* Kernels find their memory by what these numbers say. */
static enum status check_particles(const struct checkpoint *checkpoint, size_t cells,
                                   const struct host_list *list)
{
    uint64_t count = 0;
    for (size_t cell = 0; cell < cells; cell++)
        count += list->cell_counts[cell];
    bool possible = count == list->count;
    for (enum attribute a = 0; a < ATTRIBUTES; a++) {
        const void *reals = attribute_table[a].is_real ? list->attribute[a] : NULL;
        for (uint64_t n = 0; reals && n < attribute_table[a].components * list->count && possible; n++)
            possible = attribute_accepts(a, checkpoint->config.precision == PRECISION_SINGLE
                                                ? (double)((const float *)reals)[n]
                                                : ((const double *)reals)[n]);
    }
    return possible ? STATUS_OK : impossible(checkpoint, "a particle is nowhere, or of no finite velocity");
}

enum status checkpoint_read_list(struct checkpoint *checkpoint, uint32_t species, uint32_t first_row,
                                 uint32_t rows, struct host_list *list)
{
    const struct config *config = &checkpoint->config;
    const uint32_t nx = config->grid.cells[0], ny = config->grid.cells[1];
    const uint64_t first = row_starts(checkpoint, species)[first_row];
    const size_t cells = (size_t)rows * ny;
    enum status status;
    *list = (struct host_list){.count = row_starts(checkpoint, species)[first_row + rows] - first,
                               .cell_counts = malloc((cells + 1) * sizeof *list->cell_counts)};
    TRY_CLEANUP(list->cell_counts ? STATUS_OK : no_memory(checkpoint));
    TRY_CLEANUP(read_array(checkpoint, species, "cell_counts",
                           &(struct hdf5_rows){H5T_NATIVE_UINT32, 2, {nx, ny}, first_row, rows},
                           list->cell_counts));
    for (enum attribute a = 0; a < ATTRIBUTES; a++) {
        if (!attribute_present(&config->species[species], a))
            continue;
        list->attribute[a] = malloc((list->count + 1) * attribute_bytes(config->precision, a));
        TRY_CLEANUP(list->attribute[a] ? STATUS_OK : no_memory(checkpoint));
        TRY_CLEANUP(read_attribute(checkpoint, species, a, first, list->count, list->attribute[a]));
    }
    TRY_CLEANUP(check_particles(checkpoint, cells, list));
    return STATUS_OK;

cleanup:
    host_list_free(list);
    return status;
}

void host_list_free(struct host_list *list)
{
    free(list->cell_counts);
    for (enum attribute a = 0; a < ATTRIBUTES; a++)
        free(list->attribute[a]);
    *list = (struct host_list){0};
}
