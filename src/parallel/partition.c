/* Partition: the ends of the ranges, even or balanced. */
#include "parallel/partition.h"

#include "domain/grid.h"

#include <stdlib.h>

enum status partition_even(int ranks, uint32_t rows, struct partition *partition)
{
    *partition = (struct partition){0};
    if ((uint32_t)ranks > rows)
        return status_fail(
            STATUS_USAGE,
            "mpirun started %d ranks, but the grid has %u rows along x and each rank needs one; "
            "start fewer, or raise grid.cells",
            ranks, rows);
    *partition = (struct partition){ranks, rows, calloc((size_t)ranks + 1, sizeof *partition->first)};
    if (!partition->first)
        return status_fail(STATUS_FAILED, "no memory for the rows of the ranks");
    for (int rank = 0; rank <= ranks; rank++)
        partition->first[rank] = (uint32_t)((uint64_t)rows * (uint64_t)rank / (uint64_t)ranks);
    return STATUS_OK;
}

void partition_destroy(struct partition *partition)
{
    free(partition->first);
    *partition = (struct partition){0};
}

int partition_owner(const struct partition *partition, uint32_t row)
{
    return (int)range_at(partition->first, (uint32_t)partition->ranks, row);
}

uint32_t partition_rows(const struct partition *partition, int rank)
{
    return partition->first[rank + 1] - partition->first[rank];
}

/* Ranges of at most `most` particles, taken greedily from the first row on, with a row left for each later
 * rank. Returns whether all rows find a rank. first[ranks + 1] is set unless it is NULL. */
static bool cut(int ranks, uint32_t rows, const uint64_t *loads, uint64_t most, uint32_t *first)
{
    uint32_t row = 0;
    for (int rank = 0; rank < ranks; rank++) {
        const uint32_t end = rows - (uint32_t)(ranks - rank - 1); /* rows this rank may take up to */
        if (first)
            first[rank] = row;
        uint64_t load = loads[row++];
        while (row < end && load + loads[row] <= most)
            load += loads[row++];
        if (load > most)
            return false;
    }
    return row == rows;
}

static uint64_t sum(const uint64_t *loads, uint32_t begin, uint32_t end)
{
    uint64_t total = 0;
    for (uint32_t row = begin; row < end; row++)
        total += loads[row];
    return total;
}

static uint64_t most_load(const struct partition *partition, const uint64_t *loads)
{
    uint64_t most = 0;
    for (int rank = 0; rank < partition->ranks; rank++) {
        const uint64_t load = sum(loads, partition->first[rank], partition->first[rank + 1]);
        most = load > most ? load : most;
    }
    return most;
}

bool partition_balance(struct partition *partition, const uint64_t *loads)
{
    const uint64_t present = most_load(partition, loads);
    uint64_t low = 0, high = present; /* the least feasible `most` is in (low, high], or 0 */
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (cut(partition->ranks, partition->rows, loads, middle, NULL))
            high = middle;
        else
            low = middle;
    }
    return high < present && cut(partition->ranks, partition->rows, loads, high, partition->first);
}

double partition_imbalance(const struct partition *partition, const uint64_t *loads)
{
    const uint64_t all = sum(loads, 0, partition->rows);
    return all > 0 ? (double)most_load(partition, loads) * partition->ranks / (double)all : 1;
}
