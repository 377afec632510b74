/* Permute: launches of kernels/permute.cl. */
#include "particles/permute.h"

enum { ITEMS = 64, ELEMENT_SIZES = 4, LEAST_ELEMENT = 4 /* bytes; each size is twice the last */ };

struct permute {
    size_t items; /* of a group */
    struct kernel *one[ELEMENT_SIZES], *two[ELEMENT_SIZES];
};

enum status permute_create(struct device *device, struct permute **permute)
{
    struct program *program = NULL;
    TRY(DEVICE_NEW(device, *permute));
    (*permute)->items = device_group_items(device, ITEMS);
    TRY(program_build(device, "permute.cl", PRECISION_SINGLE, &program, "%s", ""));
    for (int n = 0; n < ELEMENT_SIZES; n++) {
        char one[32], two[32];
        snprintf(one, sizeof one, "permute_%d", LEAST_ELEMENT << n);
        snprintf(two, sizeof two, "permute_two_%d", LEAST_ELEMENT << n);
        TRY(kernel_create(program, one, &(*permute)->one[n]));
        TRY(kernel_create(program, two, &(*permute)->two[n]));
    }
    return STATUS_OK;
}

static int size_number(size_t bytes)
{
    int n = 0;
    while (n < ELEMENT_SIZES - 1 && (size_t)LEAST_ELEMENT << n < bytes)
        n++;
    return n;
}

/* Moves arrays[0], or with `both` arrays[0] and arrays[1], of equal elements. */
static enum status move(const struct permute *permute, const struct buffer *permutation, uint32_t count,
                        const struct particle_array *arrays, bool both)
{
    const int n = size_number(arrays->bytes);
    const uint64_t each = sizeof(uint32_t) + (both ? 4 : 2) * arrays->bytes;
    const struct launch launch = launch_covering(count, permute->items, STAGE_PERMUTE, each * count);
    if (!both)
        return KERNEL_LAUNCH(permute->one[n], launch, arg_buffer(permutation), arg_uint(count),
                             arg_buffer(*arrays->now), arg_buffer(*arrays->spare));
    return KERNEL_LAUNCH(permute->two[n], launch, arg_buffer(permutation), arg_uint(count),
                         arg_buffer(*arrays->now), arg_buffer(*arrays->spare), arg_buffer(*arrays[1].now),
                         arg_buffer(*arrays[1].spare));
}

enum status permute_attributes(struct permute *permute, const struct buffer *permutation, uint32_t count,
                               enum attribute first, struct particles *list)
{
    struct particle_array arrays[ATTRIBUTES];
    const uint32_t number = particles_arrays(list, arrays);
    for (uint32_t n = 0; n < number; n++) {
        if (arrays[n].attribute < first)
            continue;
        const bool both = n + 1 < number && arrays[n].bytes == arrays[n + 1].bytes;
        TRY(move(permute, permutation, count, &arrays[n], both));
        n += both;
    }
    return STATUS_OK;
}

enum status permute_apply(struct permute *permute, const struct buffer *permutation, uint32_t count,
                          struct particles *list)
{
    TRY(permute_attributes(permute, permutation, count, ATTRIBUTE_OFFSET, list));
    particles_swap(list);
    return STATUS_OK;
}
