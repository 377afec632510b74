/* Sorting: keys in the order of particles that moved, and the host's sorts with the judge of both and of the
 * device. */
#include "experiments/sorting/sorting.h"

#include "particles/load_sorted.h"

#include <stdlib.h>

/* ---- keys ---- */

enum { MOVE_ITEMS = 64 };

static enum status move(struct device *device, const struct grid *grid, const struct pic_keys *list)
{
    const struct particles *particles = &list->particles;
    struct program *program = NULL;
    struct kernel *kernel = NULL;
    TRY(program_build(device, "pic_sort.cl", PRECISION_SINGLE, &program, "%s", ""));
    TRY(kernel_create(program, "pic_sort_move", &kernel));
    TRY(KERNEL_LAUNCH(
        kernel, launch_covering(particles->count, device_group_items(device, MOVE_ITEMS), STAGE_OTHER, 0),
        arg_buffer(particles->cell_offsets), arg_uint(grid->nx), arg_uint(grid->ny),
        arg_buffer(particles->attribute[ATTRIBUTE_OFFSET]),
        arg_buffer(particles->attribute[ATTRIBUTE_VELOCITY]), arg_uint(particles->count),
        arg_buffer(list->keys)));
    return device_finish(device);
}

/* x, y, u, v in the unit square: bases 2, 3, 5, 7. */
enum status pic_keys_create(struct device *device, const struct grid *grid, uint32_t count,
                            const struct sorter_plan *plan, struct pic_keys *list)
{
    const struct slab slab = slab_whole_box(grid);
    const size_t bytes = count * sizeof(uint32_t);
    list->species = (struct species_config){
        .name = "particles",
        .charge = -1,
        .mass = 1,
        .density = 1,
        .particles = count,
        .positions = {.kind = POSITIONS_VAN_DER_CORPUT, .bases = {2, 3}},
        .velocities = {.kind = VELOCITIES_UNIFORM, .bases = {5, 7}, .range = {{0, 1}, {0, 1}}},
    };
    TRY(particles_create(device, &slab, PRECISION_SINGLE, LAYOUT_SOA, &list->species, count,
                         &list->particles));
    TRY(buffer_create(device, bytes, "keys in PIC order", &list->keys));
    TRY(buffer_create(device, bytes, "sorted keys", &list->sorted_keys));
    list->particles.count = count;
    TRY(load_sorted(&slab, plan, 0, &list->particles));
    return move(device, grid, list);
}

/* ---- the host ---- */

enum status host_counting_sort(const uint32_t *keys, uint32_t count, uint32_t key_limit,
                               uint32_t *permutation)
{
    uint32_t *next = calloc((size_t)key_limit + 1, sizeof *next);
    if (!next)
        return status_fail(STATUS_FAILED, "no memory for a counting sort of keys below %u", key_limit);
    for (uint32_t j = 0; j < count; j++)
        next[keys[j] + 1]++;
    for (uint32_t k = 0; k < key_limit; k++)
        next[k + 1] += next[k];
    for (uint32_t j = 0; j < count; j++)
        permutation[next[keys[j]]++] = j;
    free(next);
    return STATUS_OK;
}

static int ascending(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

enum status host_qsort(const uint32_t *keys, uint32_t count, uint32_t *permutation)
{
    uint64_t *pairs = malloc(((size_t)count + 1) * sizeof *pairs);
    if (!pairs)
        return status_fail(STATUS_FAILED, "no memory to sort %u pairs on the host", count);
    for (uint32_t j = 0; j < count; j++)
        pairs[j] = (uint64_t)keys[j] << 32 | j;
    qsort(pairs, count, sizeof *pairs, ascending);
    for (uint32_t j = 0; j < count; j++)
        permutation[j] = (uint32_t)pairs[j];
    free(pairs);
    return STATUS_OK;
}

enum status host_judge_sort(const uint32_t *keys, const uint32_t *sorted_keys, const uint32_t *permutation,
                            uint32_t count, struct sort_verdict *verdict)
{
    uint8_t *seen = calloc((size_t)count + 1, 1);
    if (!seen)
        return status_fail(STATUS_FAILED, "no memory to verify a sort of %u keys", count);
    *verdict = (struct sort_verdict){true, true, true};
    for (uint32_t j = 0; j < count; j++) {
        const uint32_t source = permutation[j];
        if (source >= count || seen[source] || keys[source] != sorted_keys[j]) {
            verdict->permutation = false;
            break;
        }
        seen[source] = 1;
        if (j == 0)
            continue;
        if (sorted_keys[j - 1] > sorted_keys[j])
            verdict->sorted = false;
        if (sorted_keys[j - 1] == sorted_keys[j] && permutation[j - 1] > source)
            verdict->stable = false;
    }
    free(seen);
    return STATUS_OK;
}

/* Whether offsets[c] is the number of keys below c, for c = 0..cells; `counts` are cells + 1 zeros. */
static bool offsets_are_right(const uint32_t *keys, uint32_t count, uint32_t cells, const uint32_t *offsets,
                              uint32_t *counts)
{
    for (uint32_t j = 0; j < count; j++)
        counts[keys[j] + 1]++;
    for (uint32_t c = 0; c <= cells; c++) {
        counts[c] += c > 0 ? counts[c - 1] : 0;
        if (offsets[c] != counts[c])
            return false;
    }
    return true;
}

enum status device_judge_sort(struct device *device, const uint32_t *keys, uint32_t count,
                              const struct radix_lists *lists, struct sort_verdict *verdict)
{
    const size_t bytes = count * sizeof(uint32_t), cells = lists->cells + (size_t)1;
    uint32_t *sorted = NULL, *sigma = NULL, *offsets = NULL, *counts = NULL;
    TRY(DEVICE_NEW_ARRAY(device, sorted, count));
    TRY(DEVICE_NEW_ARRAY(device, sigma, count));
    TRY(DEVICE_NEW_ARRAY(device, offsets, cells));
    TRY(DEVICE_NEW_ARRAY(device, counts, cells));
    TRY(buffer_read(lists->permutation, 0, bytes, sigma));
    if (lists->sorted_keys)
        TRY(buffer_read(lists->sorted_keys, 0, bytes, sorted));
    for (uint32_t j = 0; !lists->sorted_keys && j < count; j++)
        sorted[j] = sigma[j] < count ? keys[sigma[j]] : UINT32_MAX;
    TRY(host_judge_sort(keys, sorted, sigma, count, verdict));
    if (lists->cell_offsets) {
        TRY(buffer_read(lists->cell_offsets, 0, cells * sizeof(uint32_t), offsets));
        verdict->sorted = verdict->sorted && offsets_are_right(keys, count, lists->cells, offsets, counts);
    }
    return STATUS_OK;
}
