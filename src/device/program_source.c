/* Program source: read a kernel file and put its shared headers in place. */
#include "device/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_INCLUDES = 32 };

/* One expansion under way. */
struct expansion {
    const char *folder;
    FILE *output;
    char *included[MAX_INCLUDES]; /* names already put in place */
    size_t included_count;
};

const char *program_folder(void)
{
    const char *chosen = getenv("RADIXPIC_KERNELS");
    if (chosen && chosen[0] != '\0')
        return chosen;
    return access(RADIXPIC_KERNELS_BUILT, R_OK) == 0 ? RADIXPIC_KERNELS_BUILT : RADIXPIC_KERNELS_INSTALLED;
}

static bool remember(struct expansion *expansion, const char *name)
{
    for (size_t n = 0; n < expansion->included_count; n++)
        if (strcmp(expansion->included[n], name) == 0)
            return false;
    if (expansion->included_count == MAX_INCLUDES)
        return false; /* the compiler will miss what is left out, and say so */
    char *copy = strdup(name);
    if (!copy)
        return false;
    expansion->included[expansion->included_count++] = copy;
    return true;
}

/* The name in a line `#include "NAME"`, or NULL. */
static char *included_name(const char *line)
{
    char name[256];
    return sscanf(line, " #include \"%255[^\"]\"", name) == 1 ? strdup(name) : NULL;
}

static enum status expand(struct expansion *expansion, const char *name)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s", expansion->folder, name) < 0)
        return status_fail(STATUS_FAILED, "no memory for the path of %s", name);
    FILE *file = fopen(path, "r");
    if (!file) {
        const enum status status = status_fail(
            STATUS_FAILED,
            "cannot read kernel file %s: %s (the folder comes from RADIXPIC_KERNELS where that is set)", path,
            strerror(errno));
        free(path);
        return status;
    }
    enum status status = STATUS_OK;
    char *line = NULL;
    size_t capacity = 0;
    fprintf(expansion->output, "#line 1 \"%s\"\n", name);
    for (int number = 1; status == STATUS_OK && getline(&line, &capacity, file) >= 0; number++) {
        char *inner = included_name(line);
        if (!inner) {
            fputs(line, expansion->output);
            continue;
        }
        if (remember(expansion, inner)) {
            status = expand(expansion, inner);
            fprintf(expansion->output, "#line %d \"%s\"\n", number + 1, name);
        } else {
            fputc('\n', expansion->output);
        }
        free(inner);
    }
    free(line);
    fclose(file);
    free(path);
    return status;
}

enum status program_source(const char *file, char **source)
{
    size_t length = 0;
    *source = NULL;
    struct expansion expansion = {.folder = program_folder(), .output = open_memstream(source, &length)};
    if (!expansion.output)
        return status_fail(STATUS_FAILED, "no memory for the kernels of %s", file);
    const enum status status = expand(&expansion, file);
    fclose(expansion.output);
    for (size_t n = 0; n < expansion.included_count; n++)
        free(expansion.included[n]);
    if (status != STATUS_OK) {
        free(*source);
        *source = NULL;
    }
    return status;
}
