/* Source: where kernels are, and their text with the headers that they include. */
#include "device/internal.h"

#include "base/regular.h"

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

/* The file that this code is in: the program, or the library. */
static bool find_own_file(char path[PATH_MAX])
{
    Dl_info info;
    struct link_map *map = NULL;
    static const char here = 0;
    if (dladdr1(&here, &info, (void **)&map, RTLD_DL_LINKMAP) == 0 || !map)
        return false;
    return realpath(map->l_name[0] != '\0' ? map->l_name : "/proc/self/exe", path) != NULL;
}

/* The folder of kernels in the prefix that the own file was installed in, wherever that is now. */
static bool find_installed(char path[PATH_MAX])
{
    static const char *const folders[] = {"/" RADIXPIC_PROGRAMS_INSTALLED, "/" RADIXPIC_LIBRARIES_INSTALLED};
    if (!find_own_file(path))
        return false;
    char *end = strrchr(path, '/');
    *end = '\0';
    for (int n = 0; n < 2; n++) {
        char *folder = end - strlen(folders[n]);
        if (folder < path || strcmp(folder, folders[n]) != 0 ||
            (size_t)(folder - path) + sizeof "/" RADIXPIC_KERNELS_INSTALLED > PATH_MAX)
            continue;
        strcpy(folder, "/" RADIXPIC_KERNELS_INSTALLED);
        return access(path, R_OK) == 0;
    }
    return false;
}

static char installed[PATH_MAX];

static void find_folder(void)
{
    if (!find_installed(installed))
        strcpy(installed, RADIXPIC_KERNELS_BUILT);
}

const char *program_folder(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const char *chosen = getenv("RADIXPIC_KERNELS");
    if (chosen && chosen[0] != '\0')
        return chosen;
    pthread_once(&once, find_folder);
    return installed;
}

/* What this code was compiled with of the kernels: arguments, structs and enums. */
static const struct {
    const char *file, *text;
} declared[] = {
#include "declarations.h"
};

/* A file with others would be given buffers that it takes for something else. */
static enum status require_declared(const char *name, const char *text)
{
    for (size_t n = 0; n < sizeof declared / sizeof declared[0]; n++)
        if (strcmp(declared[n].file, name) == 0 && !strstr(text, declared[n].text))
            return status_fail(STATUS_FAILED,
                               "kernel file %s/%s takes other arguments or structs than those that this "
                               "program was built with: build it again, or set RADIXPIC_KERNELS to its own "
                               "kernels",
                               program_folder(), name);
    return STATUS_OK;
}

/* Writes a file to `output`, a stream into *text, with the files that it includes. Each begins with a #line
 * of its own, by which it is known when it is included again. */
static enum status expand(const char *name, FILE *output, char *const *text)
{
    char *line = NULL, inner[256], begin[sizeof inner + 16], path[PATH_MAX + sizeof inner];
    const char *why = "";
    snprintf(path, sizeof path, "%s/%s", program_folder(), name);
    FILE *file = regular_open(path, NULL, &why);
    if (!file)
        return status_fail(
            STATUS_FAILED,
            "cannot read kernel file %s: %s (the folder comes from RADIXPIC_KERNELS where that is set)", path,
            why);
    enum status status = STATUS_OK;
    size_t capacity = 0;
    fprintf(output, "#line 1 \"%s\"\n", name);
    for (int number = 1; status == STATUS_OK && getline(&line, &capacity, file) >= 0; number++) {
        if (sscanf(line, " #include \"%255[^\"]\"", inner) != 1) {
            fputs(line, output);
            continue;
        }
        snprintf(begin, sizeof begin, "#line 1 \"%s\"\n", inner);
        fflush(output); /* into *text */
        if (strstr(*text, begin)) {
            fputc('\n', output);
        } else {
            status = expand(inner, output, text);
            fprintf(output, "#line %d \"%s\"\n", number + 1, name);
        }
    }
    free(line);
    fclose(file);
    fflush(output);
    return status == STATUS_OK ? require_declared(name, *text) : status;
}

enum status source_read(const char *before, const char *file, char **source)
{
    size_t length = 0;
    *source = NULL;
    FILE *output = open_memstream(source, &length);
    if (!output)
        return status_fail(STATUS_FAILED, "no memory for the kernels of %s", file);
    fputs(before, output);
    const enum status status = expand(file, output, source);
    fclose(output);
    if (status != STATUS_OK) {
        free(*source);
        *source = NULL;
    }
    return status;
}

static int is_kernels(const struct dirent *entry)
{
    const char *end = strrchr(entry->d_name, '.');
    return end && strcmp(end, ".cl") == 0;
}

uint64_t program_digest(void)
{
    struct dirent **entries = NULL;
    uint64_t sum = 0; /* whatever the order */
    const int count = scandir(program_folder(), &entries, is_kernels, NULL);
    for (int n = 0; n < count; n++) {
        char *source;
        if (source_read("", entries[n]->d_name, &source) == STATUS_OK)
            sum += XXH3_64bits(source, strlen(source));
        free(source);
        free(entries[n]);
    }
    free(entries);
    return sum;
}
