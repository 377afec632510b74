/* Checkpoint, reading: each rank opens the file, holds its parts against each other and reads its own rows.
 * To close what could not be opened does nothing. */
#include "input/checkpoint.h"

#include "base/pool.h"
#include "base/text.h"
#include "config/config_reader.h"
#include "folder/checkpoint_seal.h"
#include "folder/digest.h"
#include "hdf5/hdf5_write.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_CONFIG_BYTES = 1 << 20, NAME_LENGTH = 160, MOST_GHOST = 16384 + 1 };

static enum status no_memory(const struct checkpoint *checkpoint)
{
    return status_fail(STATUS_FAILED, "%s: no memory to read it", checkpoint->path);
}

static enum status impossible(const struct checkpoint *checkpoint, const char *what)
{
    return status_fail(STATUS_FAILED, "%s holds an impossible state: %s", checkpoint->path, what);
}

/* ---- what is in the file beside the particles ---- */

static enum status read_numbers(struct checkpoint *checkpoint, uint32_t *ranks)
{
    uint32_t version = 0;
    TRY(hdf5_read_number(&checkpoint->source, "version", H5T_NATIVE_UINT32, &version));
    if (version != CHECKPOINT_VERSION)
        return impossible(checkpoint, "its version is not that of its first block");
    TRY(hdf5_read_number(&checkpoint->source, "run", H5T_NATIVE_UINT64, &checkpoint->run));
    TRY(hdf5_read_number(&checkpoint->source, "step", H5T_NATIVE_UINT64, &checkpoint->step));
    TRY(hdf5_read_number(&checkpoint->source, "first_energy", H5T_NATIVE_DOUBLE, &checkpoint->first_energy));
    TRY(hdf5_read_number(&checkpoint->source, "ranks", H5T_NATIVE_UINT32, ranks));
    if (H5Aexists(checkpoint->source.file, "kernelsDigest") > 0)
        TRY(hdf5_read_number(&checkpoint->source, "kernelsDigest", H5T_NATIVE_UINT64, &checkpoint->kernels));
    return hdf5_read_number(&checkpoint->source, "ghost", H5T_NATIVE_UINT32, &checkpoint->ghost);
}

/* Checks numbers that no array confirms. The first energy is set once the row of step 0 is written. */
static enum status check_numbers(const struct checkpoint *checkpoint, uint32_t ranks)
{
    const struct config *config = &checkpoint->config;
    if (checkpoint->step > config->time.steps)
        return impossible(checkpoint, "its step is beyond the last of its config");
    if (checkpoint->step > 0 && !(checkpoint->first_energy >= 0 && isfinite(checkpoint->first_energy)))
        return impossible(checkpoint, "its first energy is negative or non-finite");
    if (!isfinite(checkpoint->drive_work))
        return impossible(checkpoint, "the work of its drives is non-finite");
    for (uint32_t s = 0; s < config->species_count; s++)
        if (!isfinite(checkpoint->work[s]))
            return impossible(checkpoint, "the work of its external fields is non-finite");
    const bool is_whole = ranks == 1 && checkpoint->ghost == 0;
    if (!is_whole && (checkpoint->ghost < SLAB_LEAST_GHOST || checkpoint->ghost > MOST_GHOST))
        return impossible(checkpoint, "it has an impossible number of ghost rows");
    return STATUS_OK;
}

static enum status read_config(struct checkpoint *checkpoint)
{
    /* An earlier version had another method, too, from which a run goes on up to round-off. */
    static const char *const method = "deposit.method=sorted";
    uint64_t shape[2];
    TRY(hdf5_read_shape(&checkpoint->source, "config", shape));
    const uint64_t length = shape[0];
    if (shape[1] != 0 || length > MOST_CONFIG_BYTES)
        return impossible(checkpoint, "its config is too long");
    char *text = calloc(length + 1, 1);
    if (!text)
        return no_memory(checkpoint);
    const struct hdf5_rows all = {H5T_NATIVE_UINT8, {length}, 0, length};
    enum status status = hdf5_read_rows(&checkpoint->source, "config", &all, text);
    TRY_IF_OK(config_read_text(checkpoint->path, text, length, &method, 1, &checkpoint->config));
    free(text);
    if (status == STATUS_OK)
        return status;
    return status_fail_lines(STATUS_FAILED, "a checkpoint is broken: its config cannot be read: %s",
                             status_message());
}

