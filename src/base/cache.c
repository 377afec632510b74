/* Cache: where the user's folder is. */
#include "base/cache.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void cache_path(const char *name, char *path, size_t size)
{
    static const char *const places[][2] = {
        {"RADIXPIC_CACHE", ""}, {"XDG_CACHE_HOME", "/radixpic"}, {"HOME", "/.cache/radixpic"}};
    path[0] = '\0';
    for (size_t n = 0; n < sizeof places / sizeof places[0]; n++) {
        const char *folder = getenv(places[n][0]);
        if (!folder || folder[0] == '\0')
            continue;
        const int written = snprintf(path, size, "%s%s/%s", folder, places[n][1], name);
        if (written < 0 || (size_t)written >= size)
            path[0] = '\0';
        return;
    }
}

void cache_create_folders(const char *path)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(folder, 0700);
        *slash = '/';
    }
}
