/* Merge: launches of kernels/merge.cl, on a branch of the device that lasts for one merge. */
#include "domain/particles.h"

#include "base/integers.h"

enum { SLACK_SHARE = 8 /* one in so many: what lists that grow get on top */ };

/* Into the spare array; the attribute has an array of its own in `from`. */
static enum status merge_attribute(struct device *branch, struct program *program, uint32_t cells,
                                   const struct particles *into, const struct particles *from,
                                   enum attribute a)
{
    const uint32_t count = into->count + from->count;
    const size_t bytes = attribute_bytes(into->precision, a);
    struct kernel *kernel = NULL;
    TRY(attribute_kernel(program, "merge", into->precision, a, &kernel));
    return KERNEL_LAUNCH(kernel,
                         ((struct launch){cells, device_row_items(branch, count / cells), STAGE_EXCHANGE,
                                          2 * bytes * (uint64_t)count}),
                         into->cell_offsets, from->cell_offsets, particles_stride(into, a),
                         particles_first(into, a), into->attribute[a], from->attribute[a], into->spare[a]);
}

static enum status merge_all(struct device *branch, uint32_t cells, struct particles *into,
                             const struct particles *from)
{
    struct program *program = NULL;
    struct kernel *add = NULL;
    TRY(program_build(branch, "merge.cl", into->precision, &program, "%s", ""));
    TRY(kernel_create(program, "merge_offsets", &add));
    for (enum attribute a = 0; a < ATTRIBUTES; a++)
        if (into->attribute[a])
            TRY(merge_attribute(branch, program, cells, into, from, a));
    TRY(KERNEL_LAUNCH(
        add, launch_flat(cells + (uint64_t)1, STAGE_EXCHANGE, 3 * sizeof(uint32_t) * (uint64_t)cells),
        from->cell_offsets, cells, into->cell_offsets));
    TRY(device_finish(branch));
    particles_swap(into);
    into->count += from->count;
    return STATUS_OK;
}

enum status list_merge(struct device *device, uint32_t cells, struct particles *into,
                       const struct particles *from)
{
    struct device *branch = NULL;
    const uint64_t sum = (uint64_t)into->count + from->count;
    if (from->count == 0)
        return STATUS_OK;
    if (sum > CONFIG_MAX_PARTICLES)
        return status_fail(STATUS_FAILED,
                           "species %s: %llu particles have come together on one device, which holds at most "
                           "%u; take more ranks",
                           into->species->name, (unsigned long long)sum, CONFIG_MAX_PARTICLES);
    if (sum > into->capacity)
        TRY(particles_reserve(into, at_most(sum + sum / SLACK_SHARE, CONFIG_MAX_PARTICLES)));
    TRY(device_branch(device, &branch));
    return device_close_after(&branch, merge_all(branch, cells, into, from));
}
