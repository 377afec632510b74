/* Tracks: the paths of chosen particles (output.tracks), as openPMD files. Every rank finds those that it has
 * in its list; what all ranks have, added, is a sample. Samples wait in memory for a file: the file of a
 * checkpoint's step holds all before, so a run that goes on from there lacks none. */
#include "base/below.h"
#include "base/integers.h"
#include "output/followed.h"
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

/* A particle at one time. */
struct place {
    uint64_t id;
    uint32_t row;          /* number of the time */
    double values[VALUES]; /* the first one: 0 until its rank is found */
};

struct tracks {
    const struct config *config; /* not owned */
    uint64_t first_id;           /* of the species */
    struct followed followed;
    struct kernel *find, *copy;
    struct buffer *wanted, *filter, *place, *values;
    double *sample; /* [followed.most][VALUES] */
    uint32_t most;  /* samples of all tracks that may wait */
    uint32_t rows;  /* that wait */
    size_t places;
    struct place *waiting; /* [places], of at most `most` times followed.most */
    double *times;         /* [most] */
};

/* Samples of each track in the largest file: that fill the memory, or the whole run. */
static uint32_t most_rows(const struct config *config)
{
    const struct tracks_config *tracks = &config->output.tracks;
    const uint64_t most = at_least(MOST_SAMPLES / followed_most(tracks), 1);
    return (uint32_t)at_most(outputs_times_due(config, tracks->every), most);
}

/* Tells the device which ids are followed. */
static enum status set_wanted(struct tracks *tracks)
{
    const struct followed *followed = &tracks->followed;
    uint32_t filter[FILTER_BITS / WORD] = {0};
    for (uint32_t k = 0; k < followed->count; k++) {
        const uint32_t bit = (uint32_t)(followed->ids[k] % FILTER_BITS);
        filter[bit / WORD] |= UINT32_C(1) << bit % WORD;
    }
    TRY(buffer_write(tracks->filter, 0, sizeof filter, filter));
    return buffer_write(tracks->wanted, 0, followed->count * sizeof *followed->ids, followed->ids);
}

static enum status create_tracks(struct device *device, const struct config *config, void **part)
{
    const size_t real = precision_bytes(config->precision);
    struct tracks *tracks;
    struct program *program = NULL;
    TRY(DEVICE_NEW(device, tracks));
    *part = tracks;
    tracks->config = config;
    TRY(followed_create(device, config, &tracks->followed));
    const size_t most = tracks->followed.most;
    for (uint32_t s = 0; s < tracks->followed.species; s++)
        tracks->first_id += config->species[s].particles;
    tracks->most = most_rows(config);
    TRY(DEVICE_NEW_ARRAY(device, tracks->sample, VALUES * most));
    TRY(DEVICE_NEW_ARRAY(device, tracks->waiting, most * tracks->most));
    TRY(DEVICE_NEW_ARRAY(device, tracks->times, tracks->most));
    TRY(program_build(device, "tracks.cl", config->precision, &program, "-D FILTER_BITS=%d", FILTER_BITS));
    TRY(kernel_create(program, "tracks_find", &tracks->find));
    TRY(kernel_create(program, "tracks_copy", &tracks->copy));
    TRY(buffer_create(device, most * sizeof(uint64_t), "the ids of tracks", &tracks->wanted));
    TRY(buffer_create(device, FILTER_BITS / 8, "the filter of ids", &tracks->filter));
    TRY(buffer_create(device, most * sizeof(uint32_t), "the places of tracks", &tracks->place));
    TRY(buffer_create(device, most * VALUES * real, "a sample of tracks", &tracks->values));
    return set_wanted(tracks);
}

/* ---- a sample ---- */

