/* Device: one OpenCL device with its queues, and what lives on it: buffers, programs, kernels.
 *
 * A `struct device` is a handle: it owns all that is made through it, and device_close() destroys that, the
 * latest first. So a part is created with the handle that it is to die with, and what a failed creation left
 * behind goes the same way. This room alone sees OpenCL headers. Nothing here waits for the device unless its
 * description says so.
 */
#ifndef RADIXPIC_DEVICE_DEVICE_H
#define RADIXPIC_DEVICE_DEVICE_H

#include "base/timer.h"
#include "config/config.h"

#include <stdio.h>

struct device;
struct buffer;
struct program;
struct kernel;

/* What matters of a device for choosing launch shapes. */
struct device_info {
    char name[256];
    char platform[256];
    char driver[128];
    char version[128]; /* OpenCL version */
    bool is_cpu;
    bool is_gpu;
    bool is_pocl;
    bool has_fp64;
    bool has_fma;           /* multiplies and adds in one operation */
    bool has_int64_atomics; /* adds to 64-bit integers at once */
    uint32_t platform_index, device_index;
    uint32_t compute_units;
    size_t local_memory;  /* bytes a group may use */
    size_t global_memory; /* bytes, as the driver tells; PoCL's figure is not the machine's */
    size_t largest_buffer;
    size_t group_limit; /* items a group may have */
    uint64_t kernels;   /* of the device once it is open: a digest of all sources in program_folder() */
};

/* ---- choosing and opening ---- */

/* Opens the device that `spec` names: "cpu", "gpu", "auto" (a GPU if there is one, else any), "P:D" (platform
 * and device numbers of `radixpic devices`), or part of a name, case ignored; of those that fit, number
 * `turn` modulo how many they are, so that the processes of a machine take different ones. The first one
 * opened in a process decides that PoCL has a thread for each of `processors`, 0: all that the process may
 * run on, unless the environment says how many. STATUS_NO_DEVICE when nothing fits; the message lists what
 * there is. The caller closes it. */
STATUS_CHECKED enum status device_open(const char *spec, uint32_t turn, uint32_t processors,
                                       struct device **device);

/* device_open_in() opens the device `id`, a cl_device_id, in the caller's `context`, a cl_context; launches
 * are not timed. device_info_of() describes such a device without opening it. STATUS_USAGE where the
 * arguments are something else. */
STATUS_CHECKED enum status device_open_in(void *context, void *id, struct device **device);
STATUS_CHECKED enum status device_info_of(void *id, struct device_info *info);

/* Another handle of the same device, owned by `device`, for what is to be destroyed earlier. */
STATUS_CHECKED enum status device_branch(struct device *device, struct device **branch);

/* Destroys what the handle owns, its branches included, the latest first; the first handle closes the device
 * too, after all work is done. */
void device_close(struct device **device);

/* Closes a handle after the work that it was made for, and returns the status of that work. */
STATUS_CHECKED enum status device_close_after(struct device **device, enum status status);

/* A device whose buffers are counted in device_bytes_held() and not allocated; reads give zeros, and launches
 * do nothing. So the memory of a run is found by creating its parts. */
STATUS_CHECKED enum status device_open_counting(const struct device_info *info, struct device **device);
bool device_is_counting(const struct device *device);

/* Starts processes that build, for the driver's cache, what the parts on a counting device asked for and no
 * process has built yet: a driver builds one program at a time in a process. device_open()'s handle builds
 * the same meanwhile and waits for what another has begun. Where no process can be started, or the user's
 * cache folder is missing, nothing happens. device_end_builders(): those that have ended leave no trace;
 * `wait`: those that have not are waited for. */
void device_start_builders(const struct device *device, const struct device *counting, int ranks);
void device_end_builders(bool wait);

/* What such a process does, which `radixpic BUILDERS_COMMAND` starts: arguments[0] is a device P:D, then what
 * is before its file, file and options of each program follow. Of a library's programs the file is LIBRARY,
 * and build_library(device, options) has them built. */
