/* Merge: launches of kernels/merge.cl, and arrays that grow. */
#include "sort/merge.h"

#include <stdlib.h>

enum {
    GPU_GROUP_ITEMS = 256,
    GPU_ITEM_PARTICLES = 8,
    CPU_ITEM_PARTICLES = 4096, /* of the one item of a group */
    CELL_ITEMS = 64,           /* of a group, where an item has one cell */
    SLACK_SHARE = 8            /* one in so many: what arrays that grow get on top */
};

struct merge {
    struct device *device; /* not owned */
    uint32_t cells;
    enum precision precision;
    size_t group_items, cell_items;
    uint32_t group_particles;
    struct program *program;
    struct kernel *offsets, *pairs, *quads, *ids, *keys;
    struct buffer *merged_offsets; /* uint[cells + 1]; swapped with those of the list */
};

/* ---- birth and death ---- */

static enum status build(struct merge *merge)
{
    TRY(program_build(merge->device, "merge.cl", merge->precision, &merge->program,
                      "-D GROUP_ITEMS=%zu -D ITEM_PARTICLES=%zu", merge->group_items,
                      merge->group_particles / merge->group_items));
    TRY(kernel_create(merge->program, "merge_offsets", &merge->offsets));
    TRY(kernel_create(merge->program, "merge_pairs", &merge->pairs));
    TRY(kernel_create(merge->program, "merge_quads", &merge->quads));
    TRY(kernel_create(merge->program, "merge_ids", &merge->ids));
    TRY(kernel_create(merge->program, "merge_keys", &merge->keys));
    return buffer_create(merge->device, (merge->cells + (size_t)1) * sizeof(uint32_t), "merged cell offsets",
                         &merge->merged_offsets);
}

enum status merge_create(struct device *device, uint32_t cells, enum precision precision,
                         struct merge **merge)
{
    *merge = NULL;
    struct merge *created = calloc(1, sizeof *created);
    if (!created)
        return status_fail(STATUS_FAILED, "no memory for the merge");
    const bool is_cpu = device_info(device)->is_cpu;
    *created = (struct merge){.device = device,
                              .cells = cells,
                              .precision = precision,
                              .group_items = is_cpu ? 1 : device_group_items(device, GPU_GROUP_ITEMS),
                              .cell_items = device_group_items(device, CELL_ITEMS)};
    created->group_particles =
        is_cpu ? CPU_ITEM_PARTICLES : (uint32_t)created->group_items * GPU_ITEM_PARTICLES;
    const enum status status = build(created);
    if (status != STATUS_OK)
        merge_destroy(&created);
    *merge = created;
    return status;
}

void merge_destroy(struct merge **merge)
{
    struct merge *old = *merge;
    if (!old)
        return;
    struct kernel **const kernels[] = {&old->offsets, &old->pairs, &old->quads, &old->ids, &old->keys};
    for (size_t n = 0; n < sizeof kernels / sizeof kernels[0]; n++)
        kernel_destroy(kernels[n]);
    program_destroy(&old->program);
    buffer_destroy(&old->merged_offsets);
    free(old);
    *merge = NULL;
}

/* ---- growing ---- */

/* What a list has of an array: it, its spare, and the bytes of a particle in it. */
struct array {
    struct buffer **buffer, **spare;
    size_t each;
    const char *what;
};

enum { STATE_ARRAYS = 3 };

/* The arrays that a merge moves by way of their spare ones; returns how many. */
static size_t state_arrays(const struct merge *merge, struct particles *list,
                           struct array arrays[STATE_ARRAYS])
{
    const size_t real = precision_bytes(merge->precision);
    size_t count = 0;
    if (list->quad) {
        arrays[count++] = (struct array){&list->quad, &list->quad_spare, 4 * real, "more particle states"};
    } else {
        arrays[count++] =
            (struct array){&list->offset, &list->offset_spare, 2 * real, "more particle offsets"};
        arrays[count++] =
            (struct array){&list->velocity, &list->velocity_spare, 2 * real, "more particle velocities"};
    }
    if (list->id)
        arrays[count++] = (struct array){&list->id, &list->id_spare, sizeof(uint64_t), "more particle ids"};
    return count;
}

static enum status renew(const struct merge *merge, struct buffer **buffer, uint32_t capacity, size_t each,
                         const char *what)
{
    buffer_destroy(buffer);
    return buffer_create(merge->device, capacity * each, what, buffer);
}

/* Longer spare arrays, for the merged list, and longer keys. */
static enum status grow_spares(const struct merge *merge, uint32_t capacity, struct particles *list)
{
    struct array arrays[STATE_ARRAYS];
    const size_t count = state_arrays(merge, list, arrays);
    for (size_t n = 0; n < count; n++)
        TRY(renew(merge, arrays[n].spare, capacity, arrays[n].each, arrays[n].what));
    if (list->key)
        TRY(renew(merge, &list->key, capacity, sizeof(uint32_t), "more particle keys"));
    if (list->key_spare)
        TRY(renew(merge, &list->key_spare, capacity, sizeof(uint32_t), "more spare particle keys"));
    return STATUS_OK;
}

