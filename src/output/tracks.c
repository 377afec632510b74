/* Tracks: the paths of particles chosen by their ids (output.tracks), as openPMD files. Every rank finds
 * those that it has in its list; what all ranks have, added, is a sample. Samples wait in memory for a file:
 * the file of a checkpoint's step holds all before, so a run that goes on from there lacks none. */
#include "base/below.h"
#include "base/integers.h"
#include "output/openpmd.h"
#include "output/outputs.h"

#include <stdlib.h>
#include <string.h>

enum {
    FILTER_BITS = 1 << 16,
    WORD = 32,
    MOST_SAMPLES = 1 << 18, /* of all tracks, that wait */
    VALUES = VALUE_WEIGHT
};
#define NOWHERE UINT32_MAX

struct tracks {
    const struct config *config; /* not owned */
    uint32_t species, count;     /* of tracks */
    uint64_t first_id;           /* of the species */
    uint64_t *ids;               /* [count], appended, in the species */
    struct kernel *find, *copy;
    struct buffer *wanted, *filter, *place, *values;
    double *sample;  /* [count][VALUES] */
    uint32_t most;   /* samples of all tracks that may wait */
    uint32_t rows;   /* that wait */
    double *waiting; /* [most][count][VALUES] */
    double *times;   /* [most] */
};

static uint32_t count_of(const struct tracks_config *config)
{
    return config->id_count > 0 ? config->id_count : config->count;
}

/* Samples of each track in the largest file: that fill the memory, or the whole run. */
static uint32_t most_rows(const struct config *config)
{
    const uint64_t most = at_least(MOST_SAMPLES / count_of(&config->output.tracks), 1);
    return (uint32_t)at_most(outputs_times_due(config, config->output.tracks.every), most);
}

ASCENDING(ascending, uint64_t)

static enum status create_tracks(struct device *device, const struct config *config, void **part)
{
    const struct tracks_config *output = &config->output.tracks;
    const size_t count = count_of(output), real = precision_bytes(config->precision);
    struct tracks *tracks;
    struct program *program = NULL;
    uint32_t filter[FILTER_BITS / WORD] = {0};
    TRY(DEVICE_NEW(device, tracks));
    *part = tracks;
    tracks->config = config;
    tracks->count = count_of(output);
    while (strcmp(config->species[tracks->species].name, output->species) != 0)
        tracks->first_id += config->species[tracks->species++].particles;
    tracks->most = most_rows(config);
    TRY(DEVICE_NEW_ARRAY(device, tracks->ids, tracks->count));
    TRY(DEVICE_NEW_ARRAY(device, tracks->sample, VALUES * tracks->count));
    TRY(DEVICE_NEW_ARRAY(device, tracks->waiting, (size_t)VALUES * tracks->count * tracks->most));
    TRY(DEVICE_NEW_ARRAY(device, tracks->times, tracks->most));
    const double particles = (double)config->species[tracks->species].particles;
    for (uint32_t k = 0; k < tracks->count; k++)
        tracks->ids[k] = output->id_count > 0 ? output->ids[k] - tracks->first_id
                                              : (uint64_t)(particles * k / tracks->count);
    qsort(tracks->ids, tracks->count, sizeof *tracks->ids, ascending);
    for (uint32_t k = 0; k < tracks->count; k++) {
        const uint32_t bit = (uint32_t)(tracks->ids[k] % FILTER_BITS);
        filter[bit / WORD] |= UINT32_C(1) << bit % WORD;
    }
    TRY(program_build(device, "tracks.cl", config->precision, &program, "-D FILTER_BITS=%d", FILTER_BITS));
    TRY(kernel_create(program, "tracks_find", &tracks->find));
    TRY(kernel_create(program, "tracks_copy", &tracks->copy));
    TRY(buffer_create_with(device, count * sizeof *tracks->ids, "the ids of tracks", tracks->ids,
                           &tracks->wanted));
    TRY(buffer_create_with(device, sizeof filter, "the filter of ids", filter, &tracks->filter));
    TRY(buffer_create(device, count * sizeof(uint32_t), "the places of tracks", &tracks->place));
    return buffer_create(device, count * VALUES * real, "a sample of tracks", &tracks->values);
}