#define BUILDERS_COMMAND "build-kernels"
STATUS_CHECKED enum status device_build_for_others(int count, char **arguments,
                                                   enum status (*build_library)(struct device *device,
                                                                                const char *options));

/* Between the two calls a library has its own programs built, which `options` tells from all others: for
 * builders they are one program more. On a counting device there is nothing to do between them. */
STATUS_CHECKED enum status device_begin_library(struct device *device, const char *options);
void device_end_library(struct device *device, bool is_built);

/* Memory of the host, all 0, owned by the handle. NULL, with a sentence recorded, where there is none. */
void *device_alloc(struct device *device, size_t count, size_t size);

/* TRY(DEVICE_NEW(device, *part)) and TRY(DEVICE_NEW_ARRAY(device, counts, cells)): by the pointer's type. */
#define DEVICE_NEW(device, pointer) DEVICE_NEW_ARRAY(device, pointer, 1)
#define DEVICE_NEW_ARRAY(device, pointer, count)                                                             \
    (((pointer) = device_alloc((device), (count), sizeof *(pointer))) ? STATUS_OK : STATUS_FAILED)

/* device_close() calls close(object). Where that cannot be arranged, it is called now. */
STATUS_CHECKED enum status device_at_close(struct device *device, void (*close)(void *object), void *object);

const struct device_info *device_info(const struct device *device);

/* text <- how many threads PoCL has beside the processors of the process, for people; empty of another
 * device. */
void device_describe_threads(const struct device_info *info, size_t size, char text[static size]);

/* Prints every platform and device with what matters. STATUS_NO_DEVICE when there is none. */
STATUS_CHECKED enum status device_list(FILE *stream);

/* Bytes in buffers of this device, now and at most since the last call. */
size_t device_bytes_held(const struct device *device);
size_t device_most_bytes_held(struct device *device);

/* device_finish() waits until everything enqueued is done, device_finish_queue() until the queue in use is
 * empty. */
STATUS_CHECKED enum status device_finish(struct device *device);
STATUS_CHECKED enum status device_finish_queue(struct device *device);

/* device_mark() notes how far the queue in use is now, and device_finish_mark() waits for that and for
 * nothing that came later. There is one mark at a time; without one nothing is waited for. */
STATUS_CHECKED enum status device_mark(struct device *device);
STATUS_CHECKED enum status device_finish_mark(struct device *device);

/* Work goes in order to the main queue. What can run at the same time as that goes to the side queue:
 *
 *   device_fork(device)               what goes there begins after all that the main queue has by then
 *   device_use(device, QUEUE_SIDE)    launches and transfers go there ...
 *   device_use(device, QUEUE_MAIN)    ... until here, or until the join
 *   device_join(device)               what goes to the main queue begins after all that the side queue has
 *
 * None of them waits; a blocking transfer waits for its own queue. A fork is joined before other code gives
 * the device work on the same buffers. In between both queues may work on disjoint parts of one buffer:
 * OpenCL does not promise that this is safe, and every driver met so far keeps it. */
enum device_queue { QUEUE_MAIN, QUEUE_SIDE, QUEUES };
STATUS_CHECKED enum status device_fork(struct device *device);
STATUS_CHECKED enum status device_use(struct device *device, enum device_queue queue);
STATUS_CHECKED enum status device_join(struct device *device);

/* Waits, then returns the times of all stages since the last device_reset_timers(). Owned by the device. */
const struct timers *device_timers(struct device *device);
void device_reset_timers(struct device *device);

/* From now on each launch counts `weight` times in the timers, at first once; with 0 it is not timed, which
 * spares a GPU some microseconds each. */
void device_weigh_times(struct device *device, uint32_t weight);

/* Times work of the host into the same table. */
void device_add_time(struct device *device, enum stage stage, double seconds, uint64_t bytes);

