/* Gaps: launches of kernels/gaps.cl. */
#include "step/gaps.h"

struct gaps {
    struct grid grid;
    struct kernel *count_rows, *move_offsets, *move_permutation;
    struct buffer *row_totals;  /* uint[nx] */
    struct buffer *offsets;     /* uint[cells + 1] */
    struct buffer *permutation; /* uint[capacity] */
};

enum status gaps_create(struct device *device, const struct grid *grid, uint32_t capacity, struct gaps **gaps)
{
    const size_t word = sizeof(uint32_t);
    struct program *program = NULL;
    TRY(DEVICE_NEW(device, *gaps));
    (*gaps)->grid = *grid;
    TRY(program_build(device, "gaps.cl", PRECISION_SINGLE, &program, "%s", ""));
    TRY(kernel_create(program, "gaps_count_rows", &(*gaps)->count_rows));
    TRY(kernel_create(program, "gaps_move_offsets", &(*gaps)->move_offsets));
    TRY(kernel_create(program, "gaps_move_permutation", &(*gaps)->move_permutation));
    TRY(buffer_create(device, grid->nx * word, "arrivals by row", &(*gaps)->row_totals));
    TRY(buffer_create(device, (grid_cells(grid) + (size_t)1) * word, "spare cell offsets",
                      &(*gaps)->offsets));
    return buffer_create(device, capacity * word, "the permutation with gaps for arrivals",
                         &(*gaps)->permutation);
}

enum status gaps_open(struct gaps *gaps, const struct arrival_gaps *arrivals, uint32_t count,
                      struct buffer *offsets, struct buffer *permutation)
{
    const struct grid *grid = &gaps->grid;
    const struct launch by_row = launch_flat(grid->nx, STAGE_EXCHANGE, 0);
    TRY(KERNEL_LAUNCH(gaps->count_rows, by_row, arrivals->rows, arrivals->counts, grid->nx, grid->ny,
                      gaps->row_totals));
    TRY(KERNEL_LAUNCH(gaps->move_offsets, by_row, arrivals->count, arrivals->rows, arrivals->counts,
                      gaps->row_totals, grid->nx, grid->ny, offsets, gaps->offsets));
    TRY(buffer_fill(gaps->permutation, 0));
    TRY(KERNEL_LAUNCH(gaps->move_permutation,
                      launch_flat(count, STAGE_EXCHANGE, 2 * (uint64_t)count * sizeof(uint32_t)), offsets,
                      gaps->offsets, grid_cells(grid), count, permutation, gaps->permutation));
    buffer_swap(offsets, gaps->offsets);
    buffer_swap(permutation, gaps->permutation);
    return STATUS_OK;
}