/* The values of this rank's particles, 0 for the others. */
static enum status copy_sample(struct tracks *tracks, const struct view *view)
{
    const struct particles *list = &view->particles[tracks->followed.species];
    const uint32_t cells = slab_own_cells(view->slab), ny = view->slab->box.ny;
    const uint32_t count = tracks->followed.count;
    memset(tracks->sample, 0, VALUES * count * sizeof *tracks->sample);
    if (list->count == 0 || count == 0)
        return STATUS_OK;
    if (tracks->followed.selection)
        TRY(set_wanted(tracks));
    TRY(buffer_fill(tracks->place, NOWHERE));
    TRY(buffer_fill(tracks->values, 0));
    TRY(KERNEL_LAUNCH(tracks->find, launch_flat(list->count, STAGE_OUTPUT, list->count * sizeof(uint64_t)),
                      list->attribute[ATTRIBUTE_ID], list->count, tracks->filter, tracks->wanted, count,
                      tracks->place));
    TRY(KERNEL_LAUNCH(tracks->copy, launch_flat(count, STAGE_OUTPUT, 0), list->attribute[ATTRIBUTE_OFFSET],
                      particles_stride(list, ATTRIBUTE_OFFSET), particles_first(list, ATTRIBUTE_OFFSET),
                      list->attribute[ATTRIBUTE_VELOCITY], particles_stride(list, ATTRIBUTE_VELOCITY),
                      particles_first(list, ATTRIBUTE_VELOCITY), particles_w(list),
                      species_has_w(list->species), list->cell_offsets, cells, ny, tracks->place, count,
                      tracks->values));
    return buffer_read_reals(tracks->values, list->precision, 0, VALUES * (size_t)count, tracks->sample);
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
    if (has_sample(view))
        return STATUS_OK;
    TRY(followed_choose(&tracks->followed, view));
    TRY(communicator_agree(view->communicator, copy_sample(tracks, view)));
    const size_t count = VALUES * (size_t)tracks->followed.count;
    for (double *track = tracks->sample; track < tracks->sample + count; track += VALUES)
        track[0] = track[0] > 0 ? slab_global_row(view->slab, (uint32_t)track[0] - 1) : 0;
    communicator_sum(view->communicator, count, tracks->sample);
    for (uint32_t k = 0; k < tracks->followed.count; k++) {
        struct place *place = &tracks->waiting[tracks->places++];
        place->id = tracks->first_id + tracks->followed.ids[k];
        place->row = tracks->rows;
        memcpy(place->values, tracks->sample + (size_t)VALUES * k, sizeof place->values);
    }
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

/* What is written: places in the order of ids, and those of an id in the order of time. */
struct paths {
    uint64_t count, place_count; /* of a file without data the most that there may be */
    struct place *places;
    double *times;
};

static int by_path(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    return a->id == b->id ? (a->row > b->row) - (a->row < b->row) : (a->id > b->id) - (a->id < b->id);
}

static void read_paths(const void *source, enum particle_value value, uint64_t first, size_t count,
                       double *values)
{
    const struct paths *paths = source;
    for (size_t n = 0; n < count; n++)
        values[n] = paths->places[first + n].values[value];
}

static enum status fill_id(const void *source, uint64_t first, size_t count, void *values)
{
    const struct paths *paths = source;
    for (size_t n = 0; n < count; n++)
        ((uint64_t *)values)[n] = paths->places[first + n].id;
    return STATUS_OK;
}

static enum status fill_time(const void *source, uint64_t first, size_t count, void *values)
{
    const struct paths *paths = source;
    for (size_t n = 0; n < count; n++)
        ((double *)values)[n] = paths->times[paths->places[first + n].row];
    return STATUS_OK;
}

/* Rank 0 writes all. A patch for each path. */
static void write_paths(struct openpmd *openpmd, const struct paths *paths, const struct particles *list)
{
    static const char of_track[] = "the particle's id, as in snapshots; a patch is the path of one particle";
    static const char of_time[] = "of each sample: the particle's position is of that time";
    const struct grid *box = &openpmd->view->slab->box;
    const bool is_first = openpmd->view->communicator->rank == 0;
    const uint64_t count = paths->count, all = paths->place_count;
    const struct particle_record more[] = {
        {{"track", {0}, {1}, {paths}, fill_id, HDF5_UINT64, 0, of_track}, 0, 0, 0},
        {{"time", {0, 0, 1}, {openpmd->units.time}, {paths}, fill_time, HDF5_DOUBLE, 0, of_time}, 0, 0, 0}};
    uint64_t *numbers = hdf5_file_keep(openpmd->file, 2 * count * sizeof *numbers);
    double *bounds = hdf5_file_keep(openpmd->file, 3 * count * sizeof *bounds);
    if (!numbers || !bounds)
        return;
    for (uint64_t k = 0, n = 0; k < count; k++) {
        const uint64_t begin = numbers[count + k] = n;
        while (paths->places && n < all && paths->places[n].id == paths->places[begin].id)
            n++;
        numbers[k] = n - numbers[count + k];
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
    struct paths paths = {.count = followed_most(output)};
    paths.place_count = paths.count * most_rows(view->config);
    if (tracks) {
        qsort(tracks->waiting, tracks->places, sizeof *tracks->waiting, by_path);
        paths.count = 0;
        paths.place_count = tracks->places;
        for (size_t n = 0; n < tracks->places; n++)
            paths.count += n == 0 || tracks->waiting[n].id != tracks->waiting[n - 1].id;
        paths.places = hdf5_file_keep_copy(file, tracks->places * sizeof *tracks->waiting, tracks->waiting);
        paths.times = hdf5_file_keep_copy(file, tracks->rows * sizeof *tracks->times, tracks->times);
        tracks->places = tracks->rows = 0;
    } else if (!followed_are_fixed(output) && !output->keep) {
        paths.count = paths.place_count; /* each of another particle */
    }
    const struct paths *kept = hdf5_file_keep_copy(file, sizeof paths, &paths);
    if (kept)
        write_paths(&openpmd, kept, &view->particles[species_find(view->config, output->species)]);
}

static enum status begin_tracks(void *part, const struct config *old, const struct hdf5_source *source)
{
    return followed_begin(&((struct tracks *)part)->followed, old, source);
}

static void save_tracks(void *part, struct hdf5_file *file, const struct view *view)
{
    const struct tracks *tracks = part;
    followed_save(tracks ? &tracks->followed : NULL, file, view);
}

static void print_size(const struct config *config)
{
    const struct tracks_config *output = &config->output.tracks;
    if (output->every > 0)
        printf("tracks                    %llu samples of %u, at most %.3g MB a file before compression\n",
               (unsigned long long)outputs_times_due(config, output->every), followed_most(output),
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
                                         .begin = begin_tracks,
                                         .save = save_tracks,
                                         .print_size = print_size};