/* Work between these two calls that carries no event of its own, as VkFFT's launches, is timed as one launch
 * of `stage`. The end returns the status of that work where it failed, else its own. */
STATUS_CHECKED enum status device_region_begin(struct device *device);
STATUS_CHECKED enum status device_region_end(struct device *device, enum stage stage, uint64_t bytes,
                                             enum status status);

/* A function of the host that works on the memory of two buffers. */
typedef void host_function(const void *context, void *const *memory);
enum { HOST_CALL_BUFFERS = 2 };

/* Runs function(context, memory) in the order of the queue; memory[n] is where buffers[n] lies for the host;
 * they are different ones, and no views. CPU devices enqueue it as a native kernel: `context` must live until
 * it has run. Other devices wait, map the buffers and call it. Its time is that of a region around it. */
STATUS_CHECKED enum status device_call_host(struct device *device, host_function *function,
                                            const void *context,
                                            struct buffer *const buffers[HOST_CALL_BUFFERS]);

/* Chooses whether device_call_host() only enqueues from now on, as is the default, and returns whether it
 * does: some devices cannot. */
bool device_queue_host_calls(struct device *device, bool wanted);

/* The native handles, for VkFFT alone, as is buffer_native(), a cl_mem. */
struct device_native {
    void *platform, *device, *context, *queue;
};
struct device_native device_native(const struct device *device);

/* ---- buffers ---- */

/* A device array. `what` names it in the message when memory runs out (STATUS_FAILED). A size of 0 is
 * allowed. buffer_destroy() is for what must go before its owner. */
STATUS_CHECKED enum status buffer_create(struct device *device, size_t bytes, const char *what,
                                         struct buffer **buffer);
void buffer_destroy(struct buffer **buffer);

/* A buffer that holds the `bytes` bytes of `contents`. Blocking. */
STATUS_CHECKED enum status buffer_create_with(struct device *device, size_t bytes, const char *what,
                                              const void *contents, struct buffer **buffer);
size_t buffer_bytes(const struct buffer *buffer);

/* A buffer of zeros, a multiple of 4 bytes, which are enqueued. It has memory of its own even after
 * device_place_buffers(), so that its contents last. */
STATUS_CHECKED enum status buffer_create_zeroed(struct device *device, size_t bytes, const char *what,
                                                struct buffer **buffer);

/* A part of the buffer `whole` as a buffer of its own, from byte `offset`, a multiple of
 * BUFFER_VIEW_ALIGNMENT. The view is destroyed before the whole. */
STATUS_CHECKED enum status buffer_view(struct buffer *whole, size_t offset, size_t bytes,
                                       struct buffer **view);

/* More than any device asks for (NVIDIA 512, PoCL 128), so that sizes are the same on all. */
enum { BUFFER_VIEW_ALIGNMENT = 4096 };

/* Bytes from one array of `bytes` to the next, where several in one buffer have a view each. */
static inline size_t buffer_view_stride(size_t bytes)
{
    return (bytes + BUFFER_VIEW_ALIGNMENT - 1) / BUFFER_VIEW_ALIGNMENT * BUFFER_VIEW_ALIGNMENT;
}

/* Swaps what two buffers hold; no data moves, and each stays with its owner. */
void buffer_swap(struct buffer *a, struct buffer *b);

/* Blocking transfers of `bytes` from byte `offset`. */
STATUS_CHECKED enum status buffer_read(const struct buffer *buffer, size_t offset, size_t bytes,
                                       void *destination);
STATUS_CHECKED enum status buffer_write(struct buffer *buffer, size_t offset, size_t bytes,
                                        const void *source);

/* A part of a buffer that consists of rows of `stride` bytes: of `count` rows from row `first` on, the
 * `bytes` bytes from byte `begin` of the row on. */
struct buffer_rows {
    size_t begin, bytes, stride, first, count;
};

/* values[count][bytes] <- parts of rows, as fast as bus and processors of the host can. Blocking. */
STATUS_CHECKED enum status buffer_read_rows(struct buffer *buffer, const struct buffer_rows *rows,
                                            void *values);

