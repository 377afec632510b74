/* Built: the programs that a device has built, kept for whoever wants the same again. A bench, a search for
 * the best sort or a test makes the same parts many times, and even where the driver keeps what it compiled a
 * build takes tens of milliseconds. */
#include "device/internal.h"

#include <stdlib.h>
#include <string.h>

struct built {
    struct built *next;
    char *source, *options; /* what tells programs apart */
    cl_program handle;
};

static void destroy(struct built *built)
{
    if (built->handle)
        clReleaseProgram(built->handle);
    free(built->source);
    free(built->options);
    free(built);
}

cl_program built_find(const struct device *device, const char *source, const char *options)
{
    for (const struct built *built = device->core->built; built; built = built->next)
        if (strcmp(built->options, options) == 0 && strcmp(built->source, source) == 0)
            return clRetainProgram(built->handle) == CL_SUCCESS ? built->handle : NULL;
    return NULL;
}

void built_keep(struct device *device, const char *source, const char *options, cl_program handle)
{
    struct built *built = calloc(1, sizeof *built);
    if (!built)
        return;
    *built = (struct built){.source = strdup(source), .options = strdup(options)};
    if (!built->source || !built->options || clRetainProgram(handle) != CL_SUCCESS) {
        destroy(built);
        return;
    }
    built->handle = handle;
    built->next = device->core->built;
    device->core->built = built;
}

void built_forget(struct device *device)
{
    while (device->core->built) {
        struct built *next = device->core->built->next;
        destroy(device->core->built);
        device->core->built = next;
    }
}