static enum status read_partition(struct checkpoint *checkpoint, uint32_t ranks)
{
    const uint32_t rows = checkpoint->config.grid.cells[0];
    if (ranks == 0 || ranks > rows)
        return impossible(checkpoint, "it has no rows for so many ranks");
    const struct hdf5_rows ends = {H5T_NATIVE_UINT32, {ranks + UINT64_C(1)}, 0, ranks + UINT64_C(1)};
    uint32_t *first = calloc(ends.rows, sizeof *first);
    if (!first)
        return no_memory(checkpoint);
    checkpoint->partition = (struct partition){(int)ranks, rows, first};
    TRY(hdf5_read_rows(&checkpoint->source, "first_rows", &ends, first));
    bool ordered = first[0] == 0 && first[ranks] == rows;
    for (uint32_t rank = 0; rank < ranks && ordered; rank++)
        ordered = first[rank] < first[rank + 1];
    return ordered ? STATUS_OK : impossible(checkpoint, "its ranks do not have the rows of the grid");
}

static enum status read_array(const struct checkpoint *checkpoint, uint32_t species, const char *array,
                              const struct hdf5_rows *rows, void *values)
{
    char name[NAME_LENGTH];
    snprintf(name, sizeof name, "/particles/%s/%s", checkpoint->config.species[species].name, array);
    return hdf5_read_rows(&checkpoint->source, name, rows, values);
}

uint64_t checkpoint_row_start(const struct checkpoint *checkpoint, uint32_t species, uint32_t row)
{
    return checkpoint->row_starts[species * (checkpoint->config.grid.cells[0] + (size_t)1) + row];
}

/* Reads the facts of the file that a species began with: limits follow from its speeds, and log and outputs
 * name its digest. */
static enum status read_facts(struct checkpoint *checkpoint, uint32_t species)
{
    struct species_facts *facts = &checkpoint->config.species[species].read.facts;
    const struct hdf5_rows all = {H5T_NATIVE_UINT64, {SPECIES_FACTS}, 0, SPECIES_FACTS};
    TRY(read_array(checkpoint, species, "file", &all, facts));
    bool are_finite = isfinite(facts->density);
    for (int axis = 0; axis < 3; axis++)
        are_finite &= isfinite(facts->mean[axis]) && isfinite(facts->thermal[axis]);
    return are_finite ? STATUS_OK
                      : impossible(checkpoint, "a number of a file that a species began with is non-finite");
}

/* Reads no particle, but checks that all are there, and that the lists of the ranks could hold them. */
static enum status read_species(struct checkpoint *checkpoint, uint32_t species)
{
    const struct config *config = &checkpoint->config;
    const struct partition *partition = &checkpoint->partition;
    const uint32_t nx = config->grid.cells[0];
    const struct hdf5_rows counts = {H5T_NATIVE_UINT64, {nx}, 0, nx};
    uint64_t *starts = checkpoint->row_starts + species * (nx + (size_t)1);
    uint64_t missing = config->species[species].particles;
    TRY(read_array(checkpoint, species, "row_counts", &counts, starts + 1));
    for (uint32_t row = 0; row < nx; row++) {
        if (starts[row + 1] > missing)
            return impossible(checkpoint, "it has more or fewer particles than its config");
        missing -= starts[row + 1];
        starts[row + 1] += starts[row];
    }
    if (missing != 0 || starts[nx] != config->species[species].particles)
        return impossible(checkpoint, "it has more or fewer particles than its config");
    if (species_file(&config->species[species])[0])
        TRY(read_facts(checkpoint, species));
    for (int rank = 0; rank < partition->ranks; rank++)
        if (checkpoint->capacities[(size_t)rank * config->species_count + species] <
            starts[partition->first[rank + 1]] - starts[partition->first[rank]])
            return impossible(checkpoint, "a rank has more particles than its list can hold");
    for (enum attribute a = 0; a < ATTRIBUTES; a++)
        if (attribute_present(&config->species[species], a))
            TRY(checkpoint_read_attribute(checkpoint, species, a, 0, 0, NULL));
    return STATUS_OK;
}

