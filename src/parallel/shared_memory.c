/* Shared memory: rank 0 makes a file of it and tells the others its name. */
#include "parallel/shared_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
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

/* A new file of that name with all of its memory, or -1. Memory that is short shows here, where it can be
 * told, and not when it is first touched. */
static int make_file(const char *name, size_t bytes)
{
    const int file = shm_open(name, O_RDWR | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR);
    if (file < 0)
        return -1;
    int error = 0;
    do
        error = posix_fallocate(file, 0, (off_t)bytes);
    while (error == EINTR);
    if (error == 0)
        return file;
    close(file);
    shm_unlink(name);
    errno = error;
    return -1;
}

/* Collective: the memory, or MAP_FAILED and errno. */
static void *open_together(const struct communicator *communicator, size_t bytes)
{
    char name[NAME_BYTES]; /* not in use; that of rank 0 counts */
    const bool is_maker = communicator->rank == 0;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now); /* so not the leftover of a run that was killed either */
    snprintf(name, sizeof name, "/radixpic.%ld.%lld.%09ld", (long)getpid(), (long long)now.tv_sec,
             now.tv_nsec);
    int file = is_maker ? make_file(name, bytes) : -1, error = errno;
    communicator_broadcast(communicator, sizeof name, name);
    if (!is_maker) {
        file = shm_open(name, O_RDWR, 0);
        error = errno;
    }
    void *memory = MAP_FAILED;
    if (file >= 0) {
        memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        error = errno;
        close(file);
    }
    double rank = communicator->rank;
    communicator_max(communicator, 1, &rank); /* all have come past opening it */
    if (is_maker && file >= 0)
        shm_unlink(name);
    errno = error;
    return memory;
}

static void unmap(void *object)
{
    const struct mapping *mapping = object;
    munmap(mapping->memory, mapping->bytes);
}

enum status shared_memory_create(const struct communicator *communicator, struct device *device, size_t bytes,
                                 struct shared_memory *shared)
{
    struct mapping *mapping = NULL;
    const size_t begin = buffer_view_stride(bytes), /* of the signals: a page that no device takes over */
        all = begin + (size_t)communicator->size * sizeof(struct shared_signal);
    char *const mapped = open_together(communicator, all);
    const int error = errno;
    enum status status = (void *)mapped == MAP_FAILED ? STATUS_FAILED : DEVICE_NEW(device, mapping);
    if (status == STATUS_OK) {
        *mapping = (struct mapping){mapped, all};
        status = device_at_close(device, unmap, mapping);
    }
    if (status == STATUS_OK)
        status = host_memory_adopt(device, mapped, begin);
    double missing = status != STATUS_OK;
    communicator_max(communicator, 1, &missing);
    *shared = (struct shared_memory){.rank = communicator->rank, .ranks = communicator->size};
    if (missing > 0)
        return status_fail(
            STATUS_FAILED, "no memory of %.1f MiB that all ranks share (%s)", (double)bytes / 0x1p20,
            (void *)mapped == MAP_FAILED ? strerror(error) : "on another rank, or by a device");
    shared->memory = mapped;
    shared->signals = (struct shared_signal *)(mapped + begin);
    return STATUS_OK;
}

void shared_memory_meet(struct shared_memory *shared)
{
    const uint32_t met = ++shared->met;
    atomic_store_explicit(&shared->signals[shared->rank].raised, met, memory_order_release);
    const struct timespec nap = {.tv_nsec = 50000}; /* after a while: the processors are for others, too */
    uint32_t tries = 0;
    for (int rank = 0; rank < shared->ranks; rank++)
        while ((int32_t)(atomic_load_explicit(&shared->signals[rank].raised, memory_order_acquire) - met) <
               0) {
            sched_yield(); /* ranks and their devices may be more than the processors */
            if (++tries < MEETING_TRIES)
                continue;
            communicator_progress(); /* the other may wait for what MPI has still to send from here */
            nanosleep(&nap, NULL);
        }
}