/* Only enqueues: `source` stays as it is until the queue is that far. */
STATUS_CHECKED enum status buffer_send(struct buffer *buffer, size_t offset, size_t bytes,
                                       const void *source);

/* Fills the whole buffer with a 32-bit pattern (enqueued). The size must be a multiple of 4. */
STATUS_CHECKED enum status buffer_fill(struct buffer *buffer, uint32_t pattern);

/* Copies `bytes` between two different buffers on the device, from byte `from_offset` to byte `to_offset`
 * (enqueued), timed into `stage`. */
STATUS_CHECKED enum status buffer_copy(const struct buffer *from, size_t from_offset, struct buffer *to,
                                       size_t to_offset, size_t bytes, enum stage stage);

/* Makes the whole buffer readable and writable by the host until buffer_unmap(). Waits for the queue. On a
 * CPU device this is the device's own memory, not a copy. */
STATUS_CHECKED enum status buffer_map(struct buffer *buffer, void **memory);
STATUS_CHECKED enum status buffer_unmap(struct buffer *buffer, void *memory);

void *buffer_native(struct buffer *buffer);

/* buffer_map() of memory that lives until buffer_let_go(*native), whatever becomes of the buffer. */
STATUS_CHECKED enum status buffer_lend(struct buffer *buffer, void **memory, void **native);
void buffer_let_go(void *native);

/* Transfer `count` reals of a precision from element `first` on, as doubles. Blocking. */
STATUS_CHECKED enum status buffer_read_reals(const struct buffer *buffer, enum precision precision,
                                             size_t first, size_t count, double *destination);
STATUS_CHECKED enum status buffer_write_reals(struct buffer *buffer, enum precision precision, size_t first,
                                              size_t count, const double *source);

/* The reals of a precision in the first bytes of values[count] become doubles. */
void reals_widen(enum precision precision, size_t count, double *values);

/* Bytes of one real. */
size_t precision_bytes(enum precision precision);

/* Memory of the host that a device reads and writes without a detour, for transfers of every step: *memory is
 * where the host finds `bytes` bytes (contents undefined). STATUS_FAILED when memory runs out. */
STATUS_CHECKED enum status host_memory_create(struct device *device, size_t bytes, void **memory);

/* Makes the caller's memory such memory. It begins with a page, and outlives the handle. */
STATUS_CHECKED enum status host_memory_adopt(struct device *device, void *memory, size_t bytes);

/* Transfers of `bytes` from byte `offset` of a buffer to such memory, and back (enqueued, and timed into
 * `stage`). The memory is to be left alone until device_finish() or a later blocking transfer. */
STATUS_CHECKED enum status host_memory_read(const struct buffer *buffer, size_t offset, size_t bytes,
                                            void *destination, enum stage stage);
STATUS_CHECKED enum status host_memory_write(struct buffer *buffer, size_t offset, size_t bytes,
                                             const void *source, enum stage stage);

/* ---- programs and kernels ---- */

/* Where kernels are read from: RADIXPIC_KERNELS, else the folder that was installed with the program or
 * library, by its place now, else that of the source tree that it was built in. */
const char *program_folder(void);

/* Builds program_folder()/<file> with `-D` options from a printf-style format, e.g. "-D RADIX_BITS=%u".
 * Precision adds -D REAL_IS_DOUBLE=0|1. The message of a build error holds file, options and the whole log; a
 * double program on a device without fp64 is STATUS_FAILED too. */
STATUS_CHECKED enum status program_build(struct device *device, const char *file, enum precision precision,
                                         struct program **program, const char *options_format, ...)
    __attribute__((format(printf, 5, 6)));

/* The same without options, from `before` and then the file: lines that define what the file leaves to the
 * host. */
STATUS_CHECKED enum status program_build_after(struct device *device, const char *before, const char *file,
                                               enum precision precision, struct program **program);

