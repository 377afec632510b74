/* Choose: find the OpenCL devices of this machine and pick one. */
#include "device/internal.h"

#include "base/cache.h"
#include "base/pool.h"
#include "base/stop.h"
#include "base/text.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { MAX_DEVICES = 64 };

static const char pocl_variable[] = "POCL_CACHE_DIR";
static const char thread_variable[] = "POCL_MAX_PTHREAD_COUNT";
static const char new_thread_variable[] = "POCL_CPU_MAX_CU_COUNT"; /* of PoCL 6, which knows the other too */
static char pocl_folder[PATH_MAX]; /* where PoCL keeps the kernels that it compiled */
static bool pocl_folder_is_safe;   /* else anyone may have filled it */

struct candidate {
    cl_platform_id platform;
    cl_device_id id;
    struct device_info info;
};

_Static_assert(sizeof(size_t) == sizeof(cl_ulong), "sizes of memory are read as they are kept");

/* Reads a number, which stays as it is where the device does not know the question. */
#define ASK(id, question, number) clGetDeviceInfo((id), (question), sizeof(number), &(number), NULL)

/* What a driver answers is printed in many places: it is escaped here. */
static void escape_answer(cl_int error, char *text, size_t size)
{
    char *escaped = error == CL_SUCCESS ? text_escaped(text, false) : NULL;
    snprintf(text, size, "%s", escaped ? escaped : "unknown");
    free(escaped);
}

static void read_text(cl_device_id id, cl_device_info what, char *text, size_t size)
{
    escape_answer(clGetDeviceInfo(id, what, size, text, NULL), text, size);
}

/* The device has the OpenCL extension of that name, which must not be a part of another one's name. */
static bool has_extension(cl_device_id id, const char *name)
{
    size_t size = 0;
    if (clGetDeviceInfo(id, CL_DEVICE_EXTENSIONS, 0, NULL, &size) != CL_SUCCESS)
        return false;
    char *names = calloc(size + 1, 1);
    const bool has = names && clGetDeviceInfo(id, CL_DEVICE_EXTENSIONS, size, names, NULL) == CL_SUCCESS &&
                     strstr(names, name) != NULL;
    free(names);
    return has;
}

/* The description of device number d of platform number p. */
static struct device_info describe(cl_platform_id platform, cl_device_id id, uint32_t p, uint32_t d)
{
    struct device_info info = {.platform_index = p, .device_index = d};
    escape_answer(clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof info.platform, info.platform, NULL),
                  info.platform, sizeof info.platform);
    read_text(id, CL_DEVICE_NAME, info.name, sizeof info.name);
    read_text(id, CL_DRIVER_VERSION, info.driver, sizeof info.driver);
    read_text(id, CL_DEVICE_VERSION, info.version, sizeof info.version);
    cl_device_type type = 0;
    cl_device_fp_config fp64 = 0, fp32 = 0;
    ASK(id, CL_DEVICE_TYPE, type);
    ASK(id, CL_DEVICE_MAX_COMPUTE_UNITS, info.compute_units);
    ASK(id, CL_DEVICE_LOCAL_MEM_SIZE, info.local_memory);
    ASK(id, CL_DEVICE_GLOBAL_MEM_SIZE, info.global_memory);
    ASK(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE, info.largest_buffer);
    ASK(id, CL_DEVICE_MAX_WORK_GROUP_SIZE, info.group_limit);
    ASK(id, CL_DEVICE_DOUBLE_FP_CONFIG, fp64);
    ASK(id, CL_DEVICE_SINGLE_FP_CONFIG, fp32);
    info.compute_units = info.compute_units > 0 ? info.compute_units : 1;
    info.is_cpu = (type & CL_DEVICE_TYPE_CPU) != 0;
    info.is_pocl = strcmp(info.platform, "Portable Computing Language") == 0;
    info.is_gpu = (type & CL_DEVICE_TYPE_GPU) != 0;
    info.has_fp64 = fp64 != 0;
    info.has_fma = (fp32 & CL_FP_FMA) != 0; /* asked only of single precision: in double it must be there */
    info.has_int64_atomics = has_extension(id, "cl_khr_int64_base_atomics");
    return info;
}

