/* Output keys: what a config says of outputs, how often each is due, and how large its files are, by the
 * trees that it would record. */
#include "output/outputs.h"

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

void outputs_print_files(const char *name, uint64_t times, const char *what, uint64_t bytes)
{
    printf("%-25s %llu%s, at most %.3g MB each before compression, %.3g MB in all\n", name,
           (unsigned long long)times, what, 1e-6 * (double)bytes, 1e-6 * (double)bytes * (double)times);
}

bool outputs_is_ever_due(const struct output_row *row, const struct config *config)
{
    return row == &checkpoint_output || outputs_every(row, config) > 0;
}

/* Checkpoints have no file of the first step; of phase spaces and lines the item that is due most often
 * counts for all; tracks have one file as large as they can be. */
uint64_t outputs_expected_bytes(const struct config *config, uint64_t *each)
{
    uint64_t all = 0;
    *each = 0;
    for (size_t n = 0; n < OUTPUTS; n++) {
        const struct output_row *row = output_table[n];
        const uint64_t every = outputs_every(row, config);
        if (!row->record || every == 0)
            continue;
        const uint64_t times = outputs_times_due(config, every) - (row == &checkpoint_output);
        const uint64_t bytes = outputs_size(row, config).bytes;
        all += bytes * (row->wants_file ? 1 : times);
        *each += bytes;
    }
    return all;
}

/* A file waits in the host's memory, in the run's precision and before compression, until it is written. */
void outputs_print_sizes(const struct config *config)
{
    struct config kept = *config;
    uint64_t most = 0;
    kept.output.snapshots.precision = SNAPSHOT_PRECISION_RUN;
    for (size_t n = 0; n < OUTPUTS; n++) {
        const struct output_row *row = output_table[n];
        const uint64_t times = outputs_times_due(config, outputs_every(row, config));
        const bool is_due = row->record && outputs_is_ever_due(row, config);
        const uint64_t bytes = is_due ? outputs_size(row, &kept).bytes : 0;
        most = bytes > most ? bytes : most;
        if (row->print_size)
            row->print_size(config);
        else if (row->record && times > 0)
            outputs_print_files(row->name, times, "", outputs_size(row, config).bytes);
    }
    printf("files in flight           %d at most, about %.3g MB of host memory on all ranks together, and "
           "up to %.3g MB on each to pack chunks\n",
           WRITER_FILES, 1e-6 * WRITER_FILES * (double)most, 1e-6 * (double)hdf5_packing_bytes());
}