/* The old arrays, by now the spare ones, become as long as the others. */
static enum status grow_others(const struct merge *merge, uint32_t capacity, struct particles *list)
{
    struct array arrays[STATE_ARRAYS];
    const size_t count = state_arrays(merge, list, arrays);
    TRY(device_finish(merge->device)); /* or the device holds what is destroyed */
    for (size_t n = 0; n < count; n++)
        TRY(renew(merge, arrays[n].spare, capacity, arrays[n].each, arrays[n].what));
    list->capacity = capacity;
    return STATUS_OK;
}

/* Room for `count` particles and some that may come later. */
static uint32_t roomy(uint32_t count)
{
    const uint64_t capacity = count + (uint64_t)count / SLACK_SHARE;
    return capacity < CONFIG_MAX_PARTICLES ? (uint32_t)capacity : CONFIG_MAX_PARTICLES;
}

/* ---- merging ---- */

static struct launch launch_of(const struct merge *merge, uint32_t count, size_t each)
{
    const uint64_t groups = (count + (uint64_t)merge->group_particles - 1) / merge->group_particles;
    return (struct launch){(size_t)groups, merge->group_items, STAGE_EXCHANGE, (uint64_t)count * each};
}

#define LIST_ARGUMENTS(merge, into, from, count)                                                             \
    arg_buffer((into)->cell_offsets), arg_buffer((from)->cell_offsets), arg_buffer((merge)->merged_offsets), \
        arg_uint((merge)->cells), arg_uint(count)

static enum status merge_states(struct merge *merge, const struct particles *into,
                                const struct particles *from, uint32_t count)
{
    const struct launch launch = launch_of(merge, count, 8 * precision_bytes(merge->precision));
    if (into->quad)
        return KERNEL_LAUNCH(merge->quads, launch, LIST_ARGUMENTS(merge, into, from, count),
                             arg_buffer(into->quad), arg_buffer(from->offset), arg_buffer(from->velocity),
                             arg_buffer(into->quad_spare));
    return KERNEL_LAUNCH(merge->pairs, launch, LIST_ARGUMENTS(merge, into, from, count),
                         arg_buffer(into->offset), arg_buffer(into->velocity), arg_buffer(from->offset),
                         arg_buffer(from->velocity), arg_buffer(into->offset_spare),
                         arg_buffer(into->velocity_spare));
}

static enum status merge_offsets(struct merge *merge, const struct particles *into,
                                 const struct particles *from)
{
    return KERNEL_LAUNCH(merge->offsets,
                         launch_covering(merge->cells + (uint64_t)1, merge->cell_items, STAGE_EXCHANGE,
                                         3 * sizeof(uint32_t) * (uint64_t)merge->cells),
                         arg_buffer(into->cell_offsets), arg_buffer(from->cell_offsets),
                         arg_uint(merge->cells), arg_buffer(merge->merged_offsets));
}

/* From the offsets alone. */
static enum status set_keys(const struct merge *merge, struct particles *into, const struct particles *from,
                            uint32_t count)
{
    if (!into->key)
        return STATUS_OK;
    return KERNEL_LAUNCH(merge->keys, launch_of(merge, count, sizeof(uint32_t)),
                         LIST_ARGUMENTS(merge, into, from, count), arg_buffer(into->key));
}

/* All arrays of the merged list; its state and ids, in the spare arrays, are swapped in. */
static enum status merge_arrays(struct merge *merge, struct particles *into, const struct particles *from,
                                uint32_t count)
{
    TRY(merge_offsets(merge, into, from));
    TRY(merge_states(merge, into, from, count));
    if (into->id)
        TRY(KERNEL_LAUNCH(merge->ids, launch_of(merge, count, 2 * sizeof(uint64_t)),
                          LIST_ARGUMENTS(merge, into, from, count), arg_buffer(into->id),
                          arg_buffer(from->id), arg_buffer(into->id_spare)));
    TRY(set_keys(merge, into, from, count));
    struct array arrays[STATE_ARRAYS];
    for (size_t n = state_arrays(merge, into, arrays); n-- > 0;)
        buffer_swap(*arrays[n].buffer, *arrays[n].spare);
    buffer_swap(into->cell_offsets, merge->merged_offsets);
    return STATUS_OK;
}

enum status merge_lists(struct merge *merge, struct particles *into, struct particles *from)
{
    if (from->count == 0) {
        TRY(merge_offsets(merge, into, from));
        return set_keys(merge, into, from, into->count);
    }
    const uint64_t sum = (uint64_t)into->count + from->count;
    if (sum > CONFIG_MAX_PARTICLES)
        return status_fail(STATUS_FAILED,
                           "species %s: %llu particles have come together on one device, which holds at most "
                           "%u; take more ranks",
                           into->species->name, (unsigned long long)sum, CONFIG_MAX_PARTICLES);
    const uint32_t count = (uint32_t)sum, capacity = roomy(count);
    const bool grows = count > into->capacity;
    if (grows)
        TRY(grow_spares(merge, capacity, into));
    TRY(merge_arrays(merge, into, from, count));
    into->count = count;
    if (grows)
        TRY(grow_others(merge, capacity, into));
    from->count = 0;
    return buffer_fill(from->cell_offsets, 0);
}
