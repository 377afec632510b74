/* Room: launches of kernels/room.cl. */
#include "step/room.h"

struct room {
    struct grid grid;
    struct kernel *count_rows, *move_offsets, *move_permutation;
    struct buffer *row_totals;  /* uint[nx] */
    struct buffer *offsets;     /* uint[cells + 1] */
    struct buffer *permutation; /* uint[capacity] */
};

enum status room_create(struct device *device, const struct grid *grid, uint32_t capacity, struct room **room)
{
    const size_t word = sizeof(uint32_t);
    struct program *program = NULL;
    TRY(DEVICE_NEW(device, *room));
    (*room)->grid = *grid;
    TRY(program_build(device, "room.cl", PRECISION_SINGLE, &program, "%s", ""));
    TRY(kernel_create(program, "room_count_rows", &(*room)->count_rows));
    TRY(kernel_create(program, "room_move_offsets", &(*room)->move_offsets));
    TRY(kernel_create(program, "room_move_permutation", &(*room)->move_permutation));
    TRY(buffer_create(device, grid->nx * word, "arrivals by row", &(*room)->row_totals));
    TRY(buffer_create(device, (grid_cells(grid) + (size_t)1) * word, "spare cell offsets",
                      &(*room)->offsets));
    return buffer_create(device, capacity * word, "the permutation with room for arrivals",
                         &(*room)->permutation);
}

enum status room_open(struct room *room, const struct arrival_room *arrivals, uint32_t count,
                      struct buffer *offsets, struct buffer *permutation)
{
    const struct grid *grid = &room->grid;
    const struct launch by_row = launch_flat(grid->nx, STAGE_EXCHANGE, 0);
    TRY(KERNEL_LAUNCH(room->count_rows, by_row, arrivals->rows, arrivals->counts, grid->nx, grid->ny,
                      room->row_totals));
    TRY(KERNEL_LAUNCH(room->move_offsets, by_row, arrivals->count, arrivals->rows, arrivals->counts,
                      room->row_totals, grid->nx, grid->ny, offsets, room->offsets));
    TRY(buffer_fill(room->permutation, 0));
    TRY(KERNEL_LAUNCH(room->move_permutation,
                      launch_flat(count, STAGE_EXCHANGE, 2 * (uint64_t)count * sizeof(uint32_t)), offsets,
                      room->offsets, grid_cells(grid), count, permutation, room->permutation));
    buffer_swap(offsets, room->offsets);
    buffer_swap(permutation, room->permutation);
    return STATUS_OK;
}
