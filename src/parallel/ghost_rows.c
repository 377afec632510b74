/* Ghost rows: from the slabs of the ranks. */
#include "parallel/ghost_rows.h"

#include "base/integers.h"

struct slab ghost_slab(const struct rank_place *place, int rank)
{
    const struct partition *partition = place->partition;
    return slab_make(&place->slab->box, partition->first[rank], partition_rows(partition, rank),
                     place->ghost);
}

uint32_t ghost_upward_rows(const struct slab *slab)
{
    return at_most(slab->rows + SLAB_NODES_ABOVE, slab->local.nx);
}

uint32_t ghost_reached_rows(const struct slab *slab)
{
    return at_most(slab->rows + SLAB_NODES_BESIDE, slab->local.nx);
}

uint32_t ghost_reached_row(const struct slab *slab, uint32_t n)
{
    return n < ghost_upward_rows(slab) ? n : slab->local.nx - (ghost_reached_rows(slab) - n);
}

/* The end of the run that begins at local_row, after which comes the lost row or another owner's. */
static uint32_t run_end(const struct partition *partition, const struct slab *slab, uint32_t local_row)
{
    const int owner = partition_owner(partition, slab_global_row(slab, local_row));
    uint32_t end = local_row + 1;
    while (end < slab->local.nx && !slab_is_lost(slab, end) &&
           partition_owner(partition, slab_global_row(slab, end)) == owner)
        end++;
    return end;
}

/* The runs beside rank `beside` that are of `owner`; of all others with owner -1. */
static void add_runs(const struct partition *partition, const struct slab *slab, int beside, int owner,
                     struct ghost_runs *runs)
{
    int number = 0;
    for (uint32_t local = slab->rows, end; local < slab->local.nx; local = end) {
        end = local + 1;
        if (slab_is_lost(slab, local))
            continue;
        end = run_end(partition, slab, local);
        const uint32_t row = slab_global_row(slab, local);
        const int other = partition_owner(partition, row);
        if (owner < 0 || other == owner) {
            runs->runs[runs->count++] =
                owner < 0
                    ? (struct ghost_run){other,      number, row, local - slab->rows, local - slab->rows,
                                         end - local}
                    : (struct ghost_run){beside, number, row, runs->rows, local - slab->rows, end - local};
            runs->rows += end - local;
        }
        number++;
    }
}

enum status ghost_runs_find(const struct rank_place *place, struct ghost_runs *out, struct ghost_runs *in)
{
    const struct partition *partition = place->partition;
    const int rank = place->communicator->rank;
    const size_t most = 2 * (size_t)partition->ranks; /* a rank has two beside another one: above and below */
    *out = *in = (struct ghost_runs){0};
    TRY(DEVICE_NEW_ARRAY(place->device, out->runs, most));
    TRY(DEVICE_NEW_ARRAY(place->device, in->runs, most));
    for (int other = 0; other < partition->ranks; other++) {
        const struct slab slab = ghost_slab(place, other);
        add_runs(partition, &slab, other, other == rank ? -1 : rank, other == rank ? out : in);
    }
    return STATUS_OK;
}
