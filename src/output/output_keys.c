/* Output keys: an item in the config by the offsets of its row, and a file that is recorded. */
#include "output/output_keys.h"

#include <inttypes.h>

const char *outputs_item(const struct output_row *row, const struct config *config, uint32_t n)
{
    const char *base = (const char *)config;
    const uint32_t count = row->items.size > 0 ? *(const uint32_t *)(base + row->items.count) : 1;
    const char *first = row->items.size > 0 ? *(const char *const *)(base + row->items.first) : base;
    return n < count ? first + n * row->items.size : NULL;
}

struct average_keys outputs_keys(const struct output_row *row, const struct config *config, uint32_t n)
{
    const char *item = outputs_item(row, config, n);
    return (struct average_keys){row->every ? *(const uint64_t *)(item + row->every) : 0,
                                 row->average ? *(const uint64_t *)(item + row->average) : 0};
}

uint64_t outputs_every(const struct output_row *row, const struct config *config)
{
    uint64_t least = 0;
    for (uint32_t n = 0; outputs_item(row, config, n); n++) {
        const uint64_t every = outputs_keys(row, config, n).every;
        least = every > 0 && (least == 0 || every < least) ? every : least;
    }
    return least;
}

enum status outputs_record(const struct output_row *row, void *part, const char *folder,
                           const struct view *view, struct hdf5_file **file)
{
    char name[STEP_FILES_NAME];
    snprintf(name, sizeof name, "%s%" PRIu64 ".h5", row->files->prefix, view->step);
    TRY(hdf5_file_create(view->communicator, folder, name, file));
    (*file)->log = view->log;
    (*file)->has_no_data = view->has_no_data;
    (*file)->compression = view->config->output.snapshots.compression;
    row->record(part, *file, view);
    return (*file)->status;
}

struct output_size outputs_size(const struct output_row *row, const struct config *config)
{
    enum { OF_PROCESS = 4096 }; /* attributes with the device and the command */
    static const struct communicator alone = {.size = 1, .local_size = 1};
    const struct grid grid = grid_make(&config->grid);
    const struct slab slab = slab_whole_box(&grid);
    const struct fields fields = {0};
    const struct partition partition = {1, grid.nx, (uint32_t[]){0, grid.nx}};
    struct particles particles[CONFIG_MAX_SPECIES];
    struct hdf5_file *file = NULL;
    struct output_size size = {0};
    for (uint32_t s = 0; s < config->species_count; s++)
        particles[s] = (struct particles){.species = &config->species[s], .precision = config->precision};
    const struct view view = {.config = config,
                              .communicator = &alone,
                              .slab = &slab,
                              .partition = &partition,
                              .fields = &fields,
                              .particles = particles,
                              .has_no_data = true};
    if (outputs_record(row, NULL, "", &view, &file) == STATUS_OK)
        size = (struct output_size){OF_PROCESS + file->user_block + hdf5_bytes(&file->root), file->meshes};
    hdf5_file_free(&file);
    return size;
}

uint64_t outputs_times_due(const struct config *config, uint64_t every)
{
    return every > 0 ? config->time.steps / every + 1 + (config->time.steps % every != 0) : 0;
}

bool outputs_is_ever_due(const struct output_row *row, const struct config *config)
{
    return row->files == &checkpoint_files || outputs_every(row, config) > 0;
}
