/* Checkpoint, reading: rank 0 finds a whole file, reads what all ranks must know and holds it against itself;
 * then each rank opens the file and reads its own rows. */
#include "output/checkpoint.h"

#include "config/config_reader.h"
#include "output/checkpoint_folder.h"
#include "output/checkpoint_format.h"
#include "output/checkpoint_seal.h"
#include "output/hdf5_read.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_CONFIG_BYTES = 1 << 20, NAME_LENGTH = 160, PIECE = 1 << 20 };

struct checkpoint {
    char *path;                /* owned */
    struct hdf5_source source; /* open on every rank */
    struct config config;
    struct checkpoint_header header; /* but for the capacities */
    struct partition partition;      /* owned */
    uint64_t *capacities;            /* owned: [ranks][species] */
    /* Owned: [species][CHECKPOINT_LISTS][nx + 1], the number of particles in the rows before each. */
    uint64_t *row_starts;
};

/* ---- reading on rank 0 ---- */

static enum status no_memory(const struct checkpoint *checkpoint)
{
    return status_fail(STATUS_FAILED, "%s: no memory to read it", checkpoint->path);
}

static enum status impossible(const struct checkpoint *checkpoint, const char *what)
{
    return status_fail(STATUS_FAILED, "%s holds an impossible state: %s", checkpoint->path, what);
}

