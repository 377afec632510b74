/* RadixPIC's sort for other programs: a stable radix sort of keys of few bits, in the caller's OpenCL
 * context. docs/sort_example.c is a program with it.
 *
 * Errors are those of radixpic.h. RADIXPIC_USAGE is an argument that cannot be, and then nothing was
 * enqueued; RADIXPIC_FAILED may come after a part of the work was.
 *
 * Waiting. Creating a sorter builds its kernels and waits, for queues of its own alone. Sorting and moving
 * only enqueue, as clEnqueueNDRangeKernel() does: the work begins after the events of a wait list, and where
 * `event` is not NULL, it becomes one of the work's end, which the caller releases; flushing and waiting is
 * the caller's. Destroying does not wait either: what was enqueued still ends.
 *
 * Threads. Sorters are independent of one another. Calls about one come one after the other, and so does
 * their work: a sort on a second queue waits for the event of the one before. Queues are in order.
 */
#ifndef RADIXPIC_SORT_H
#define RADIXPIC_SORT_H

#include <radixpic/status.h>

#include <CL/cl.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct radixpic_sorter;

/* What a sorter is made for. Keys have to be below 2^b, and below `cells` where that is not 0: this is not
 * looked at, and work on others is undefined. The smaller b, the faster the sort. */
struct radixpic_sorter_shape {
    uint32_t most;      /* keys of a sort, at most: 1 to 2^31 - 1 */
    uint32_t key_bytes; /* 2, as ushort, or 4, as uint */
    uint32_t key_bits;  /* b, 1 to 8 key_bytes */
    uint32_t cells;     /* where offsets are wanted, up to 2^b; else 0 */
    uint32_t any_order; /* 0: lists are nearly in order, as those of particles after a step; else they are
                           not. Both are sorted right; on GPUs the right answer is faster */
};

/* Buffers, or parts of buffers, of a sort of `count` keys. None shares a byte with another or with the
 * workspace. `keys` are kept. */
struct radixpic_sorter_lists {
    cl_mem keys;        /* key_bytes each */
    cl_mem permutation; /* uint[count]: sorted[j] = keys[permutation[j]] */
    cl_mem sorted_keys; /* as `keys`, or NULL */
    cl_mem offsets;     /* uint[cells + 1], the number of keys below c for c = 0..cells, or NULL */
};

/* Sets *bytes to the size of the workspace that a sorter on this device needs. */
RADIXPIC_API enum radixpic_status
radixpic_sorter_workspace(cl_device_id device, const struct radixpic_sorter_shape *shape, size_t *bytes);

/* Makes a sorter. `workspace` is a buffer of that size or more, or NULL: then the sorter has memory of its
 * own. Nothing in it is kept from one sort to the next, so it may serve others in between, other sorters too.
 * *sorter is NULL after a failure. */
RADIXPIC_API enum radixpic_status radixpic_sorter_create(cl_context context, cl_device_id device,
                                                         const struct radixpic_sorter_shape *shape,
                                                         cl_mem workspace, struct radixpic_sorter **sorter);

/* Frees what the sorter holds. *sorter becomes NULL; it may be so before. A workspace that is shared with
 * sorters made later, and the context, are let go when these are destroyed too. */
RADIXPIC_API void radixpic_sorter_destroy(struct radixpic_sorter **sorter);

/* Enqueues a sort of `count` keys, 0 to `most`. */
RADIXPIC_API enum radixpic_status radixpic_sorter_sort(struct radixpic_sorter *sorter, cl_command_queue queue,
                                                       uint32_t count,
                                                       const struct radixpic_sorter_lists *lists,
                                                       cl_uint wait_count, const cl_event *wait_list,
                                                       cl_event *event);

/* Enqueues to[j] = from[permutation[j]] of `count` elements of 4, 8, 16 or 32 bytes: three buffers. */
RADIXPIC_API enum radixpic_status radixpic_sorter_move(struct radixpic_sorter *sorter, cl_command_queue queue,
                                                       uint32_t count, cl_mem permutation, size_t bytes,
                                                       cl_mem from, cl_mem to, cl_uint wait_count,
                                                       const cl_event *wait_list, cl_event *event);

#ifdef __cplusplus
}
#endif

#endif
