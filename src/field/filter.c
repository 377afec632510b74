/* Filter: one kernel per pass, from one array into the other. */
#include "field/filter.h"

#include <stdlib.h>

struct filter {
    struct device *device; /* not owned */
    struct grid grid;
    struct buffer *spare; /* real[cells]: where a pass writes */
    uint64_t pass_bytes;
    struct program *program;
    struct kernel *pass;
};

enum status filter_create(struct device *device, const struct grid *grid, enum precision precision,
                          struct filter **filter)
{
    *filter = NULL;
    struct filter *created = calloc(1, sizeof *created);
    if (!created)
        return status_fail(STATUS_FAILED, "no memory for the filter");
    const size_t bytes = grid_cells(grid) * precision_bytes(precision);
    created->device = device;
    created->grid = *grid;
    created->pass_bytes = 2 * (uint64_t)bytes;
    enum status status = STATUS_OK;
    TRY_CLEANUP(buffer_create(device, bytes, "filtered charge density", &created->spare));
    TRY_CLEANUP(program_build(device, "filter.cl", precision, &created->program, "%s", ""));
    TRY_CLEANUP(kernel_create(created->program, "filter_pass", &created->pass));
    *filter = created;
    return STATUS_OK;
cleanup:
    filter_destroy(&created);
    return status;
}

void filter_destroy(struct filter **filter)
{
    if (!*filter)
        return;
    kernel_destroy(&(*filter)->pass);
    program_destroy(&(*filter)->program);
    buffer_destroy(&(*filter)->spare);
    free(*filter);
    *filter = NULL;
}

uint64_t filter_bytes(const struct grid *grid, enum precision precision)
{
    return (uint64_t)grid_cells(grid) * precision_bytes(precision);
}

enum status filter_apply(struct filter *filter, uint32_t passes, struct buffer **rho)
{
    const struct grid *grid = &filter->grid;
    const struct launch launch = launch_covering(grid_cells(grid), device_group_items(filter->device, 64),
                                                 STAGE_FIELD, filter->pass_bytes);
    for (uint32_t n = 0; n < passes; n++) {
        TRY(KERNEL_LAUNCH(filter->pass, launch, arg_buffer(*rho), arg_uint(grid->nx), arg_uint(grid->ny),
                          arg_buffer(filter->spare)));
        buffer_swap(rho, &filter->spare);
    }
    return STATUS_OK;
}