/* ---- a sample ---- */

/* The values of this rank's particles, 0 for the others. */
static enum status copy_sample(struct tracks *tracks, const struct view *view)
{
    const struct particles *list = &view->particles[tracks->species];
    const uint32_t cells = slab_own_cells(view->slab), ny = view->slab->box.ny;
    memset(tracks->sample, 0, VALUES * tracks->count * sizeof *tracks->sample);
    if (list->count == 0)
        return STATUS_OK;
    TRY(buffer_fill(tracks->place, NOWHERE));
    TRY(buffer_fill(tracks->values, 0));
    TRY(KERNEL_LAUNCH(tracks->find, launch_flat(list->count, STAGE_OUTPUT, list->count * sizeof *tracks->ids),
                      list->attribute[ATTRIBUTE_ID], list->count, tracks->filter, tracks->wanted,
                      tracks->count, tracks->place));
    TRY(KERNEL_LAUNCH(tracks->copy, launch_flat(tracks->count, STAGE_OUTPUT, 0),
                      list->attribute[ATTRIBUTE_OFFSET], particles_stride(list, ATTRIBUTE_OFFSET),
                      particles_first(list, ATTRIBUTE_OFFSET), list->attribute[ATTRIBUTE_VELOCITY],
                      particles_stride(list, ATTRIBUTE_VELOCITY), particles_first(list, ATTRIBUTE_VELOCITY),
                      particles_w(list), species_has_w(list->species), list->cell_offsets, cells, ny,
                      tracks->place, tracks->count, tracks->values));
    return buffer_read_reals(tracks->values, list->precision, 0, VALUES * (size_t)tracks->count,
                             tracks->sample);
}

/* Whether the file of the checkpoint that the run goes on from has the sample of its first step already. */
static bool has_sample(const struct view *view)
{
    char name[STEP_FILES_NAME];
    struct stat found;
    uint64_t has = 0;
    if (view->step != view->first_step || view->step == 0)
        return false;
    if (view->communicator->rank == 0)
        has = in_folder_look(view->folder->descriptor, step_files_name(&tracks_files, view->step, name),
                             &found);
    communicator_broadcast(view->communicator, sizeof has, &has);
    return has != 0;
}

/* Collective. */
static enum status add_sample(void *part, const struct view *view)
{
    struct tracks *tracks = part;
    const size_t count = VALUES * (size_t)tracks->count;
    if (has_sample(view))
        return STATUS_OK;
    TRY(communicator_agree(view->communicator, copy_sample(tracks, view)));
    for (double *track = tracks->sample; track < tracks->sample + count; track += VALUES)
        track[0] = track[0] > 0 ? slab_global_row(view->slab, (uint32_t)track[0] - 1) : 0;
    communicator_sum(view->communicator, count, tracks->sample);
    memcpy(tracks->waiting + tracks->rows * count, tracks->sample, count * sizeof *tracks->sample);
    tracks->times[tracks->rows++] = view->time;
    return STATUS_OK;
}

static bool wants_file(void *part, const struct view *view, bool checkpoint)
{
    const struct tracks *tracks = part;
    const bool is_last = view->step >= view->config->time.steps;
    return tracks && tracks->rows > 0 && (checkpoint || is_last || tracks->rows == tracks->most);
}

/* ---- the file: one path after the other, each in the order of time ---- */

/* Sample n % rows of track n / rows. */
struct paths {
    uint32_t count, rows;
    uint64_t first_id, *ids;
    double *values, *times;
};

static void read_paths(const void *source, enum particle_value value, uint64_t first, size_t count,
                       double *values)
{
    const struct paths *paths = source;
    for (size_t n = 0; n < count; n++) {
        const uint64_t track = (first + n) / paths->rows, row = (first + n) % paths->rows;
        values[n] = paths->values[(row * paths->count + track) * VALUES + value];
    }
}

static enum status fill_id(const void *source, uint64_t first, size_t count, void *values)
{
    const struct paths *paths = source;
    for (size_t n = 0; n < count; n++)
        ((uint64_t *)values)[n] = paths->first_id + paths->ids[(first + n) / paths->rows];
    return STATUS_OK;
}