enum status device_info_of(void *id, struct device_info *info)
{
    cl_platform_id platform = NULL;
    if (ASK(id, CL_DEVICE_PLATFORM, platform))
        return status_fail(STATUS_USAGE, "device: expected a cl_device_id");
    *info = describe(platform, id, 0, 0);
    return STATUS_OK;
}

/* What a variable of the environment names; NULL where it is not set or empty. */
static const char *folder_of(const char *variable)
{
    const char *folder = getenv(variable);
    return folder && folder[0] != '\0' ? folder : NULL;
}

/* PoCL can keep the kernels that it compiles in this folder. */
static bool is_cache(const char *folder)
{
    enum { LEAST_BYTES = 8 << 20 /* the kernels of a run take one MB */ };
    char inside[PATH_MAX];
    struct statvfs system;
    snprintf(inside, sizeof inside, "%.4000s/.", folder);
    return access(inside, W_OK | X_OK) == 0 && statvfs(inside, &system) == 0 &&
           (system.f_blocks == 0 || system.f_bavail * system.f_frsize >= LEAST_BYTES);
}

/* PoCL offers no device where it cannot make its cache folder, as with a home that is read-only, and without
 * a home takes /tmp/pocl: then it gets one of the user alone among the temporary files, unless the
 * environment names one. */
static void give_pocl_a_cache(void)
{
    const char *xdg = folder_of("XDG_CACHE_HOME"), *home = getenv("HOME"), *temporary = folder_of("TMPDIR");
    const char *named = folder_of(pocl_variable);
    char parent[PATH_MAX], *path = pocl_folder;
    const size_t size = sizeof pocl_folder;
    struct stat found;
    snprintf(path, size, "%.4000s", named ? named : "");
    pocl_folder_is_safe = named || xdg || home;
    if (named)
        return;
    unsetenv(pocl_variable); /* PoCL aborts where it is empty */
    if (xdg || home) {
        snprintf(parent, sizeof parent, "%s%s", xdg ? xdg : home, xdg ? "" : "/.cache");
        snprintf(path, size, "%.4000s/pocl", parent);
        cache_create_folders(path);
        if (is_cache(access(path, F_OK) == 0 ? path : parent))
            return;
    }
    snprintf(path, size, "%.4000s/radixpic-pocl-%u", temporary ? temporary : "/tmp", (unsigned)geteuid());
    mkdir(path, 0700);
    if (lstat(path, &found) == 0 && S_ISDIR(found.st_mode) && found.st_uid == geteuid() &&
        (found.st_mode & (S_IRWXG | S_IRWXO)) == 0)
        pocl_folder_is_safe = setenv(pocl_variable, path, 0) == 0;
}

/* By itself PoCL starts a thread for each processor of the machine, whatever ranks are there besides. Returns
 * whether it is told how many now. */
static bool give_pocl_threads(uint32_t processors)
{
    char text[32];
    snprintf(text, sizeof text, "%zu", processors > 0 ? processors : pool_processors());
    return !getenv(thread_variable) && !getenv(new_thread_variable) && setenv(thread_variable, text, 0) == 0;
}

void device_describe_threads(const struct device_info *info, size_t size, char text[static size])
{
    const size_t processors = pool_processors();
    text[0] = '\0';
    if (!info->is_cpu || !info->is_pocl)
        return;
    snprintf(text, size, "%u on %zu processor%s; %s sets another number%s", info->compute_units, processors,
             processors > 1 ? "s" : "", thread_variable,
             info->compute_units > processors ? ", and more than there are processors take longer" : "");
}