static enum status load(struct checkpoint *checkpoint)
{
    const struct config *config = &checkpoint->config;
    uint32_t ranks = 0;
    TRY(hdf5_source_open(checkpoint->path, STATUS_FAILED, &checkpoint->source));
    TRY(read_numbers(checkpoint, &ranks));
    TRY(read_config(checkpoint));
    if (config->fields.drive_count > 0)
        TRY(hdf5_read_number(&checkpoint->source, "drive_work", H5T_NATIVE_DOUBLE, &checkpoint->drive_work));
    for (int n = 0; n < FIELD_GROUPS; n++)
        if (config->fields.file[n].path[0])
            TRY(hdf5_read_number(&checkpoint->source, field_groups[n].digest, H5T_NATIVE_UINT64,
                                 &checkpoint->config.fields.file[n].digest));
    const struct hdf5_rows works = {H5T_NATIVE_DOUBLE, {config->species_count}, 0, config->species_count};
    if (config->output.history.work)
        TRY(hdf5_read_rows(&checkpoint->source, "external_work", &works, checkpoint->work));
    TRY(check_numbers(checkpoint, ranks));
    TRY(read_partition(checkpoint, ranks));
    const struct hdf5_rows capacities = {H5T_NATIVE_UINT32, {ranks, config->species_count}, 0, ranks};
    checkpoint->capacities = calloc((size_t)ranks * config->species_count, sizeof *checkpoint->capacities);
    checkpoint->row_starts =
        calloc(config->species_count * (config->grid.cells[0] + (size_t)1), sizeof *checkpoint->row_starts);
    if (!checkpoint->capacities || !checkpoint->row_starts)
        return no_memory(checkpoint);
    TRY(hdf5_read_rows(&checkpoint->source, "capacities", &capacities, checkpoint->capacities));
    for (uint32_t s = 0; s < config->species_count; s++)
        TRY(read_species(checkpoint, s));
    return STATUS_OK;
}

enum status checkpoint_open(const struct communicator *communicator, const char *path, bool is_whole,
                            struct checkpoint **result)
{
    bool is_damaged;
    uint64_t digest;
    struct checkpoint *checkpoint = *result = calloc(1, sizeof *checkpoint);
    enum status status =
        checkpoint ? STATUS_OK : status_fail(STATUS_FAILED, "no memory to read a checkpoint");
    if (checkpoint)
        checkpoint->source.file = H5I_INVALID_HID;
    TRY_CLEANUP(communicator_agree(communicator, status));
    snprintf(checkpoint->path, sizeof checkpoint->path, "%s", path);
    if (communicator->rank == 0 && !is_whole)
        status = checkpoint_seal_check(path, true, &is_damaged);
    TRY_CLEANUP(communicator_agree(communicator, status));
    TRY_CLEANUP(digest_require_same(communicator, checkpoint->path, CHECKPOINT_BLOCK, &digest));
    TRY_CLEANUP(communicator_agree(communicator, load(checkpoint)));
    return STATUS_OK;

cleanup:
    checkpoint_close(result);
    return status;
}

void checkpoint_close(struct checkpoint **checkpoint)
{
    struct checkpoint *own = *checkpoint;
    if (!own)
        return;
    hdf5_source_close(&own->source);
    partition_destroy(&own->partition);
    config_free(&own->config);
    free(own->capacities);
    free(own->row_starts);
    free(own->warnings);
    free(own);
    *checkpoint = NULL;
}

/* ---- against another config ---- */

/* Keys that shape neither the physics nor the state; of a file that is read again its digest stays. */
static const char *const may_differ[] = {
    "title",    "device",      "time.check_every",     "fields.transforms",
    "sort",     "output",      "time.steps",           "fields.decomposition",
    "parallel", "step.method", "fields.external.file", NULL};

/* Probes that have a name as before have their place as before. */
static enum status require_same_places(const char *path, const struct output_config *old,
                                       const struct output_config *output)
{
    for (uint32_t n = 0; n < old->probe_count; n++)
        for (uint32_t m = 0; m < output->probe_count; m++) {
            const struct probe_config *before = &old->probes[n], *now = &output->probes[m];
            if (strcmp(before->name, now->name) == 0 &&
                (before->at[0] != now->at[0] || before->at[1] != now->at[1]))
                return status_fail(STATUS_USAGE,
                                   "output.probes.%s.at: the checkpoint has [%.17g, %.17g], the config "
                                   "[%.17g, %.17g]; a run that goes on from %s must not change it",
                                   now->name, before->at[0], before->at[1], now->at[0], now->at[1], path);
        }
    return STATUS_OK;
}

