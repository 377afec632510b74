/* Permute: launches of kernels/permute.cl. */
#include "particles/permute.h"

enum {
    ELEMENT_SIZES = 4,
    LEAST_ELEMENT = 4,     /* bytes; each size is twice the last */
    CPU_GROUP_ITEMS = 4096 /* a stretch of the list that one core goes through */
};

struct permute {
    size_t group_items;                       /* 0: as the device wants them */
    struct kernel *kernels[2][ELEMENT_SIZES]; /* of one array, and of two at once */
};

enum status permute_create(struct device *device, struct permute **permute)
{
    struct program *program = NULL;
    TRY(DEVICE_NEW(device, *permute));
    if (device_info(device)->is_cpu)
        (*permute)->group_items = device_group_items(device, CPU_GROUP_ITEMS);
    TRY(program_build(device, "permute.cl", PRECISION_SINGLE, &program, "%s", ""));
    for (int both = 0; both < 2; both++)
        for (int n = 0; n < ELEMENT_SIZES; n++) {
            char name[32];
            snprintf(name, sizeof name, both ? "permute_two_%d" : "permute_%d", LEAST_ELEMENT << n);
            TRY(kernel_create(program, name, &(*permute)->kernels[both][n]));
        }
    return STATUS_OK;
}

/* Moves arrays[0], or with `both` arrays[0] and arrays[1], of equal elements. */
static enum status move(const struct permute *permute, const struct buffer *permutation, uint32_t count,
                        const struct particle_array *arrays, bool both)
{
    const uint64_t each = sizeof(uint32_t) + (both ? 4 : 2) * arrays->bytes;
    const size_t items = permute->group_items;
    const struct launch launch = items > 0 ? launch_covering(count, items, STAGE_PERMUTE, each * count)
                                           : launch_flat(count, STAGE_PERMUTE, each * count);
    int n = 0; /* number of the size */
    while (n < ELEMENT_SIZES - 1 && (size_t)LEAST_ELEMENT << n < arrays->bytes)
        n++;
    if (!both)
        return KERNEL_LAUNCH(permute->kernels[0][n], launch, permutation, count, *arrays[0].now,
                             *arrays[0].spare);
    return KERNEL_LAUNCH(permute->kernels[1][n], launch, permutation, count, *arrays[0].now, *arrays[0].spare,
                         *arrays[1].now, *arrays[1].spare);
}

enum status permute_array(const struct permute *permute, const struct buffer *permutation, uint32_t count,
                          size_t bytes, struct buffer *from, struct buffer *to)
{
    const struct particle_array array = {.bytes = bytes, .now = &from, .spare = &to};
    return move(permute, permutation, count, &array, false);
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