/* A damaged file in the folder makes PoCL end the program. */
static enum status require_cache(void)
{
    static char sentence[PATH_MAX + 256];
    /* the latter PoCL would report as an error of the kernels, or by the end of the process */
    if (!pocl_folder_is_safe || (getenv(pocl_variable) && !is_cache(pocl_folder)))
        return status_fail(STATUS_NO_DEVICE,
                           "PoCL cannot keep the kernels that it compiles in %s: the folder cannot be "
                           "written to, others than this user can write to it, or its disk is full; name "
                           "another folder by %s",
                           pocl_folder, pocl_variable);
    snprintf(sentence, sizeof sentence,
             "radixpic: a signal of a library, SIGABRT or SIGBUS, ended the process; where every start ends "
             "so, a file among the kernels that PoCL keeps is damaged: delete the folder %s\n",
             pocl_folder);
    stop_explain(sentence);
    return STATUS_OK;
}

const char *device_pocl_folder(void)
{
    return pocl_folder;
}

/* The drivers that are installed where the loader of OpenCL looks: ", " before each name. */
static void list_drivers(char *names, size_t size)
{
    const char *chosen = getenv("OCL_ICD_VENDORS"), *folder = chosen ? chosen : "/etc/OpenCL/vendors";
    DIR *listing = opendir(folder);
    names[0] = '\0';
    for (const struct dirent *entry; listing && (entry = readdir(listing));)
        if (strstr(entry->d_name, ".icd"))
            snprintf(names + strlen(names), size - strlen(names), ", %s", entry->d_name);
    if (listing)
        closedir(listing);
}

static size_t find_devices(uint32_t processors, struct candidate found[MAX_DEVICES])
{
    cl_platform_id platforms[16];
    cl_uint platform_count = 0;
    size_t count = 0;
    give_pocl_a_cache();
    const bool gives_threads = give_pocl_threads(processors);
    if (clGetPlatformIDs(16, platforms, &platform_count) != CL_SUCCESS)
        platform_count = 0;
    if (platform_count > 16)
        platform_count = 16;
    for (uint32_t p = 0; p < platform_count; p++) {
        cl_device_id ids[16];
        cl_uint device_count = 0;
        if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 16, ids, &device_count) != CL_SUCCESS)
            continue;
        for (uint32_t d = 0; d < device_count && d < 16 && count < MAX_DEVICES; d++)
            found[count++] = (struct candidate){platforms[p], ids[d], describe(platforms[p], ids[d], p, d)};
    }
    if (gives_threads) /* for this process alone, and for no child of it */
        unsetenv(thread_variable);
    return count;
}

static bool has_gpu(const struct candidate *found, size_t count)
{
    for (size_t n = 0; n < count; n++)
        if (found[n].info.is_gpu)
            return true;
    return false;
}

static bool fits(const struct device_info *info, const char *spec, const struct candidate *found,
                 size_t count)
{
    unsigned platform, device;
    int colon = 0, length = 0;
    if (strcasecmp(spec, "auto") == 0) /* a GPU if there is one, else what the first device is */
        return has_gpu(found, count) ? info->is_gpu : info->is_cpu == found[0].info.is_cpu;
    if (strcasecmp(spec, "cpu") == 0)
        return info->is_cpu;
    if (strcasecmp(spec, "gpu") == 0)
        return info->is_gpu;
    if (isdigit((unsigned char)spec[0]) &&
        sscanf(spec, "%9u:%n%9u%n", &platform, &colon, &device, &length) == 2 &&
        isdigit((unsigned char)spec[colon]) && spec[length] == '\0')
        return info->platform_index == platform && info->device_index == device;
    return spec[0] != '\0' && (strcasestr(info->name, spec) || strcasestr(info->platform, spec));
}

/* Number `turn` of the devices that fit, modulo how many they are; NULL where none fits. */
static const struct candidate *pick(const struct candidate *found, size_t count, const char *spec,
                                    uint32_t turn)
{
    const struct candidate *fitting[MAX_DEVICES];
    uint32_t fitting_count = 0;
    for (size_t n = 0; n < count; n++)
        if (fits(&found[n].info, spec, found, count))
            fitting[fitting_count++] = &found[n];
    return fitting_count > 0 ? fitting[turn % fitting_count] : NULL;
}

