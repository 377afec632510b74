/* Sorting: keys in the order of particles that moved, and the host's sorts with the judge of both and of the
 * device. */
#include "experiments/sorting/sorting.h"

#include "load/loading.h"
#include "sort/cell_key.h"
#include "sort/permute.h"

#include <stdlib.h>

/* ---- keys ---- */

enum { MOVE_ITEMS = 64 };

static enum status sort_once(struct device *device, const struct sorter_plan *plan,
                             struct particles *particles)
{
    struct sorter *sorter = NULL;
    struct permute *permute = NULL;
    struct buffer *permutation = NULL;
    TRY(sorter_create(device, plan, particles->count, &sorter));
    TRY(permute_create(device, PRECISION_SINGLE, &permute));
    TRY(buffer_create(device, particles->count * sizeof(uint32_t), "permutation", &permutation));
    const struct radix_lists lists = {
        .keys = particles->key, .sorted_keys = particles->key_spare, .permutation = permutation};
    TRY(sorter_run(sorter, particles->count, &lists));
    buffer_swap(particles->key, particles->key_spare);
    return permute_apply(permute, permutation, particles);
}

static enum status move(struct device *device, const struct grid *grid, struct particles *particles)
{
    struct program *program = NULL;
    struct kernel *kernel = NULL;
    struct cell_key *cell_key = NULL;
    TRY(program_build(device, "pic_sort.cl", PRECISION_SINGLE, &program, "%s", ""));
    TRY(kernel_create(program, "pic_sort_move", &kernel));
    TRY(cell_key_create(device, grid, 0, PRECISION_SINGLE, &cell_key));
    TRY(KERNEL_LAUNCH(
        kernel, launch_covering(particles->count, device_group_items(device, MOVE_ITEMS), STAGE_OTHER, 0),
        arg_buffer(particles->offset), arg_buffer(particles->velocity), arg_uint(particles->count)));
    return cell_key_update(cell_key, particles);
}

/* x, y, u, v in the unit square: bases 2, 3, 5, 7. */
enum status pic_keys_create(struct device *device, const struct grid *grid, uint32_t count,
                            const struct sorter_plan *plan, struct pic_keys *list)
{
    struct device *only_here = NULL;
    list->species = (struct species_config){
        .name = "particles",
        .charge = -1,
        .mass = 1,
        .density = 1,
        .particles = count,
        .positions = {.kind = POSITIONS_VAN_DER_CORPUT, .bases = {2, 3}},
        .velocities = {.kind = VELOCITIES_UNIFORM, .bases = {5, 7}, .range = {{0, 1}, {0, 1}}},
    };
    TRY(particles_create(device, grid, PRECISION_SINGLE, &list->species, &list->particles));
    TRY(loading_fill(device, grid, PRECISION_SINGLE, 0, &list->particles));
    TRY(device_branch(device, &only_here));
    enum status status = sort_once(only_here, plan, &list->particles);
    if (status == STATUS_OK)
        status = move(only_here, grid, &list->particles);
    if (status == STATUS_OK)
        status = device_finish(device);
    device_close(&only_here);
    return status;
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
