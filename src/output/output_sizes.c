/* Output sizes: how much a run will write, for `check` and the start of a run. */
#include "output/outputs.h"

void outputs_print_files(const char *name, uint64_t times, const char *what, uint64_t bytes)
{
    printf("%-25s %llu%s, at most %.3g MB each before compression, %.3g MB in all\n", name,
           (unsigned long long)times, what, 1e-6 * (double)bytes, 1e-6 * (double)bytes * (double)times);
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
    memset(kept.output.snapshots.mesh_range, 0, sizeof kept.output.snapshots.mesh_range);
    kept.output.snapshots.mesh_stride[0] = kept.output.snapshots.mesh_stride[1] =
        1; /* whole until it is written */
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