STATUS_CHECKED enum status kernel_create(struct program *program, const char *name, struct kernel **kernel);

enum kernel_argument_kind {
    ARGUMENT_NONE,
    ARGUMENT_BUFFER,
    ARGUMENT_BYTES, /* as the kernel has them */
    ARGUMENT_REALS, /* doubles here, float or double in the kernel */
    ARGUMENT_LOCAL  /* bytes of local memory */
};

enum { MOST_REALS = 16, MOST_ARGUMENTS = 23 };

struct kernel_argument {
    enum kernel_argument_kind kind;
    size_t count;       /* of bytes or reals */
    const void *values; /* numbers that are a struct in the kernel, or a buffer; NULL: one number, in `own` */
    union {
        uint32_t uint_value;
        uint64_t ulong_value;
        double real_value;
    } own;
};

static inline struct kernel_argument arg_buffer(const struct buffer *buffer)
{
    return (struct kernel_argument){.kind = ARGUMENT_BUFFER, .values = buffer};
}
/* One of the last arguments; NULL leaves it out. */
static inline struct kernel_argument arg_if_any(const struct buffer *buffer)
{
    return buffer ? arg_buffer(buffer) : (struct kernel_argument){.kind = ARGUMENT_NONE};
}
static inline struct kernel_argument arg_uint(uint32_t value)
{
    return (struct kernel_argument){ARGUMENT_BYTES, sizeof value, NULL, {.uint_value = value}};
}
static inline struct kernel_argument arg_ulong(uint64_t value)
{
    return (struct kernel_argument){ARGUMENT_BYTES, sizeof value, NULL, {.ulong_value = value}};
}
static inline struct kernel_argument arg_real(double value)
{
    return (struct kernel_argument){ARGUMENT_REALS, 1, NULL, {.real_value = value}};
}
/* Structs of `count` uints, or reals, up to MOST_REALS of these. `values` must live until the launch. */
static inline struct kernel_argument arg_uints(const uint32_t *values, size_t count)
{
    return (struct kernel_argument){ARGUMENT_BYTES, count * sizeof *values, values, {0}};
}
static inline struct kernel_argument arg_reals(const double *values, size_t count)
{
    return (struct kernel_argument){ARGUMENT_REALS, count, values, {0}};
}
static inline struct kernel_argument arg_local(size_t bytes)
{
    return (struct kernel_argument){.kind = ARGUMENT_LOCAL, .count = bytes};
}

static inline struct kernel_argument arg_itself(struct kernel_argument argument)
{
    return argument;
}

/* One launch: `groups` work-groups of `items` work-items, in one dimension; nothing where there are no
 * groups. With 0 items so many groups of 64, or as many as the device allows, that `groups` items are had. */
struct launch {
    size_t groups, items;
    enum stage stage;
    uint64_t bytes; /* that it must move, for GB/s */
};

/* Groups of `items` with an item for each piece of work; kernels leave out what is beyond `work`. */
static inline struct launch launch_covering(uint64_t work, size_t items, enum stage stage, uint64_t bytes)
{
    return (struct launch){(size_t)((work + items - 1) / items), items, stage, bytes};
}

/* An item for each piece of work, where the number of items in a group does not matter. */
static inline struct launch launch_flat(uint64_t work, enum stage stage, uint64_t bytes)
{
    return (struct launch){(size_t)work, 0, stage, bytes};
}

/* `wanted` items, or as many as a group of this device may have. */
size_t device_group_items(const struct device *device, size_t wanted);

/* The items of a group that share a row of `elements`: as many as it has, rounded up to a power of two from
 * 32 to 256, and one on a CPU. */
size_t device_row_items(const struct device *device, uint32_t elements);

/* Sets the arguments, up to the first of kind ARGUMENT_NONE, and enqueues the kernel (non-blocking). */
STATUS_CHECKED enum status kernel_launch(struct kernel *kernel, struct launch launch,
                                         const struct kernel_argument *arguments);