static enum status fill_time(const void *source, uint64_t first, size_t count, void *values)
{
    const struct paths *paths = source;
    for (size_t n = 0; n < count; n++)
        ((double *)values)[n] = paths->times[(first + n) % paths->rows];
    return STATUS_OK;
}

/* Rank 0 writes all. A patch for each path. */
static void write_paths(struct openpmd *openpmd, const struct paths *paths, const struct particles *list)
{
    static const char of_track[] = "the particle's id, as in snapshots; a patch is the path of one particle";
    static const char of_time[] = "of each sample: the particle's position is of that time";
    const struct grid *box = &openpmd->view->slab->box;
    const bool is_first = openpmd->view->communicator->rank == 0;
    const uint64_t count = paths->count, all = count * paths->rows;
    const struct particle_record more[] = {
        {{"track", {0}, {1}, {paths}, fill_id, HDF5_UINT64, 0, of_track}, 0, 0, 0},
        {{"time", {0, 0, 1}, {openpmd->units.time}, {paths}, fill_time, HDF5_DOUBLE, 0, of_time}, 0, 0, 0}};
    uint64_t *numbers = hdf5_file_keep(openpmd->file, 2 * count * sizeof *numbers);
    double *bounds = hdf5_file_keep(openpmd->file, 3 * count * sizeof *bounds);
    if (!numbers || !bounds)
        return;
    for (uint32_t k = 0; k < count; k++) {
        numbers[k] = paths->rows;
        numbers[count + k] = (uint64_t)paths->rows * k;
        bounds[k] = 0;
        bounds[count + k] = box->nx;
        bounds[2 * count + k] = box->ny;
    }
    openpmd_write_particles(openpmd,
                            &(struct openpmd_particles){
                                .species = list->species,
                                .precision = PRECISION_DOUBLE,
                                .weight = list->weight,
                                .read = read_paths,
                                .source = paths,
                                .part = {.dimensions = 1, .shape = {all}, .count = is_first ? all : 0},
                                .patches = {.dimensions = 1, .shape = {count}, .count = is_first ? count : 0},
                                .counts = numbers,
                                .before = numbers + count,
                                .low = {bounds, bounds},
                                .extent = {bounds + count, bounds + 2 * count},
                                .more = more,
                                .more_count = sizeof more / sizeof more[0]});
}

static void record_tracks(void *part, struct hdf5_file *file, const struct view *view)
{
    struct tracks *tracks = part;
    const struct tracks_config *output = &view->config->output.tracks;
    struct openpmd openpmd = openpmd_begin(file, view, tracks_files.prefix, OPENPMD_BASE);
    struct paths paths = {.count = count_of(output), .rows = most_rows(view->config)};
    if (tracks) {
        const size_t values = VALUES * (size_t)tracks->count * tracks->rows;
        paths.rows = tracks->rows;
        paths.first_id = tracks->first_id;
        paths.ids = hdf5_file_keep_copy(file, tracks->count * sizeof *tracks->ids, tracks->ids);
        paths.values = hdf5_file_keep_copy(file, values * sizeof *tracks->waiting, tracks->waiting);
        paths.times = hdf5_file_keep_copy(file, tracks->rows * sizeof *tracks->times, tracks->times);
        tracks->rows = 0;
    }
    const struct paths *kept = hdf5_file_keep_copy(file, sizeof paths, &paths);
    if (kept)
        write_paths(&openpmd, kept, &view->particles[species_find(view->config, output->species)]);
}

static void print_size(const struct config *config)
{
    const struct tracks_config *output = &config->output.tracks;
    if (output->every > 0)
        printf("tracks                    %llu samples of %u, at most %.3g MB a file before compression\n",
               (unsigned long long)outputs_times_due(config, output->every), count_of(output),
               1e-6 * (double)outputs_size(&tracks_output, config).bytes);
}

const struct output_row tracks_output = {.name = "tracks",
                                         .files = &tracks_files,
                                         .cheaper_by = "a larger output.tracks.every",
                                         .every = offsetof(struct config, output.tracks.every),
                                         .create = create_tracks,
                                         .write = add_sample,
                                         .wants_file = wants_file,
                                         .record = record_tracks,
                                         .print_size = print_size};
