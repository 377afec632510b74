/* Tuning: the file of the fastest sorts. Its rows are a table like the config's, so the config's strict
 * parsing and printing of values serve here too. */
#include "sort/tuning.h"

#include "base/cache.h"
#include "base/regular.h"
#include "config/schema.h"
#include "config/yaml_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define COUNT_OF(array)     (sizeof(array) / sizeof((array)[0]))
#define IN_ENTRY(member)    .offset = offsetof(struct tuning_entry, member)
#define WITHIN(least, most) .low = (least), .high = (most)
#define OR_AUTO             WITHIN(1, 65536), WORDS({"auto", SORT_AUTO})

enum { FORMAT = 1, MOST_FILE_BYTES = 1 << 20, OTHER_LENGTH = PATH_MAX + 32 };

/* What has a fallback may be missing, as it is in files from before it was. */
static const struct schema_row entry_rows[] = {
    {"device", TYPE_TEXT, IN_ENTRY(key.device), WITHIN(0, 255), .capacity = 256},
    {"driver", TYPE_TEXT, IN_ENTRY(key.driver), WITHIN(0, 127), .capacity = 128},
    {"compute_units", TYPE_COUNT32, IN_ENTRY(key.compute_units), WITHIN(1, UINT32_MAX)},
    {"key_bits", TYPE_COUNT32, IN_ENTRY(key.key_bits), WITHIN(1, 32)},
    {"size_class", TYPE_COUNT32, IN_ENTRY(key.size_class), WITHIN(0, 31)},
    {"method", TYPE_CHOICE, IN_ENTRY(choice.config.method),
     WORDS({"paper", SORT_METHOD_PAPER}, {"tiled", SORT_METHOD_TILED}, {"chunked", SORT_METHOD_CHUNKED})},
    {"passes", TYPE_COUNT32, IN_ENTRY(choice.config.passes), WITHIN(1, 32)},
    {"items_per_group", TYPE_COUNT32, IN_ENTRY(choice.config.items_per_group), OR_AUTO},
    {"groups", TYPE_COUNT32, IN_ENTRY(choice.config.groups), OR_AUTO},
    {"histogram_splits", TYPE_COUNT32, IN_ENTRY(choice.config.histogram_splits), OR_AUTO},
    {"transpose", TYPE_CHOICE, IN_ENTRY(choice.config.transpose),
     WORDS({"auto", TRANSPOSE_AUTO}, {"on", TRANSPOSE_ON}, {"off", TRANSPOSE_OFF})},
    {"table", TYPE_CHOICE, IN_ENTRY(choice.config.table),
     WORDS({"auto", TABLE_AUTO}, {"columns", TABLE_COLUMNS}, {"rows", TABLE_ROWS}), .fallback = "columns"},
    {"chunks", TYPE_COUNT32, IN_ENTRY(choice.chunks), OR_AUTO},
    {"tile_items", TYPE_COUNT32, IN_ENTRY(choice.tile_items), OR_AUTO},
    {"milliseconds", TYPE_REAL, IN_ENTRY(milliseconds), WITHIN(0, INFINITY), .open = true},
    {"date", TYPE_TEXT, IN_ENTRY(date), WITHIN(TUNING_DATE_LENGTH - 1, TUNING_DATE_LENGTH - 1),
     .capacity = TUNING_DATE_LENGTH},
};
/* A newer file may have more keys; the entries with these are read. */
static const struct schema_row format_row = {"format", TYPE_COUNT32, WITHIN(FORMAT, UINT32_MAX)};

/* ---- keys ---- */

struct tuning_key tuning_key_of(const struct device_info *info, uint32_t key_bits, uint32_t count)
{
    struct tuning_key key = {.compute_units = info->compute_units, .key_bits = key_bits};
    snprintf(key.device, sizeof key.device, "%s", info->name);
    snprintf(key.driver, sizeof key.driver, "%s", info->driver);
    for (; count > 1; count /= 2)
        key.size_class++;
    return key;
}

static bool same_key(const struct tuning_key *a, const struct tuning_key *b)
{
    return a->compute_units == b->compute_units && a->key_bits == b->key_bits &&
           a->size_class == b->size_class && strcmp(a->device, b->device) == 0 &&
           strcmp(a->driver, b->driver) == 0;
}

const struct tuning_entry *tuning_find(const struct tuning *tuning, const struct tuning_key *key,
                                       enum sort_method method, uint32_t passes)
{
    const struct tuning_entry *fastest = NULL;
    for (size_t n = 0; n < tuning->count; n++) {
        const struct tuning_entry *entry = &tuning->entries[n];
        if (same_key(&entry->key, key) &&
            (method == SORT_METHOD_AUTO || method == entry->choice.config.method) &&
            (passes == SORT_AUTO || passes == entry->choice.config.passes) &&
            (!fastest || entry->milliseconds < fastest->milliseconds))
            fastest = entry;
    }
    return fastest;
}

