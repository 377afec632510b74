/* Device, inside: the structs behind the opaque handles. For this room only. */
#ifndef RADIXPIC_DEVICE_INTERNAL_H
#define RADIXPIC_DEVICE_INTERNAL_H

#include "device/device.h"

#include <CL/cl.h>
#include <limits.h>
#include <xxhash.h>

struct built;

/* Enqueued work whose profiling events are not read yet. `begin` is NULL where one event covers the work. */
struct pending_event {
    cl_event begin, end;
    enum stage stage;
    uint64_t bytes;
    uint32_t weight; /* of the launch in the timers */
};

enum { PENDING_CAPACITY = 2048 };

/* The first member of everything that a device handle owns. */
struct owned {
    struct owned *next, **link; /* link: where the pointer to this one lies */
    void (*release)(struct owned *owned);
};

/* A new object of `size` bytes, all 0, that the handle owns; device_close() calls `release`, which frees it.
 * NULL, with a sentence recorded, where there is no memory. */
void *device_own_new(struct device *device, size_t size, void (*release)(struct owned *owned));

/* Takes `owned` out of its handle's list and releases it. */
void device_release(struct owned *owned);

struct device {
    struct owned owned;  /* by the handle that it branched off; the first handle by nothing */
    struct core *core;   /* owned by the first handle */
    struct owned *first; /* what this handle owns, the latest first */
};

/* A program in the user's cache folder. */
struct kept {
    XXH128_canonical_t digest; /* of device, driver, options and source: another for each program */
    size_t uses;               /* how often it was built, up to the number from which a binary is kept */
    int file;                  /* its length counts the uses; -1: there is no folder that can be written to */
};

/* What all handles of a device have in common. */
struct core {
    struct device first_handle;
    bool has_stored;  /* a binary of a program */
    bool is_counting; /* no device at all: buffers have sizes only, launches and transfers do nothing */
    cl_platform_id platform;
    cl_device_id id;
    cl_context context;
    cl_command_queue queue;          /* where work goes: one of `queues` */
    cl_command_queue queues[QUEUES]; /* in order, each */
    struct built *built;             /* the programs that were built, the latest first */
    struct kept library;             /* between device_begin_library() and device_end_library() */
    struct device_info info;
    size_t bytes_held, most_bytes_held;
    uint64_t buffers_created;
    struct timers timers;
    struct pending_event pending[PENDING_CAPACITY]; /* oldest first */
    size_t pending_count;
    uint32_t weight;     /* of launches from now on; 0: without events */
    cl_mem placement;    /* memory for buffers, not owned: device_place_buffers(); NULL: each has its own */
    size_t placed_bytes; /* used of the placement, or what would be used of one, in steps of a view */
    void *staging;       /* of buffer_read_rows() */
    size_t staging_bytes;
    bool calls_host_in_queue; /* as native kernels; else device_call_host() waits and maps */
    cl_event region_begin;    /* owned between device_region_begin() and _end() */
    cl_event mark;            /* owned; NULL: there is none */
};

struct buffer {
    struct owned owned;
    struct device *device; /* not owned */
    cl_mem memory;
    size_t bytes;
    uint64_t number;      /* in the order of creation, from 1 on */
    struct buffer *whole; /* the buffer that a view is a part of, from byte `offset` on; NULL: no view */
    cl_mem root;          /* of a borrowed buffer, the cl_mem that it is a part of, or is; else NULL */
    size_t offset;
    void *mapped; /* address for the host, of memory that it shares with the device; else NULL */
};

struct program {
    struct device *device; /* not owned */
    struct built *built;   /* owned by the first handle */
    enum precision precision;
};

/* An argument that OpenCL was told of. */
struct set_argument {
    bool is_set; /* false: it was not told yet */
    size_t size;
    size_t known;    /* bytes of `value`; 0: so much local memory */
    uint64_t buffer; /* its number, for a later buffer may have the same handle; 0: a value */
    union {
        cl_mem memory;
        cl_float floats[MOST_REALS];
        double doubles[MOST_REALS];
    } value;
};

struct kernel {
    struct owned owned;
    struct program *program; /* not owned */
    cl_kernel handle;
    cl_uint argument_count;
    char name[64];
    struct set_argument set[MOST_ARGUMENTS];
};

/* "CL_OUT_OF_RESOURCES" and so on; a static string. */
const char *opencl_error_name(cl_int error);

/* STATUS_OK for CL_SUCCESS, else STATUS_FAILED with "DEVICE: ACTION: CL_NAME (number)". */
STATUS_CHECKED enum status opencl_check(const struct device *device, cl_int error, const char *action);

/* Where OpenCL is to put the event of a launch: `event`, or NULL where launches are not timed. */
static inline cl_event *device_event(const struct device *opened, cl_event *event)
{
    return opened->core->weight > 0 ? event : NULL;
}

/* Hands an event to the timers; takes ownership. `end` is NULL where the launch was not timed. */
STATUS_CHECKED enum status device_record(struct device *device, cl_event begin, cl_event end,
                                         enum stage stage, uint64_t bytes);

/* `before`, and the text of kernels/<file> with its #include "shared/..." lines replaced by the files they
 * name, each once. So a driver's build cache, which looks at the text alone, notices a changed header, and no
 * path reaches a compiler option. The caller frees `source`. */
STATUS_CHECKED enum status source_read(const char *before, const char *file, char **source);

/* A digest of all kernels in program_folder() that can be read, with what they include. */
uint64_t program_digest(void);

/* The folder with all of them; "" where the environment names none. */
void kept_folder(char path[PATH_MAX]);

/* Begins a build from `source` with `options`; waits while another process builds the same for the first
 * time. kept_end() counts the build, where it went well, and lets others go on. */
void kept_begin(struct kept *kept, const struct core *core, const char *options, const char *source);
void kept_end(struct kept *kept, bool is_built);

/* Whether no process has built it, or builds it now, and its build can be noted. */
bool kept_is_new(const struct core *core, const char *options, const char *source);

/* The program as it was stored, built, which the caller releases; NULL where there is none that is sound. */
cl_program kept_load(const struct kept *kept, const struct core *core);

/* Removes it, for a later start to store another. */
void kept_drop(const struct kept *kept);

/* Stores what the driver made of a program, where that is worth it and was not done yet. */
void kept_store(const struct kept *kept, struct core *core, cl_program handle);

/* A program as it was built, kept until the device is closed for what needs the same again. A bench, a search
 * for the best sort or a test makes the same parts many times. On a counting device it is not built. */
struct built {
    struct owned owned; /* by the first handle */
    struct built *next;
    struct core *core; /* not owned */
    cl_program handle;
    char file[64];
    char *source, *options; /* programs with the same of both are one program */
    char *before;           /* what `source` has before the file */
    struct kept kept;
    bool is_loaded; /* from a binary that was kept */
};

/* Builds a kernel file, with all its options and what is before it, or finds what was built. */
STATUS_CHECKED enum status program_build_once(struct core *core, const char *before, const char *file,
                                              const char *options, struct built **built);

/* On a counting device: notes a program of a library, which has no file. */
STATUS_CHECKED enum status program_note(struct core *core, const char *name, const char *options);

/* Where PoCL keeps what it compiled; empty where no device was looked for. */
const char *device_pocl_folder(void);

/* Sets platform, id and info to those of the device that device_open() is to open. */
STATUS_CHECKED enum status device_choose(const char *spec, uint32_t turn, uint32_t processors,
                                         struct core *core);

#endif
