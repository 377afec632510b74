/* Library: the sort for other programs, on their own queues and buffers. */
#include "radixpic/sort.h"

#include "library/internal.h"

#include "particles/permute.h"
#include "sort/sorter.h"

struct radixpic_sorter {
    struct device *device; /* owns the rest, this struct too */
    struct radixpic_sorter_shape shape;
    struct sorter *sorter;
    struct permute *permute;
    struct buffer *workspace;      /* NULL: it has memory of its own */
    struct radixpic_sorter *older; /* the next in the list of those with a workspace */
    bool is_destroyed;
};

/* ---- making one ---- */

static enum status check_shape(const struct radixpic_sorter_shape *shape)
{
    const uint32_t bytes = shape->key_bytes, bits = shape->key_bits;
    if (shape->most < 1 || shape->most > INT32_MAX)
        return status_fail(STATUS_USAGE, "most: expected 1 to %d, found %u", INT32_MAX, shape->most);
    if (bytes != 2 && bytes != 4)
        return status_fail(STATUS_USAGE, "key_bytes: expected 2 or 4, found %u", bytes);
    if (bits < 1 || bits > 8 * bytes)
        return status_fail(STATUS_USAGE, "key_bits: expected 1 to %u, found %u", 8 * bytes, bits);
    const uint32_t most_cells = bits < 31 ? UINT32_C(1) << bits : INT32_MAX;
    if (shape->cells > most_cells)
        return status_fail(STATUS_USAGE, "cells: expected up to %u for keys of %u bits, found %u", most_cells,
                           bits, shape->cells);
    return STATUS_OK;
}

static enum status create_parts(struct radixpic_sorter *sorter)
{
    struct device *device = sorter->device;
    const struct radixpic_sorter_shape *shape = &sorter->shape;
    const bool short_keys = shape->key_bytes == 2;
    struct sorter_plan plan;
    struct buffer *any = NULL;
    TRY(sorter_plan_make(device_info(device), &(struct sort_config){0}, shape->key_bits, shape->most, &plan));
    plan.radix.short_keys = plan.fast.short_keys = short_keys;
    plan.fast.any_order = shape->any_order != 0;
    plan.radix.transpose = plan.radix.transpose && !short_keys;
    TRY(sorter_create(device, &plan, shape->most, &sorter->sorter));
    TRY(permute_create(device, &sorter->permute));
    /* a sort of no keys builds the kernels that only some sorts take */
    TRY(buffer_create_zeroed(device, sizeof(uint32_t), "an offset", &any));
    TRY(sorter_run(sorter->sorter, 0, &(struct radix_lists){any, any, any, any, 0}));
    return device_finish(device);
}

static enum status find_workspace(void *id, const struct radixpic_sorter_shape *shape, size_t *bytes)
{
    struct device_info info;
    struct radixpic_sorter counted = {0};
    TRY(GIVEN(shape, bytes));
    *bytes = 0;
    TRY(handle_require_process());
    TRY(check_shape(shape));
    counted.shape = *shape;
    TRY(device_info_of(id, &info));
    TRY(device_open_counting(&info, &counted.device));
    const enum status status = create_parts(&counted);
    *bytes = device_bytes_placed(counted.device);
    device_close(&counted.device);
    return status;
}

enum radixpic_status radixpic_sorter_workspace(cl_device_id device, const struct radixpic_sorter_shape *shape,
                                               size_t *bytes)
{
    IN_C_LOCALE;
    return (enum radixpic_status)find_workspace(device, shape, bytes);
}

static enum status create(cl_context context, cl_device_id id, const struct radixpic_sorter_shape *shape,
                          cl_mem workspace, struct device **device, struct radixpic_sorter **sorter)
{
    size_t bytes = 0;
    TRY(GIVEN(shape));
    TRY(handle_require_process());
    TRY(check_shape(shape));
    if (workspace)
        TRY(find_workspace(id, shape, &bytes));
    TRY(device_open_in(context, id, device));
    TRY(DEVICE_NEW(*device, *sorter));
    **sorter = (struct radixpic_sorter){.device = *device, .shape = *shape};
    if (workspace) {
        TRY(buffer_borrow(*device, workspace, bytes, "workspace", &(*sorter)->workspace));
        device_place_buffers(*device, (*sorter)->workspace);
    }
    return create_parts(*sorter);
}

/* ---- sorters in one buffer ---- */

/* The sorters with a workspace, the youngest first. NVIDIA's driver (580.159) crashes where parts of a buffer
 * that overlap are released in another order than from the youngest to the oldest. So they are made one at a
 * time, and one that is destroyed keeps its parts until all younger ones in the same buffer are destroyed. */
static struct radixpic_sorter *youngest;
static pthread_mutex_t workspaces = PTHREAD_MUTEX_INITIALIZER;

static bool is_below_another(const struct radixpic_sorter *sorter)
{
    const struct radixpic_sorter *younger = youngest;
    while (younger != sorter && buffer_root(younger->workspace) != buffer_root(sorter->workspace))
        younger = younger->older;
    return younger != sorter;
}

static void close_destroyed(void)
{
    struct radixpic_sorter **at = &youngest;
    while (*at) {
        struct radixpic_sorter *sorter = *at;
        if (sorter->is_destroyed && !is_below_another(sorter)) {
            *at = sorter->older;
            device_close(&(struct device *){sorter->device});
        } else {
            at = &sorter->older;
        }
    }
}