void tuning_free(struct tuning *tuning)
{
    free(tuning->entries);
    *tuning = (struct tuning){0};
}

/* ---- reading: STATUS_USAGE where the file, or the entry, cannot be used, with the place ---- */

enum { ANY_OTHERS = 1 << 20 };

/* Reads the keys of a mapping, which has `others` more than these. */
static enum status read_rows(const struct tree_node *mapping, const struct schema_row *rows, size_t count,
                             size_t others, void *target)
{
    size_t known = others;
    for (size_t n = 0; n < count; n++) {
        const struct schema_row *row = &rows[n];
        const struct tree_node *node = tree_value(mapping, row->path);
        const char *text = node ? node->text : row->fallback;
        void *value = (char *)target + row->offset;
        char why[VALUE_WHY_LENGTH] = "is missing";
        if (node && node->kind != TREE_SCALAR)
            snprintf(why, sizeof why, "is not a single value");
        else if (text &&
                 value_parse(row, text, node ? node->length : strlen(text), !node || node->plain, value, why))
            why[0] = '\0';
        if (why[0] != '\0')
            return status_fail(STATUS_USAGE, "line %zu: %s: %s", (node ? node : mapping)->origin.line,
                               row->path, why);
        known += node != NULL;
    }
    return others == ANY_OTHERS || tree_count(mapping) == known
               ? STATUS_OK
               : status_fail(STATUS_USAGE, "line %zu: has %zu keys, of which %zu are known",
                             mapping->origin.line, tree_count(mapping), known);
}

/* An entry that is not right is left out; `problem` gets the sentence about the first one. The format comes
 * first: a newer one may have no list `sorts`. */
static enum status read_root(const struct tree_node *root, struct tuning *tuning,
                             char problem[TUNING_PROBLEM_LENGTH])
{
    const struct tree_node *sorts = tree_value(root, "sorts");
    uint32_t format = 0;
    if (tree_value(root, format_row.path))
        TRY(read_rows(root, &format_row, 1, ANY_OTHERS, &format));
    tuning->is_newer = format > FORMAT;
    if (!sorts || sorts->kind != TREE_SEQUENCE)
        return status_fail(STATUS_USAGE, "it is not a mapping with the keys format and the list sorts");
    if (!tuning->is_newer)
        TRY(read_rows(root, &format_row, 1, 1, &format));
    tuning->entries = calloc(tree_count(sorts) + 1, sizeof *tuning->entries);
    if (!tuning->entries)
        return status_fail(STATUS_FAILED, "no memory for the tuned sorts");
    for (const struct tree_node *node = sorts->first_child; node; node = node->next)
        if (read_rows(node, entry_rows, COUNT_OF(entry_rows), tuning->is_newer ? ANY_OTHERS : 0,
                      &tuning->entries[tuning->count]) == STATUS_OK)
            tuning->count++;
        else if (problem[0] == '\0')
            snprintf(problem, TUNING_PROBLEM_LENGTH, "%.400s", status_message());
    return STATUS_OK;
}

static enum status parse_text(const char *text, size_t length, struct tuning *tuning,
                              char problem[TUNING_PROBLEM_LENGTH])
{
    struct tree tree = {.root = NULL};
    struct tree_problem trouble;
    enum status status = tree_parse(&tree, text, length, TREE_FROM_FILE, &tree.root, &trouble);
    if (status == STATUS_USAGE)
        status = status_fail(STATUS_USAGE, "line %zu: %s", trouble.origin.line, trouble.text);
    else if (status == STATUS_OK)
        status = read_root(tree.root, tuning, problem);
    tree_free(&tree);
    return status;
}

static enum status read_file(FILE *file, struct tuning *tuning, char problem[TUNING_PROBLEM_LENGTH])
{
    char *text = malloc(MOST_FILE_BYTES + 1);
    if (!text)
        return status_fail(STATUS_FAILED, "no memory for the tuned sorts");
    const size_t length = fread(text, 1, MOST_FILE_BYTES + 1, file);
    tuning->is_unread = ferror(file) != 0;
    const enum status status = tuning->is_unread ? status_fail(STATUS_USAGE, "%s", strerror(errno))
                               : length > MOST_FILE_BYTES
                                   ? status_fail(STATUS_USAGE, "it is longer than %d bytes", MOST_FILE_BYTES)
                                   : parse_text(text, length, tuning, problem);
    free(text);
    return status;
}