static enum status read_attributes(struct checkpoint *checkpoint, uint32_t *ranks)
{
    const struct hdf5_source *source = &checkpoint->source;
    struct checkpoint_header *header = &checkpoint->header;
    uint32_t version = 0;
    TRY(hdf5_read_attribute(source, "version", H5T_NATIVE_UINT32, 1, &version));
    if (version != CHECKPOINT_VERSION)
        return impossible(checkpoint, "its version is not that of its first block");
    TRY(hdf5_read_attribute(source, "step", H5T_NATIVE_UINT64, 1, &header->step));
    TRY(hdf5_read_attribute(source, "first_energy", H5T_NATIVE_DOUBLE, 1, &header->first_energy));
    TRY(hdf5_read_attribute(source, "ranks", H5T_NATIVE_UINT32, 1, ranks));
    return hdf5_read_attribute(source, "ghost", H5T_NATIVE_UINT32, 1, &header->ghost);
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
    enum status status = hdf5_read_rows(
        &checkpoint->source, "config",
        &(struct hdf5_rows){H5T_NATIVE_UINT8, 1, {length, 0}, .first = 0, .count = length}, text);
    if (status == STATUS_OK)
        status = config_read_text(checkpoint->path, text, length, NULL, 0, &checkpoint->config);
    free(text);
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
    enum status status = hdf5_read_rows(
        &checkpoint->source, "first_rows",
        &(struct hdf5_rows){H5T_NATIVE_UINT32, 1, {length, 0}, .first = 0, .count = length}, first);
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

static enum status read_capacities(struct checkpoint *checkpoint)
{
    const uint64_t ranks = (uint64_t)checkpoint->partition.ranks, species = checkpoint->config.species_count;
    checkpoint->capacities = calloc(ranks * species, sizeof *checkpoint->capacities);
    if (!checkpoint->capacities)
        return no_memory(checkpoint);
    return hdf5_read_rows(
        &checkpoint->source, "capacities",
        &(struct hdf5_rows){H5T_NATIVE_UINT64, 2, {ranks, species}, .first = 0, .count = ranks},
        checkpoint->capacities);
}

static uint64_t *row_starts(const struct checkpoint *checkpoint, uint32_t species, unsigned which)
{
    const size_t length = checkpoint->config.grid.cells[0] + (size_t)1;
    return checkpoint->row_starts + (CHECKPOINT_LISTS * (size_t)species + which) * length;
}

static void name_array(const struct checkpoint *checkpoint, uint32_t species, unsigned which,
                       const char *array, char name[NAME_LENGTH])
{
    snprintf(name, NAME_LENGTH, "/particles/%s/%s/%s", checkpoint->config.species[species].name,
             checkpoint_list_names[which], array);
}

static enum status read_cell_counts(const struct checkpoint *checkpoint, uint32_t species, unsigned which,
                                    uint32_t first_row, uint32_t rows, uint32_t *counts)
{
    const uint32_t *cells = checkpoint->config.grid.cells;
    char name[NAME_LENGTH];
    name_array(checkpoint, species, which, "cell_counts", name);
    return hdf5_read_rows(
        &checkpoint->source, name,
        &(struct hdf5_rows){H5T_NATIVE_UINT32, 2, {cells[0], cells[1]}, .first = first_row, .count = rows},
        counts);
}

/* Adds up the cells of each row of a list. */
static enum status sum_rows(const struct checkpoint *checkpoint, uint32_t species, unsigned which)
{
    const uint32_t nx = checkpoint->config.grid.cells[0], ny = checkpoint->config.grid.cells[1];
    uint64_t *starts = row_starts(checkpoint, species, which);
    const uint32_t piece = PIECE / ny ? PIECE / ny : 1;
    uint32_t *counts = malloc((size_t)piece * ny * sizeof *counts);
    if (!counts)
        return no_memory(checkpoint);
    enum status status = STATUS_OK;
    for (uint32_t first = 0; first < nx && status == STATUS_OK; first += piece) {
        const uint32_t rows = nx - first < piece ? nx - first : piece;
        status = read_cell_counts(checkpoint, species, which, first, rows, counts);
        for (uint32_t row = 0; row < rows && status == STATUS_OK; row++) {
            uint64_t sum = 0;
            for (uint32_t j = 0; j < ny; j++)
                sum += counts[(size_t)row * ny + j];
            starts[first + row + 1] = starts[first + row] + sum;
        }
    }
    free(counts);
    return status;
}

static enum status read_row_starts(struct checkpoint *checkpoint)
{
    const struct config *config = &checkpoint->config;
    const size_t lists = CHECKPOINT_LISTS * (size_t)config->species_count;
    checkpoint->row_starts =
        calloc(lists * (config->grid.cells[0] + (size_t)1), sizeof *checkpoint->row_starts);
    if (!checkpoint->row_starts)
        return no_memory(checkpoint);
    for (uint32_t s = 0; s < config->species_count; s++)
        for (unsigned which = 0; which < CHECKPOINT_LISTS; which++)
            TRY(sum_rows(checkpoint, s, which));
    return STATUS_OK;
}

/* ---- holding the parts against each other ---- */

static enum status check_capacities(const struct checkpoint *checkpoint, uint32_t species)
{
    const uint64_t *starts = row_starts(checkpoint, species, CHECKPOINT_MAIN);
    for (int rank = 0; rank < checkpoint->partition.ranks; rank++) {
        const uint32_t *first = checkpoint->partition.first + rank;
        const uint64_t capacity =
            checkpoint->capacities[(size_t)rank * checkpoint->config.species_count + species];
        if (capacity > UINT32_MAX || capacity < starts[first[1]] - starts[first[0]])
            return impossible(checkpoint, "a rank has no room for its particles");
    }
    return STATUS_OK;
}

/* Reads no particle, but sees that all are there. */
static enum status check_list(const struct checkpoint *checkpoint, uint32_t species, unsigned which)
{
    static const char *const arrays[] = {"offset", "velocity", "id"};
    const struct config *config = &checkpoint->config;
    const uint64_t total = row_starts(checkpoint, species, which)[config->grid.cells[0]];
    const hid_t real = checkpoint_real(config->precision);
    for (unsigned a = 0; a < (config->species[species].ids ? 3 : 2); a++) {
        const bool is_id = a == 2;
        char name[NAME_LENGTH];
        name_array(checkpoint, species, which, arrays[a], name);
        TRY(hdf5_read_rows(&checkpoint->source, name,
                           &(struct hdf5_rows){
                               is_id ? H5T_NATIVE_UINT64 : real, is_id ? 1 : 2, {total, is_id ? 0 : 2}, 0, 0},
                           NULL));
    }
    return STATUS_OK;
}

static enum status check_state(const struct checkpoint *checkpoint)
{
    const struct config *config = &checkpoint->config;
    for (uint32_t s = 0; s < config->species_count; s++) {
        const uint64_t total = row_starts(checkpoint, s, CHECKPOINT_MAIN)[config->grid.cells[0]] +
                               row_starts(checkpoint, s, CHECKPOINT_GUESTS)[config->grid.cells[0]];
        if (total != config->species[s].particles)
            return impossible(checkpoint, "it has more or fewer particles than its config");
        TRY(check_capacities(checkpoint, s));
        for (unsigned which = 0; which < CHECKPOINT_LISTS; which++)
            TRY(check_list(checkpoint, s, which));
    }
    return STATUS_OK;
}

/* ---- finding a whole one, on rank 0 ---- */

static enum status load(struct checkpoint *checkpoint)
{
    uint32_t ranks = 0;
    TRY(checkpoint_seal_check(checkpoint->path));
    TRY(hdf5_source_open(checkpoint->path, &checkpoint->source));
    TRY(read_attributes(checkpoint, &ranks));
    if (read_config(checkpoint) != STATUS_OK) {
        char *why = strdup(status_message());
        const enum status status =
            status_fail(STATUS_FAILED, "%s: its config cannot be read: %s", checkpoint->path, why ? why : "");
        free(why);
        return status;
    }
    TRY(read_partition(checkpoint, ranks));
    TRY(read_capacities(checkpoint));
    TRY(read_row_starts(checkpoint));
    return check_state(checkpoint);
}

static void unload(struct checkpoint *checkpoint)
{
    hdf5_source_close(&checkpoint->source);
    partition_destroy(&checkpoint->partition);
    free(checkpoint->capacities);
    free(checkpoint->row_starts);
    free(checkpoint->path);
    checkpoint->capacities = checkpoint->row_starts = NULL;
    checkpoint->path = NULL;
}

static enum status refuse_folder(const char *folder, size_t broken)
{
    if (broken == 0)
        return status_fail(STATUS_FAILED, "%s holds no checkpoint: no file checkpoint_STEP.h5", folder);
    char *last = strdup(status_message());
    const enum status status =
        status_fail(STATUS_FAILED, "%s holds no whole checkpoint; the oldest: %s", folder, last ? last : "");
    free(last);
    return status;
}

/* Loads the newest whole checkpoint of a folder. */
static enum status load_newest(const char *folder, void (*warn)(void *context, const char *sentence),
                               void *context, struct checkpoint *checkpoint)
{
    uint64_t *steps;
    size_t count;
    bool found = false;
    enum status status = checkpoint_folder_list(folder, &steps, &count);
    for (size_t n = 0; n < count && status == STATUS_OK && !found; n++) {
        char name[CHECKPOINT_NAME_LENGTH];
        checkpoint_name(steps[n], name);
        if (asprintf(&checkpoint->path, "%s/%s", folder, name) < 0) {
            checkpoint->path = NULL;
            status = status_fail(STATUS_FAILED, "no memory for the path of %s", name);
            break;
        }
        found = load(checkpoint) == STATUS_OK;
        if (!found) {
            warn(context, status_message());
            unload(checkpoint);
        }
    }
    free(steps);
    return status != STATUS_OK || found ? status : refuse_folder(folder, count);
}

static enum status find(const char *path, void (*warn)(void *context, const char *sentence), void *context,
                        struct checkpoint *checkpoint)
{
    struct stat found;
    if (stat(path, &found) == 0 && S_ISDIR(found.st_mode))
        return load_newest(path, warn, context, checkpoint);
    checkpoint->path = strdup(path);
    return checkpoint->path ? load(checkpoint)
                            : status_fail(STATUS_FAILED, "no memory for the path %s", path);
}

/* ---- from rank 0 to all ---- */

/* Sizes of what is shared. */
struct sizes {
    uint64_t path, first_rows, capacities, row_starts; /* bytes */
};

static struct sizes sizes_of(const struct checkpoint *checkpoint)
{
    const struct config *config = &checkpoint->config;
    const uint64_t ranks = (uint64_t)checkpoint->partition.ranks;
    return (struct sizes){strlen(checkpoint->path) + 1, (ranks + 1) * sizeof(uint32_t),
                          ranks * config->species_count * sizeof(uint64_t),
                          CHECKPOINT_LISTS * config->species_count * (config->grid.cells[0] + UINT64_C(1)) *
                              sizeof(uint64_t)};
}

static enum status allocate(const struct sizes *sizes, struct checkpoint *checkpoint)
{
    checkpoint->path = malloc(sizes->path);
    checkpoint->partition.first = malloc(sizes->first_rows);
    checkpoint->capacities = malloc(sizes->capacities);
    checkpoint->row_starts = malloc(sizes->row_starts);
    return checkpoint->path && checkpoint->partition.first && checkpoint->capacities && checkpoint->row_starts
               ? STATUS_OK
               : status_fail(STATUS_FAILED, "no memory to read a checkpoint");
}

static enum status share(const struct communicator *communicator, struct checkpoint *checkpoint)
{
    struct sizes sizes = {0};
    if (communicator->rank == 0)
        sizes = sizes_of(checkpoint);
    communicator_broadcast(communicator, sizeof sizes, &sizes);
    TRY(communicator_agree(communicator, communicator->rank == 0 ? STATUS_OK : allocate(&sizes, checkpoint)));
    communicator_broadcast(communicator, sizeof checkpoint->config, &checkpoint->config);
    communicator_broadcast(communicator, sizeof checkpoint->header, &checkpoint->header);
    communicator_broadcast(communicator, sizeof checkpoint->partition.ranks, &checkpoint->partition.ranks);
    communicator_broadcast(communicator, sizeof checkpoint->partition.rows, &checkpoint->partition.rows);
    communicator_broadcast(communicator, sizes.path, checkpoint->path);
    communicator_broadcast(communicator, sizes.first_rows, checkpoint->partition.first);
    communicator_broadcast(communicator, sizes.capacities, checkpoint->capacities);
    communicator_broadcast(communicator, sizes.row_starts, checkpoint->row_starts);
    return communicator_agree(communicator, communicator->rank == 0
                                                ? STATUS_OK
                                                : hdf5_source_open(checkpoint->path, &checkpoint->source));
}

enum status checkpoint_open(const struct communicator *communicator, const char *path,
                            void (*warn)(void *context, const char *sentence), void *context,
                            struct checkpoint **checkpoint)
{
    enum status status = STATUS_OK;
    *checkpoint = calloc(1, sizeof **checkpoint);
    if (*checkpoint)
        (*checkpoint)->source.id = H5I_INVALID_HID;
    else
        status = status_fail(STATUS_FAILED, "no memory to read a checkpoint");
    TRY_CLEANUP(communicator_agree(communicator, status));
    if (communicator->rank == 0)
        status = find(path, warn, context, *checkpoint);
    TRY_CLEANUP(communicator_agree(communicator, status));
    TRY_CLEANUP(share(communicator, *checkpoint));
    return STATUS_OK;

cleanup:
    checkpoint_close(checkpoint);
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
    memcpy(header->capacity, checkpoint->capacities + (size_t)rank * species, species * sizeof(uint64_t));
    return STATUS_OK;
}

enum status checkpoint_read_loads(struct checkpoint *checkpoint, uint64_t *loads)
{
    const uint32_t nx = checkpoint->config.grid.cells[0];
    memset(loads, 0, nx * sizeof *loads);
    for (uint32_t s = 0; s < checkpoint->config.species_count; s++) {
        for (unsigned which = 0; which < CHECKPOINT_LISTS; which++) {
            const uint64_t *starts = row_starts(checkpoint, s, which);
            for (uint32_t row = 0; row < nx; row++)
                loads[row] += starts[row + 1] - starts[row];
        }
    }
    return STATUS_OK;
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

static enum status allocate_list(const struct checkpoint *checkpoint, uint32_t species, uint32_t rows,
                                 struct host_list *list)
{
    const size_t cells = (size_t)rows * checkpoint->config.grid.cells[1];
    const size_t pair = 2 * precision_bytes(checkpoint->config.precision);
    const bool ids = checkpoint->config.species[species].ids;
    list->cell_counts = malloc((cells + 1) * sizeof *list->cell_counts);
    list->offset = malloc((list->count + 1) * pair);
    list->velocity = malloc((list->count + 1) * pair);
    list->id = ids ? malloc((list->count + 1) * sizeof *list->id) : NULL;
    return list->cell_counts && list->offset && list->velocity && (!ids || list->id) ? STATUS_OK
                                                                                     : no_memory(checkpoint);
}

static enum status read_particles(const struct checkpoint *checkpoint, uint32_t species, unsigned which,
                                  uint64_t first, const struct host_list *list)
{
    const uint32_t nx = checkpoint->config.grid.cells[0];
    const uint64_t total = row_starts(checkpoint, species, which)[nx];
    const struct hdf5_rows pairs = {
        checkpoint_real(checkpoint->config.precision), 2, {total, 2}, first, list->count};
    const struct hdf5_rows ids = {H5T_NATIVE_UINT64, 1, {total, 0}, first, list->count};
    char name[NAME_LENGTH];
    name_array(checkpoint, species, which, "offset", name);
    TRY(hdf5_read_rows(&checkpoint->source, name, &pairs, list->offset));
    name_array(checkpoint, species, which, "velocity", name);
    TRY(hdf5_read_rows(&checkpoint->source, name, &pairs, list->velocity));
    name_array(checkpoint, species, which, "id", name);
    return list->id ? hdf5_read_rows(&checkpoint->source, name, &ids, list->id) : STATUS_OK;
}

/* Kernels find their memory by what these numbers say. */
static enum status check_particles(const struct checkpoint *checkpoint, size_t cells,
                                   const struct host_list *list)
{
    const bool is_single = checkpoint->config.precision == PRECISION_SINGLE;
    uint64_t count = 0;
    for (size_t cell = 0; cell < cells; cell++)
        count += list->cell_counts[cell];
    bool possible = count == list->count;
    for (uint64_t n = 0; n < 2 * list->count && possible; n++) {
        const double offset =
            is_single ? (double)((const float *)list->offset)[n] : ((const double *)list->offset)[n];
        const double velocity =
            is_single ? (double)((const float *)list->velocity)[n] : ((const double *)list->velocity)[n];
        possible = checkpoint_is_offset(offset) && isfinite(velocity);
    }
    return possible ? STATUS_OK : impossible(checkpoint, "a particle is nowhere, or of no finite velocity");
}

enum status checkpoint_read_list(struct checkpoint *checkpoint, uint32_t species, enum checkpoint_list which,
                                 uint32_t first_row, uint32_t rows, struct host_list *list)
{
    enum status status;
    const uint64_t *starts = row_starts(checkpoint, species, which);
    *list = (struct host_list){.count = starts[first_row + rows] - starts[first_row]};
    TRY_CLEANUP(allocate_list(checkpoint, species, rows, list));
    TRY_CLEANUP(read_cell_counts(checkpoint, species, which, first_row, rows, list->cell_counts));
    TRY_CLEANUP(read_particles(checkpoint, species, which, starts[first_row], list));
    TRY_CLEANUP(check_particles(checkpoint, (size_t)rows * checkpoint->config.grid.cells[1], list));
    return STATUS_OK;

cleanup:
    host_list_free(list);
    return status;
}

void host_list_free(struct host_list *list)
{
    free(list->cell_counts);
    free(list->offset);
    free(list->velocity);
    free(list->id);
    *list = (struct host_list){0};
}
