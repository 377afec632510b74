/* Shared memory: rank 0 makes a file that never has a name, and the others open it where that process has it
 * open: so nothing is left of it, whenever a rank ends. */
#include "parallel/shared_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
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

/* The file of rank 0. */
struct made {
    pid_t process;
    int file; /* its number there */
    dev_t device;
    ino_t inode;
};

enum { MEETING_TRIES = 4000 };

/* A new file with all of its memory, or -1 and errno. Memory that is short shows here, where it can be told,
 * and not when it is first touched: so the file is in POSIX shared memory, whose size is limited, and none of
 * memfd_create(), for which memory is taken until there is no more. */
static int make_file(size_t bytes, struct made *made)
{
    const int file = open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
    struct stat found;
    if (file < 0)
        return -1;
    int error = fstat(file, &found) == 0 ? 0 : errno;
    while (error == 0 && (error = posix_fallocate(file, 0, (off_t)bytes)) == EINTR)
        error = 0;
    if (error == 0) {
        *made = (struct made){getpid(), file, found.st_dev, found.st_ino};
        return file;
    }
    close(file);
    errno = error;
    return -1;
}

/* The same file, or -1 and errno; in a container of its own a rank finds another process by that number. */
static int open_file(const struct made *made)
{
    char path[64];
    struct stat found;
    snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)made->process, made->file);
    const int file = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (file < 0 || (fstat(file, &found) == 0 && found.st_dev == made->device && found.st_ino == made->inode))
        return file;
    close(file);
    errno = ENOENT;
    return -1;
}

static void unmap(void *object)
{
    const struct mapping *mapping = object;
    munmap(mapping->memory, mapping->bytes);
}

/* Collective: the file on every rank, or -1 and errno. */
static int open_together(const struct communicator *communicator, size_t bytes)
{
    struct made made = {0};
    const bool is_maker = communicator->rank == 0;
    const int own = is_maker ? make_file(bytes, &made) : -1, error = errno;
    communicator_broadcast(communicator, sizeof made, &made);
    errno = error;
    return is_maker ? own : open_file(&made);
}

/* Where this rank finds the file until the handle is closed; its device takes over what is before the
 * signals. MAP_FAILED and errno where it is not found. */
static enum status adopt(int file, size_t bytes, size_t signals, struct device *device, char **memory)
{
    struct mapping *mapping = NULL;
    *memory = MAP_FAILED;
    TRY(DEVICE_NEW(device, mapping));
    if (file >= 0)
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
    enum status status = device_branch(device, &branch);
    if (status == STATUS_OK)
        status = adopt(file, all, signals, branch, &memory);
    const int error = errno;
    double missing = status != STATUS_OK;
    communicator_max(communicator, 1, &missing); /* all have come past opening the file, too */
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
