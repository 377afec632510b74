/* Cell key: launch of kernels/cell_key.cl. */
#include "sort/cell_key.h"

#include <stdlib.h>

enum { ITEMS = 64 };

struct cell_key {
    struct grid grid;
    enum precision precision;
    size_t items; /* of a group */
    struct program *program;
    struct kernel *kernel;
};

enum status cell_key_create(struct device *device, const struct grid *grid, uint32_t ghost_rows,
                            enum precision precision, struct cell_key **cell_key)
{
    *cell_key = calloc(1, sizeof **cell_key);
    if (!*cell_key)
        return status_fail(STATUS_FAILED, "no memory for the cell keys");
    (*cell_key)->grid = *grid;
    (*cell_key)->precision = precision;
    (*cell_key)->items = device_group_items(device, ITEMS);
    enum status status = program_build(device, "cell_key.cl", precision, &(*cell_key)->program,
                                       "-D GHOST_ROWS=%u", ghost_rows);
    if (status == STATUS_OK)
        status = kernel_create((*cell_key)->program, "cell_key", &(*cell_key)->kernel);
    if (status != STATUS_OK)
        cell_key_destroy(cell_key);
    return status;
}

void cell_key_destroy(struct cell_key **cell_key)
{
    if (!*cell_key)
        return;
    kernel_destroy(&(*cell_key)->kernel);
    program_destroy(&(*cell_key)->program);
    free(*cell_key);
    *cell_key = NULL;
}

enum status cell_key_update(struct cell_key *cell_key, struct particles *particles)
{
    const uint64_t each =
        4 * precision_bytes(cell_key->precision); /* few change their cell: keys hardly count */
    return KERNEL_LAUNCH(
        cell_key->kernel,
        launch_covering(particles->count, cell_key->items, STAGE_CELL_KEY, each * particles->count),
        arg_buffer(particles->offset), arg_buffer(particles->key), arg_uint(particles->count),
        arg_uint(cell_key->grid.nx), arg_uint(cell_key->grid.ny));
}