/* KERNEL_LAUNCH(kernel, launch, argument, ...): each of up to 22 arguments is a buffer, a uint32_t, a
 * uint64_t, a double, arg_uints(), arg_reals(), or arg_local(bytes). Its C type alone decides how it is
 * passed: what the kernel takes as a real is a double here (2.0, not 2), and what it takes as a uint no
 * size_t. More arguments do not compile, or the launch refuses them. */
#define KERNEL_LAUNCH(kernel, launch, ...)                                                                   \
    LAUNCH_WITH(kernel, launch, __VA_ARGS__, ARG_END, ARG_END, ARG_END, ARG_END, ARG_END, ARG_END, ARG_END,  \
                ARG_END, ARG_END, ARG_END, ARG_END, ARG_END, ARG_END, ARG_END, ARG_END, ARG_END, ARG_END,    \
                ARG_END, ARG_END, ARG_END, ARG_END, ARG_END, ARG_END)
#define LAUNCH_WITH(kernel, launch, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, end,   \
                    ...)                                                                                     \
    kernel_launch((kernel), (launch),                                                                        \
                  (const struct kernel_argument[]){                                                          \
                      ARGUMENT(a), ARGUMENT(b), ARGUMENT(c), ARGUMENT(d), ARGUMENT(e),        ARGUMENT(f),   \
                      ARGUMENT(g), ARGUMENT(h), ARGUMENT(i), ARGUMENT(j), ARGUMENT(k),        ARGUMENT(l),   \
                      ARGUMENT(m), ARGUMENT(n), ARGUMENT(o), ARGUMENT(p), ARGUMENT(q),        ARGUMENT(r),   \
                      ARGUMENT(s), ARGUMENT(t), ARGUMENT(u), ARGUMENT(v), LAST_ARGUMENT(end), ARG_END})
#define ARG_END            ((struct kernel_argument){.kind = ARGUMENT_NONE})
#define LAST_ARGUMENT(end) _Generic((end), struct kernel_argument : (end))
#define ARGUMENT(x)                                                                                          \
    _Generic((x),                                                                                            \
             struct buffer *: arg_buffer,                                                                    \
             const struct buffer *: arg_buffer,                                                              \
             uint32_t: arg_uint,                                                                             \
             int: arg_uint,                                                                                  \
             bool: arg_uint,                                                                                 \
             uint64_t: arg_ulong,                                                                            \
             double: arg_real,                                                                               \
             struct kernel_argument: arg_itself)(x)

/* ---- queues and memory of another program ---- */

/* From now on buffer_create() takes parts of `memory`, which is borrowed, and which others may use
 * between two pieces of work here: buffer_create_zeroed() makes what is to last. The bytes that are taken are
 * counted on a counting device too. */
void device_place_buffers(struct device *device, const struct buffer *memory);
size_t device_bytes_placed(const struct device *device);

/* Makes a cl_mem a buffer of this handle. STATUS_USAGE, naming it `what`, where it is none of the context or
 * has less than `bytes` bytes. */
STATUS_CHECKED enum status buffer_borrow(struct device *device, void *memory, size_t bytes, const char *what,
                                         struct buffer **buffer);

/* For borrowed buffers: whether two have a byte in common, and the cl_mem that one is a part of, or is. */
bool buffers_overlap(const struct buffer *one, const struct buffer *other);
void *buffer_root(const struct buffer *buffer);

/* From now on work goes to `queue`, a cl_command_queue, after `count` cl_events. STATUS_USAGE: it is none. */
STATUS_CHECKED enum status device_borrow_queue(struct device *device, void *queue, uint32_t count,
                                               const void *events);

/* Gives the borrowed queue back: work goes to the handle's own queue again. `event`, if not NULL, becomes a
 * cl_event that marks the end of the work in the borrowed queue. */
STATUS_CHECKED enum status device_return_queue(struct device *device, void *event);

#endif
