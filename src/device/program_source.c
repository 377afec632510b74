/* Program source: read a kernel file and put its shared headers in place. */
#include "device/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *program_folder(void)
{
    const char *chosen = getenv("RADIXPIC_KERNELS");
    if (chosen && chosen[0] != '\0')
        return chosen;
    return access(RADIXPIC_KERNELS_BUILT, R_OK) == 0 ? RADIXPIC_KERNELS_BUILT : RADIXPIC_KERNELS_INSTALLED;
}

/* Writes a file to `output`, a stream into *text, with the files that it includes. Each begins with a #line
 * of its own, by which it is known when it is included again. */
static enum status expand(const char *name, FILE *output, char *const *text)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s", program_folder(), name) < 0)
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
    char *line = NULL, inner[256], begin[sizeof inner + 16];
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
    free(path);
    return status;
}

enum status program_source(const char *file, char **source)
{
    size_t length = 0;
    *source = NULL;
    FILE *output = open_memstream(source, &length);
    if (!output)
        return status_fail(STATUS_FAILED, "no memory for the kernels of %s", file);
    const enum status status = expand(file, output, source);
    fclose(output);
    if (status != STATUS_OK) {
        free(*source);
        *source = NULL;
    }
    return status;
}