enum radixpic_status radixpic_sorter_create(cl_context context, cl_device_id device,
                                            const struct radixpic_sorter_shape *shape, cl_mem workspace,
                                            struct radixpic_sorter **sorter)
{
    IN_C_LOCALE;
    struct device *opened = NULL;
    if (GIVEN(sorter) != STATUS_OK)
        return RADIXPIC_USAGE;
    *sorter = NULL;
    if (workspace)
        pthread_mutex_lock(&workspaces);
    const enum status status = create(context, device, shape, workspace, &opened, sorter);
    if (status != STATUS_OK) {
        *sorter = NULL;
        device_close(&opened);
    }
    if (workspace) {
        if (*sorter) {
            (*sorter)->older = youngest;
            youngest = *sorter;
        }
        pthread_mutex_unlock(&workspaces);
    }
    return (enum radixpic_status)status;
}

void radixpic_sorter_destroy(struct radixpic_sorter **sorter)
{
    struct radixpic_sorter *destroyed = sorter ? *sorter : NULL;
    if (destroyed)
        *sorter = NULL;
    if (!destroyed || handle_require_process() != STATUS_OK)
        return; /* what a forked process has of it ends with that process */
    if (destroyed->workspace) {
        pthread_mutex_lock(&workspaces);
        destroyed->is_destroyed = true;
        close_destroyed();
        pthread_mutex_unlock(&workspaces);
    } else {
        device_close(&(struct device *){destroyed->device});
    }
}

/* ---- sorting and moving ---- */

enum { MOST_PLACES = 5 };

struct call {
    struct device *device; /* a handle of its own, which owns the buffers of the call */
    enum status status;
    struct buffer *taken[MOST_PLACES]; /* the workspace and lists */
    int count;
};

static struct buffer *borrow(struct call *call, const char *name, cl_mem memory, uint64_t bytes)
{
    struct buffer *buffer = NULL;
    if (call->status == STATUS_OK)
        call->status = buffer_borrow(call->device, memory, bytes, name, &buffer);
    for (int n = 0; n < call->count && call->status == STATUS_OK; n++)
        if (buffers_overlap(call->taken[n], buffer))
            call->status = status_fail(
                STATUS_USAGE, "%s: expected memory that is in no other list and not in the workspace", name);
    call->taken[call->count++] = buffer;
    return buffer;
}

static enum radixpic_status end(const struct radixpic_sorter *sorter, struct call *call, cl_event *event)
{
    const bool is_done = call->status == STATUS_OK;
    const enum status status = device_return_queue(sorter->device, is_done ? event : NULL);
    device_close(&call->device);
    return (enum radixpic_status)(is_done ? status : call->status);
}

enum radixpic_status radixpic_sorter_sort(struct radixpic_sorter *sorter, cl_command_queue queue,
                                          uint32_t count, const struct radixpic_sorter_lists *lists,
                                          cl_uint wait_count, const cl_event *wait_list, cl_event *event)
{
    IN_C_LOCALE;
    if (GIVEN(sorter, lists) != STATUS_OK || handle_require_process() != STATUS_OK)
        return RADIXPIC_USAGE;
    const uint32_t most = sorter->shape.most, cells = sorter->shape.cells;
    const uint64_t words = count * (uint64_t)sizeof(uint32_t),
                   keys = (uint64_t)count * sorter->shape.key_bytes;
    struct radix_lists own = {.cells = cells};
    struct call call = {.taken = {sorter->workspace}, .count = sorter->workspace != NULL};
    call.status = count > most ? status_fail(STATUS_USAGE, "count: expected up to %u, found %u", most, count)
                  : lists->offsets && cells == 0
                      ? status_fail(STATUS_USAGE, "offsets: the sorter was made for 0 cells")
                      : device_branch(sorter->device, &call.device);
    own.keys = borrow(&call, "keys", lists->keys, keys);
    own.permutation = borrow(&call, "permutation", lists->permutation, words);
    if (lists->sorted_keys)
        own.sorted_keys = borrow(&call, "sorted_keys", lists->sorted_keys, keys);
    if (lists->offsets)
        own.cell_offsets = borrow(&call, "offsets", lists->offsets, (cells + UINT64_C(1)) * sizeof(uint32_t));
    if (call.status == STATUS_OK)
        call.status = device_borrow_queue(sorter->device, queue, wait_count, wait_list);
    if (call.status == STATUS_OK)
        call.status = sorter_run(sorter->sorter, count, &own);
    return end(sorter, &call, event);
}

enum radixpic_status radixpic_sorter_move(struct radixpic_sorter *sorter, cl_command_queue queue,
                                          uint32_t count, cl_mem permutation, size_t bytes, cl_mem from,
                                          cl_mem to, cl_uint wait_count, const cl_event *wait_list,
                                          cl_event *event)
{
    IN_C_LOCALE;
    struct call call = {0}; /* a move takes no workspace */
    if (GIVEN(sorter) != STATUS_OK || handle_require_process() != STATUS_OK)
        return RADIXPIC_USAGE;
    call.status = bytes == 4 || bytes == 8 || bytes == 16 || bytes == 32
                      ? device_branch(sorter->device, &call.device)
                      : status_fail(STATUS_USAGE, "bytes: expected 4, 8, 16 or 32, found %zu", bytes);
    const struct buffer *order =
        borrow(&call, "permutation", permutation, count * (uint64_t)sizeof(uint32_t));
    struct buffer *source = borrow(&call, "from", from, (uint64_t)count * bytes);
    struct buffer *target = borrow(&call, "to", to, (uint64_t)count * bytes);
    if (call.status == STATUS_OK)
        call.status = device_borrow_queue(sorter->device, queue, wait_count, wait_list);
    if (call.status == STATUS_OK)
        call.status = permute_array(sorter->permute, order, count, bytes, source, target);
    return end(sorter, &call, event);
}
