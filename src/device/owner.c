/* Owner: what was made through a device handle, and dies with it. */
#include "device/internal.h"

#include <stdlib.h>

void device_own(struct device *device, struct owned *owned, void (*release)(struct owned *owned))
{
    *owned = (struct owned){.next = device->first, .link = &device->first, .release = release};
    if (owned->next)
        owned->next->link = &owned->next;
    device->first = owned;
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
    *branch = calloc(1, sizeof **branch);
    if (!*branch)
        return status_fail(STATUS_FAILED, "no memory for another handle of a device");
    device_own(device, &(*branch)->owned, release_branch);
    (*branch)->core = device->core;
    (*branch)->is_branch = true;
    return STATUS_OK;
}

/* ---- memory of the host ---- */

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
    struct allocation *created = NULL;
    if (size == 0 || count <= (SIZE_MAX - sizeof *created) / size)
        created = calloc(1, sizeof *created + count * size);
    if (!created) {
        (void)status_fail(STATUS_FAILED, "no memory for %zu bytes on the host", count * size);
        return NULL;
    }
    device_own(device, &created->owned, release_allocation);
    return created->memory;
}

/* ---- anything else ---- */

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
    struct closing *created = calloc(1, sizeof *created);
    if (!created) {
        close(object);
        return status_fail(STATUS_FAILED, "no memory to own an object of the host");
    }
    created->close = close;
    created->object = object;
    device_own(device, &created->owned, release_closing);
    return STATUS_OK;
}