enum status tuning_read(struct tuning *tuning, char problem[TUNING_PROBLEM_LENGTH])
{
    char path[PATH_MAX], of_entry[TUNING_PROBLEM_LENGTH] = "";
    enum status status = STATUS_OK;
    *tuning = (struct tuning){0};
    problem[0] = '\0';
    cache_path(TUNING_FILE, path, sizeof path);
    const char *why = "";
    FILE *file = path[0] != '\0' ? regular_open(path, &why) : NULL;
    if (file) {
        status = read_file(file, tuning, of_entry);
        fclose(file);
    } else if (path[0] != '\0' && errno != ENOENT && errno != ENOTDIR) {
        tuning->is_unread = errno != 0; /* what is no regular file has no entries to lose */
        status = status_fail(STATUS_USAGE, "%s", why);
    }
    if (of_entry[0] != '\0')
        snprintf(problem, TUNING_PROBLEM_LENGTH,
                 "one or more of the tuned sorts in %.400s cannot be used: %.400s", path, of_entry);
    if (status != STATUS_USAGE)
        return status;
    tuning->count = 0;
    snprintf(problem, TUNING_PROBLEM_LENGTH, "the tuned sorts in %.400s cannot be used: %.400s", path,
             status_message());
    return STATUS_OK;
}

/* ---- writing ---- */

/* The entries but for those of a key. */
static void print_entries(const struct tuning *tuning, const struct tuning_key *but, FILE *stream)
{
    for (size_t n = 0; n < tuning->count; n++) {
        const struct tuning_entry *entry = &tuning->entries[n];
        if (but && same_key(&entry->key, but))
            continue;
        for (size_t r = 0; r < COUNT_OF(entry_rows); r++) {
            fprintf(stream, "%s%s: ", r == 0 ? "  - {" : ", ", entry_rows[r].path);
            value_print(&entry_rows[r], entry, stream);
        }
        fprintf(stream, "}\n");
    }
}

/* Opens the file `other` that is to take the place of the one at `path`. */
static enum status open_other(char path[PATH_MAX], char other[OTHER_LENGTH], FILE **file)
{
    cache_path(TUNING_FILE, path, PATH_MAX);
    if (path[0] == '\0')
        return status_fail(STATUS_FAILED, "no folder for the tuned sorts: set RADIXPIC_CACHE to one");
    snprintf(other, OTHER_LENGTH, "%s.%ld", path, (long)getpid());
    cache_create_folders(path);
    *file = fopen(other, "wbe");
    if (!*file)
        return status_fail(STATUS_FAILED, "cannot write %s: %s (RADIXPIC_CACHE names another folder)", path,
                           strerror(errno));
    return STATUS_OK;
}

/* Reads what is stored, which the caller frees; fails where it must stay as it is. */
static enum status read_replaceable(struct tuning *tuning)
{
    char path[PATH_MAX], problem[TUNING_PROBLEM_LENGTH];
    TRY(tuning_read(tuning, problem));
    if (tuning->is_unread)
        return status_fail(STATUS_FAILED, "%s; it is left as it is, and RADIXPIC_CACHE names another folder",
                           problem);
    cache_path(TUNING_FILE, path, sizeof path);
    return tuning->is_newer ? status_fail(STATUS_FAILED,
                                          "%s was written by a newer radixpic, and is left as it is; "
                                          "RADIXPIC_CACHE names another folder",
                                          path)
                            : STATUS_OK;
}

enum status tuning_check_writable(void)
{
    char path[PATH_MAX], other[OTHER_LENGTH];
    FILE *file;
    struct tuning there;
    const enum status status = read_replaceable(&there);
    tuning_free(&there);
    TRY(status);
    TRY(open_other(path, other, &file));
    fclose(file);
    unlink(other);
    return STATUS_OK;
}

static enum status write_file(const struct tuning *old, const struct tuning *found)
{
    char path[PATH_MAX], other[OTHER_LENGTH];
    FILE *file;
    TRY(open_other(path, other, &file));
    fprintf(file,
            "# The fastest sorts that radixpic tune found; without this file the program takes its "
            "defaults.\nformat: %d\nsorts:\n",
            FORMAT);
    print_entries(old, &found->entries[0].key, file);
    print_entries(found, NULL, file);
    bool failed = fflush(file) != 0 || fsync(fileno(file)) != 0 || ferror(file);
    failed |= fclose(file) != 0;
    if (!failed && rename(other, path) == 0)
        return STATUS_OK;
    const enum status status = status_fail(STATUS_FAILED, "cannot write %s: %s", path, strerror(errno));
    unlink(other);
    return status;
}

/* Of two programs that write, one reads what the other has written. The lock is that of the folder, so that
 * no file is left; where the file system has none (NFS), it is done without. */
static int lock_folder(void)
{
    char path[PATH_MAX];
    cache_path(TUNING_FILE, path, sizeof path);
    cache_create_folders(path);
    char *slash = strrchr(path, '/');
    if (!slash)
        return -1;
    *slash = '\0';
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (folder >= 0 && flock(folder, LOCK_EX) != 0 && errno == EINTR)
        continue;
    return folder;
}

enum status tuning_write(const struct tuning *found)
{
    struct tuning old;
    const int lock = lock_folder();
    enum status status = read_replaceable(&old);
    if (status == STATUS_OK)
        status = write_file(&old, found);
    tuning_free(&old);
    if (lock >= 0)
        close(lock);
    return status;
}
