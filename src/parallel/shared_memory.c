/* Shared memory: rank 0 makes a file and sends its name to the others. */
#include "parallel/shared_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* A cache line of its own. */
struct shared_signal {
    _Alignas(64) _Atomic uint32_t raised;
};

struct mapping {
    void *memory;
    size_t bytes;
};

enum { NAME_BYTES = 64, MEETING_TRIES = 4000 };

/* 0 or an error number. Memory that is short shows here, where it can be reported, and not when it is first
 * touched. So the file is in POSIX shared memory, which has a limit, and none of memfd_create(), which takes
 * memory until there is no more. */
static int allocate(int file, size_t bytes)
{
    int error = 0;
    do
        error = posix_fallocate(file, 0, (off_t)bytes);
    while (error == EINTR);
    return error;
}

/* Collective: the file on every rank, with all of its memory, or on every rank -1 and errno. It gets memory
 * only when it has lost its name: so no more than an empty file is left by a rank that is killed before. */
static int open_together(const struct communicator *communicator, size_t bytes)
{
    char name[NAME_BYTES]; /* not in use; that of rank 0 counts */
    const bool is_maker = communicator->rank == 0;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now); /* so not the leftover of a run that was killed either */
    snprintf(name, sizeof name, "/radixpic.%ld.%lld.%09ld", (long)getpid(), (long long)now.tv_sec,
             now.tv_nsec);
    int file = is_maker ? shm_open(name, O_RDWR | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR) : -1;
    double error = is_maker && file < 0 ? errno : 0;
    communicator_broadcast(communicator, sizeof name, name);
    if (!is_maker && (file = shm_open(name, O_RDWR, 0)) < 0)
        error = errno;
    communicator_max(communicator, 1, &error); /* all have come past opening it */
    if (is_maker && file >= 0)
        shm_unlink(name);
    if (is_maker && error == 0)
        error = allocate(file, bytes);
    communicator_max(communicator, 1, &error);
    if (error == 0)
        return file;
    if (file >= 0)
        close(file);
    errno = (int)error;
    return -1;
}

static void unmap(void *object)
{
    const struct mapping *mapping = object;
    munmap(mapping->memory, mapping->bytes);
}

/* Where this rank finds the file until the handle is closed; its device takes over what is before the
 * signals. MAP_FAILED and errno where it cannot be mapped. */
static enum status adopt(int file, size_t bytes, size_t signals, struct device *device, char **memory)
{
    struct mapping *mapping = NULL;
    *memory = MAP_FAILED;
    TRY(DEVICE_NEW(device, mapping));
    *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (*memory == MAP_FAILED)
        return STATUS_FAILED;
    *mapping = (struct mapping){*memory, bytes};
    TRY(device_at_close(device, unmap, mapping));
    return host_memory_adopt(device, *memory, signals);
}

enum status shared_memory_create(const struct communicator *communicator, struct device *device, size_t bytes,
                                 struct shared_memory *shared)
{
    const size_t signals = buffer_view_stride(bytes), /* where they begin: a page that no device takes over */
        all = signals + (size_t)communicator->size * sizeof(struct shared_signal);
    struct device *branch = NULL;
    char *memory = MAP_FAILED;
    const int file = open_together(communicator, all);
    enum status status = file < 0 ? STATUS_FAILED : device_branch(device, &branch);
    TRY_IF_OK(adopt(file, all, signals, branch, &memory));
    const int error = errno;
    double missing = status != STATUS_OK;
    communicator_max(communicator, 1, &missing);
    if (file >= 0)
        close(file);
    *shared = (struct shared_memory){.rank = communicator->rank, .ranks = communicator->size};
    if (missing > 0) {
        device_close(&branch);
        return status_fail(
            STATUS_FAILED, "no memory of %.1f MiB that all ranks share (%s)", (double)bytes / 0x1p20,
            (void *)memory == MAP_FAILED ? strerror(error) : "on another rank, or by a device");
    }
    shared->memory = memory;
    shared->signals = (struct shared_signal *)(memory + signals);
    return STATUS_OK;
}

void shared_memory_barrier(struct shared_memory *shared)
{
    const uint32_t number = ++shared->barriers;
    atomic_store_explicit(&shared->signals[shared->rank].raised, number, memory_order_release);
    const struct timespec nap = {.tv_nsec = 50000}; /* after a while: the processors are for others, too */
    uint32_t tries = 0;
    for (int rank = 0; rank < shared->ranks; rank++)
        while ((int32_t)(atomic_load_explicit(&shared->signals[rank].raised, memory_order_acquire) - number) <
               0) {
            sched_yield(); /* ranks and their devices may be more than the processors */
            if (++tries < MEETING_TRIES)
                continue;
            communicator_progress(); /* the other may wait for what MPI has still to send from here */
            nanosleep(&nap, NULL);
        }
}