enum status checkpoint_require_same(const char *path, const struct config *old, const struct config *config)
{
    char *shown = text_escaped(path, false), rule[PATH_MAX + 64];
    snprintf(rule, sizeof rule, "a run that goes on from %s must not change", shown ? shown : "it");
    free(shown);
    TRY(config_require_same((const struct config *const[]){old, config},
                            (const char *const[]){"the checkpoint", "the config"}, may_differ, rule));
    if (config->output.history.work && !old->output.history.work)
        return status_fail(STATUS_USAGE,
                           "output.history.work: the checkpoint has false, the config true; a run that goes "
                           "on from %s has no sums to add to",
                           path);
    return require_same_places(path, &old->output, &config->output);
}

/* ---- lists: kernels find their memory by what these numbers say ---- */

static const char bad_particle[] = "a particle is nowhere, or of no finite velocity";

enum status checkpoint_read_cells(const struct checkpoint *checkpoint, uint32_t species, uint32_t first_row,
                                  uint32_t rows, uint32_t *counts)
{
    const uint32_t *cells = checkpoint->config.grid.cells;
    const struct hdf5_rows own = {H5T_NATIVE_UINT32, {cells[0], cells[1]}, first_row, rows};
    uint64_t sum = checkpoint_row_start(checkpoint, species, first_row);
    TRY(read_array(checkpoint, species, "cell_counts", &own, counts));
    for (size_t cell = 0; cell < (size_t)rows * cells[1]; cell++)
        sum += counts[cell];
    return sum == checkpoint_row_start(checkpoint, species, first_row + rows)
               ? STATUS_OK
               : impossible(checkpoint, bad_particle);
}

struct numbers {
    enum attribute attribute;
    enum precision precision;
    uint64_t count;
    const void *values;
};

/* STATUS_FAILED, without a sentence, where the attribute does not accept a number; the caller has the
 * sentence. */
static enum status check_piece(void *context, size_t n, void *scratch)
{
    const struct numbers *numbers = context;
    const uint64_t begin = n * (uint64_t)HDF5_PIECE, left = numbers->count - begin;
    const uint64_t end = begin + (left < HDF5_PIECE ? left : HDF5_PIECE);
    (void)scratch;
    for (uint64_t k = begin; k < end; k++)
        if (!attribute_accepts(numbers->attribute, load_real(numbers->precision, numbers->values, k)))
            return STATUS_FAILED;
    return STATUS_OK;
}

enum status checkpoint_read_attribute(const struct checkpoint *checkpoint, uint32_t species, enum attribute a,
                                      uint32_t first_row, uint32_t rows, void *values)
{
    const uint64_t first = checkpoint_row_start(checkpoint, species, first_row);
    const uint64_t count = checkpoint_row_start(checkpoint, species, first_row + rows) - first;
    const struct config *config = &checkpoint->config;
    const struct hdf5_rows own = {hdf5_native(hdf5_number(config->precision, attribute_table[a].is_real)),
                                  {config->species[species].particles, attribute_table[a].components},
                                  first,
                                  count};
    struct numbers numbers = {a, config->precision, attribute_table[a].components * count, values};
    const struct pool_work work = {.make = check_piece, .context = &numbers};
    TRY(read_array(checkpoint, species, attribute_table[a].name, &own, values));
    return attribute_table[a].is_real && pool_run(&work, hdf5_pieces(numbers.count)) != STATUS_OK
               ? impossible(checkpoint, bad_particle)
               : STATUS_OK;
}

enum status checkpoint_read_waves(const struct checkpoint *checkpoint, struct waves *waves)
{
    const struct config *config = &checkpoint->config;
    const enum precision precision = config->precision;
    const size_t real = precision_bytes(precision), bytes = buffer_bytes(waves->modes);
    const struct hdf5_rows own = {hdf5_native(hdf5_real(precision)),
                                  {config->grid.cells[1] / 2 + 1, 2 * WAVE_COMPONENTS * (uint64_t)waves->nx},
                                  waves->first_column,
                                  waves->columns};
    const uint64_t count = own.shape[1] * waves->columns;
    char *values = malloc(count * real + 1), *modes = calloc(1, bytes);
    enum status status = values && modes
                             ? hdf5_read_rows(&checkpoint->source, "waves", &own, values)
                             : status_fail(STATUS_FAILED, "no memory for the waves of the fields");
    for (uint64_t n = 0; n < count && status == STATUS_OK; n++) {
        memcpy(modes + real * waves_place(waves, n), values + n * real, real);
        if (!isfinite(load_real(precision, values, n)))
            status = impossible(checkpoint, "a wave of its fields is non-finite");
    }
    TRY_IF_OK(buffer_write(waves->modes, 0, bytes, modes));
    waves->step = checkpoint->step;
    free(modes);
    free(values);
    return status;
}
