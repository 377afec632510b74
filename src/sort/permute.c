/* Permute: launches of kernels/permute.cl. */
#include "sort/permute.h"

#include <stdlib.h>

enum { ITEMS = 64 };

struct permute {
    enum precision precision;
    size_t items; /* of a group */
    struct program *program;
    struct kernel *particles, *ids;
};

enum status permute_create(struct device *device, enum precision precision, struct permute **permute)
{
    *permute = calloc(1, sizeof **permute);
    if (!*permute)
        return status_fail(STATUS_FAILED, "no memory for the permute");
    (*permute)->precision = precision;
    (*permute)->items = device_group_items(device, ITEMS);
    enum status status = program_build(device, "permute.cl", precision, &(*permute)->program, "%s", "");
    if (status == STATUS_OK)
        status = kernel_create((*permute)->program, "permute_particles", &(*permute)->particles);
    if (status == STATUS_OK)
        status = kernel_create((*permute)->program, "permute_ids", &(*permute)->ids);
    if (status != STATUS_OK)
        permute_destroy(permute);
    return status;
}

void permute_destroy(struct permute **permute)
{
    if (!*permute)
        return;
    kernel_destroy(&(*permute)->particles);
    kernel_destroy(&(*permute)->ids);
    program_destroy(&(*permute)->program);
    free(*permute);
    *permute = NULL;
}

enum status permute_apply(struct permute *permute, const struct buffer *permutation,
                          struct particles *particles)
{
    const uint64_t each = sizeof(uint32_t) + 8 * precision_bytes(permute->precision);
    TRY(KERNEL_LAUNCH(
        permute->particles,
        launch_covering(particles->count, permute->items, STAGE_PERMUTE, each * particles->count),
        arg_buffer(permutation), arg_buffer(particles->offset), arg_buffer(particles->offset_spare),
        arg_buffer(particles->velocity), arg_buffer(particles->velocity_spare), arg_uint(particles->count)));
    buffer_swap(particles->offset, particles->offset_spare);
    buffer_swap(particles->velocity, particles->velocity_spare);
    if (!particles->id)
        return STATUS_OK;
    const uint64_t id_bytes = sizeof(uint32_t) + 2 * sizeof(uint64_t);
    TRY(KERNEL_LAUNCH(
        permute->ids,
        launch_covering(particles->count, permute->items, STAGE_PERMUTE, id_bytes * particles->count),
        arg_buffer(permutation), arg_buffer(particles->id), arg_buffer(particles->id_spare),
        arg_uint(particles->count)));
    buffer_swap(particles->id, particles->id_spare);
    return STATUS_OK;
}
