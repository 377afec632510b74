/* Ghost rows: the runs of one owner. */
#include "parallel/ghost_rows.h"

#include <stdlib.h>

static enum status add_run(struct ghost_rows *rows, struct row_run run)
{
    struct row_run *runs = realloc(rows->runs, (rows->count + 1) * sizeof *runs);
    if (!runs)
        return status_fail(STATUS_FAILED, "no memory for the rows between ranks");
    rows->runs = runs;
    rows->runs[rows->count++] = run;
    rows->rows += run.rows;
    return STATUS_OK;
}

/* Whether a row of the local grid stands for one of the box. */
static bool is_of_box(const struct slab *slab, uint32_t local_row)
{
    return local_row < slab->local.nx && (slab_is_whole(slab) || local_row != slab_lost_row(slab));
}

/* The end of the run that begins at local_row. */
static uint32_t run_end(const struct partition *partition, const struct slab *slab, uint32_t local_row)
{
    const uint32_t row = slab_global_row(slab, local_row);
    const int owner = partition_owner(partition, row);
    uint32_t end = local_row + 1;
    while (is_of_box(slab, end) && slab_global_row(slab, end) == row + (end - local_row) &&
           partition_owner(partition, slab_global_row(slab, end)) == owner)
        end++;
    return end;
}

/* The runs beside rank `beside` that are of `owner`; of all others with owner -1. */
static enum status add_runs(const struct partition *partition, const struct grid *box, uint32_t ghost,
                            int beside, int owner, struct ghost_rows *rows)
{
    const struct slab slab =
        slab_make(box, partition->first[beside], partition_rows(partition, beside), ghost);
    int number = 0;
    for (uint32_t local = slab.rows, end; local < slab.local.nx; local = end) {
        end = local + 1;
        if (!is_of_box(&slab, local))
            continue;
        end = run_end(partition, &slab, local);
        const uint32_t row = slab_global_row(&slab, local);
        const int other = partition_owner(partition, row);
        if (owner < 0 || other == owner)
            TRY(add_run(rows, (struct row_run){owner < 0 ? other : beside, number, local, row, end - local}));
        number++;
    }
    return STATUS_OK;
}

enum status ghost_rows_leaving(const struct partition *partition, const struct grid *box, uint32_t ghost,
                               int rank, struct ghost_rows *rows)
{
    *rows = (struct ghost_rows){0};
    return add_runs(partition, box, ghost, rank, -1, rows);
}

enum status ghost_rows_coming(const struct partition *partition, const struct grid *box, uint32_t ghost,
                              int rank, struct ghost_rows *rows)
{
    *rows = (struct ghost_rows){0};
    for (int other = 0; other < partition->ranks; other++)
        if (other != rank)
            TRY(add_runs(partition, box, ghost, other, rank, rows));
    return STATUS_OK;
}

void ghost_rows_free(struct ghost_rows *rows)
{
    free(rows->runs);
    *rows = (struct ghost_rows){0};
}
