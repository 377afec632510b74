/* Owner: what was made through a device handle, and dies with it. */
#include "device/internal.h"

#include <stdlib.h>

void *device_own_new(struct device *device, size_t size, void (*release)(struct owned *owned))
{
    struct owned *owned = calloc(1, size);
    if (!owned) {
        (void)status_fail(STATUS_FAILED, "no memory for %zu bytes on the host", size);
        return NULL;
    }
    *owned = (struct owned){.next = device->first, .link = &device->first, .release = release};
    if (owned->next)
        owned->next->link = &owned->next;
    device->first = owned;
    return owned;
}

void device_release(struct owned *owned)
{
    *owned->link = owned->next;
    if (owned->next)
        owned->next->link = owned->link;
    owned->release(owned);
}

/* ---- branches ---- */

static void release_branch(struct owned *owned)
{
    struct device *branch = (struct device *)owned;
    while (branch->first)
        device_release(branch->first);
    free(branch);
}

enum status device_branch(struct device *device, struct device **branch)
{
    *branch = device_own_new(device, sizeof **branch, release_branch);
    if (!*branch)
        return STATUS_FAILED;
    (*branch)->core = device->core;
    return STATUS_OK;
}

/* ---- memory of the host, and other objects ---- */

struct allocation {
    struct owned owned;
    max_align_t memory[]; /* what the caller sees */
};

static void release_allocation(struct owned *owned)
{
    free(owned);
}

void *device_alloc(struct device *device, size_t count, size_t size)
{
    const size_t most = SIZE_MAX - sizeof(struct allocation);
    const size_t bytes = size == 0 || count <= most / size ? count * size : most;
    struct allocation *created = device_own_new(device, sizeof *created + bytes, release_allocation);
    return created ? created->memory : NULL;
}

struct closing {
    struct owned owned;
    void (*close)(void *object);
    void *object;
};

static void release_closing(struct owned *owned)
{
    const struct closing *closing = (struct closing *)owned;
    closing->close(closing->object);
    free(owned);
}

enum status device_at_close(struct device *device, void (*close)(void *object), void *object)
{
    struct closing *created = device_own_new(device, sizeof *created, release_closing);
    if (!created) {
        close(object);
        return STATUS_FAILED;
    }
    created->close = close;
    created->object = object;
    return STATUS_OK;
}