static enum status refuse(const struct candidate *found, size_t count, const char *spec)
{
    char list[4096] = "";
    if (count == 0)
        list_drivers(list, sizeof list);
    if (count == 0 && list[0] != '\0')
        return status_fail(
            STATUS_NO_DEVICE,
            "no OpenCL device found, though there are drivers (%s): a driver offers none where "
            "it has no device, or cannot be loaded, as with too little memory (ulimit -v), or, as "
            "PoCL, has no folder to write to (POCL_CACHE_DIR)",
            list + 2);
    if (count == 0)
        return status_fail(STATUS_NO_DEVICE,
                           "no OpenCL device found; install a driver, for a CPU the package "
                           "pocl-opencl-icd");
    for (size_t n = 0, used = 0; n < count && used < sizeof list; n++) {
        const int written =
            snprintf(list + used, sizeof list - used, "%s%u:%u %s", n ? ", " : "",
                     found[n].info.platform_index, found[n].info.device_index, found[n].info.name);
        used += written > 0 ? (size_t)written : 0;
    }
    return status_fail(STATUS_NO_DEVICE,
                       "no OpenCL device fits '%s'; there is %s (say cpu, gpu, auto, P:D, or part of a name)",
                       spec, list);
}

enum status device_choose(const char *spec, uint32_t turn, uint32_t processors, struct core *core)
{
    struct candidate found[MAX_DEVICES];
    const size_t count = find_devices(processors, found);
    const struct candidate *chosen = pick(found, count, spec, turn);
    if (!chosen)
        return refuse(found, count, spec);
    if (chosen->info.is_pocl)
        TRY(require_cache());
    core->platform = chosen->platform;
    core->id = chosen->id;
    core->info = chosen->info;
    return STATUS_OK;
}

/* The caches that this program finds. Other drivers have caches of their own. */
static void print_caches(const struct candidate *found, size_t count, FILE *stream)
{
    char kept[PATH_MAX];
    bool has_pocl = false;
    for (size_t n = 0; n < count; n++)
        has_pocl = has_pocl || found[n].info.is_pocl;
    kept_folder(kept);
    if (kept[0] != '\0')
        fprintf(stream, "cache of built programs: %s\n", kept);
    if (has_pocl && pocl_folder[0] != '\0')
        fprintf(stream, "cache of PoCL: %s\n", pocl_folder);
}

enum status device_list(FILE *stream)
{
    struct candidate found[MAX_DEVICES];
    const size_t count = find_devices(0, found);
    if (count == 0)
        return refuse(found, count, "auto");
    const struct candidate *preferred = pick(found, count, "auto", 0);
    for (size_t n = 0; n < count; n++) {
        const struct device_info *info = &found[n].info;
        fprintf(stream, "%u:%u  %s%s\n", info->platform_index, info->device_index, info->name,
                &found[n] == preferred ? "  (auto)" : "");
        fprintf(stream, "     platform       %s, driver %s, %s\n", info->platform, info->driver,
                info->version);
        fprintf(stream, "     type           %s\n",
                info->is_gpu   ? "gpu"
                : info->is_cpu ? "cpu"
                               : "accelerator");
        fprintf(stream, "     compute units  %u\n", info->compute_units);
        fprintf(stream, "     local memory   %zu KiB a group\n", info->local_memory / 1024);
        fprintf(stream, "     group limit    %zu items\n", info->group_limit);
        fprintf(stream, "     double (fp64)  %s\n", info->has_fp64 ? "yes" : "no");
        fprintf(stream, "     memory         %.1f GiB, largest buffer %.1f GiB\n",
                (double)info->global_memory / 0x1p30, (double)info->largest_buffer / 0x1p30);
    }
    print_caches(found, count, stream);
    return STATUS_OK;
}
