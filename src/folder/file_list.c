/* File list: its lines become names and digests. */
#include "folder/file_list.h"

#include "base/below.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void file_list_line(char line[FILE_LIST_LINE], const char *name, const uint64_t *digest)
{
    char text[32] = "-";
    if (digest)
        snprintf(text, sizeof text, "%016" PRIx64, *digest);
    snprintf(line, FILE_LIST_LINE, "%-16s  %s\n", text, name);
}

/* Whether the line is one that file_list_line() makes. */
static bool parse_line(const char *line, struct listed_file *file)
{
    enum { NAME = 18 }; /* column */
    char same[FILE_LIST_LINE];
    if (strlen(line) <= NAME)
        return false;
    file->has_digest = line[0] != '-';
    file->digest = strtoull(line, NULL, 16);
    snprintf(file->name, sizeof file->name, "%.*s", (int)strcspn(line + NAME, "\n"), line + NAME);
    file_list_line(same, file->name, file->has_digest ? &file->digest : NULL);
    return strcmp(line, same) == 0 && file->name[0] != '.' && !strstr(file->name, "/.");
}

static bool read_lines(FILE *stream, struct listed_file **files, size_t *count)
{
    char line[FILE_LIST_LINE];
    size_t room = 0;
    uint64_t begin = 0;
    bool is_sound = true;
    /* A loss of power may leave zeros where lines were being written. */
    while (is_sound && fgets(line, sizeof line, stream) && line[0] != '\0' &&
           (strchr(line, '\n') || !feof(stream))) {
        if (*count == room) {
            struct listed_file *longer = realloc(*files, (room = 2 * room + 64) * sizeof *longer);
            if (!longer)
                return false;
            *files = longer;
        }
        (*files)[*count].begin = begin;
        if (begin == 0)
            is_sound = strcmp(line, FILE_LIST_HEAD "\n") == 0;
        else
            is_sound = parse_line(line, &(*files)[(*count)++]);
        begin += strlen(line);
    }
    return is_sound && !ferror(stream);
}

enum status file_list_read(int folder, const char *path, struct listed_file **files, size_t *count)
{
    const int descriptor = below_open(folder, FILE_LIST_NAME, O_RDONLY);
    FILE *stream = descriptor >= 0 ? fdopen(descriptor, "r") : NULL;
    char name[PATH_MAX + sizeof FILE_LIST_NAME];
    *files = NULL;
    *count = 0;
    if (!stream)
        return errno == ENOENT ? STATUS_OK
                               : status_fail(STATUS_FAILED, "cannot read %s/" FILE_LIST_NAME ": %s", path,
                                             below_text(errno));
    const bool is_sound = read_lines(stream, files, count);
    fclose(stream);
    if (is_sound)
        return STATUS_OK;
    free(*files);
    *files = NULL;
    snprintf(name, sizeof name, "%s/" FILE_LIST_NAME, path);
    return manifest_refuse(name, "is damaged");
}
