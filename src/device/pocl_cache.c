/* PoCL's cache: the folder where PoCL keeps the kernels that it compiled, and what a damaged file there does.
 */
#include "device/internal.h"

#include "base/cache.h"
#include "base/stop.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static const char variable[] = "POCL_CACHE_DIR";

static char folder[PATH_MAX];     /* which PoCL takes */
static bool is_of_user_or_chosen; /* else anyone may have filled it */

/* What a variable of the environment names; NULL where it is not set or empty. */
static const char *folder_of(const char *name)
{
    const char *found = getenv(name);
    return found && found[0] != '\0' ? found : NULL;
}

/* Whether PoCL can keep there what it compiles. */
static bool is_cache(const char *path)
{
    enum { LEAST_BYTES = 8 << 20 /* the kernels of a run take one MB */ };
    char inside[PATH_MAX];
    struct statvfs system;
    snprintf(inside, sizeof inside, "%.4000s/.", path);
    return access(inside, W_OK | X_OK) == 0 && statvfs(inside, &system) == 0 &&
           (system.f_blocks == 0 || system.f_bavail * system.f_frsize >= LEAST_BYTES);
}

/* PoCL takes /tmp/pocl where there is no home, and offers no device where it cannot make its folder, as in a
 * home that is read-only. In both cases it gets a folder of the user alone among the temporary files. */
void pocl_cache_choose(void)
{
    const char *xdg = folder_of("XDG_CACHE_HOME"), *home = getenv("HOME"), *named = folder_of(variable);
    const char *temporary = folder_of("TMPDIR");
    char parent[PATH_MAX];
    struct stat found;
    snprintf(folder, sizeof folder, "%.4000s", named ? named : "");
    is_of_user_or_chosen = named || xdg || home;
    if (named)
        return;
    unsetenv(variable); /* PoCL aborts where it is empty */
    if (is_of_user_or_chosen) {
        snprintf(parent, sizeof parent, "%s%s", xdg ? xdg : home, xdg ? "" : "/.cache");
        snprintf(folder, sizeof folder, "%.4000s/pocl", parent);
        cache_create_folders(folder);
        if (is_cache(access(folder, F_OK) == 0 ? folder : parent))
            return;
    }
    snprintf(folder, sizeof folder, "%.4000s/radixpic-pocl-%u", temporary ? temporary : "/tmp",
             (unsigned)geteuid());
    mkdir(folder, 0700);
    if (lstat(folder, &found) != 0 || !S_ISDIR(found.st_mode) || found.st_uid != geteuid() ||
        (found.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        return;
    setenv(variable, folder, 0);
    is_of_user_or_chosen = true;
}

enum status pocl_cache_require(void)
{
    static char sentence[PATH_MAX + 256];
    if (!is_of_user_or_chosen)
        return status_fail(
            STATUS_NO_DEVICE,
            "PoCL would take kernels from /tmp/pocl, which anyone may have filled: there is no "
            "HOME, and %s is no folder of this user alone; name a folder by %s",
            folder, variable);
    /* which PoCL would report as an error of the kernels, or by the end of the process */
    if (getenv(variable) && !is_cache(folder))
        return status_fail(STATUS_NO_DEVICE,
                           "PoCL cannot keep the kernels that it compiles in %s: it is no folder that can be "
                           "written to, or its disk is full; name another by %s",
                           folder, variable);
    snprintf(sentence, sizeof sentence,
             "radixpic: a signal of a library, SIGABRT or SIGBUS, ended the program; where every start ends "
             "so, a file among the kernels that PoCL keeps is damaged: delete the folder %s\n",
             folder);
    stop_explain(sentence);
    return STATUS_OK;
}

enum status pocl_cache_fail(const char *file, const char *kernel)
{
    return status_fail(STATUS_NO_DEVICE,
                       "kernels/%s has no kernel %s as PoCL compiled it: a file among the kernels that PoCL "
                       "keeps is damaged: delete the folder %s",
                       file, kernel, folder);
}
