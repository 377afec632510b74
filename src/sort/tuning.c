/* Tuning: the file of the fastest sorts. A block `sort:` has the keys of a config, by the config's own table,
 * whose strict parsing and printing of values serve the other keys of an entry too. */
#include "sort/tuning.h"

#include "base/below.h"
#include "base/cache.h"
#include "base/regular.h"
#include "base/replace.h"
#include "config/schema.h"
#include "config/yaml_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define COUNT_OF(array)     (sizeof(array) / sizeof((array)[0]))
#define IN_ENTRY(member)    .offset = offsetof(struct tuning_entry, member)
#define WITHIN(least, most) .low = (least), .high = (most)

enum { FORMAT = 2, MOST_FILE_BYTES = 1 << 20 };

static const struct schema_row entry_rows[] = {
    {"device", TYPE_TEXT, IN_ENTRY(device), WITHIN(0, 255), .capacity = 256},
    {"driver", TYPE_TEXT, IN_ENTRY(driver), WITHIN(0, 127), .capacity = 128},
    {"compute_units", TYPE_COUNT32, IN_ENTRY(compute_units), WITHIN(1, UINT32_MAX)},
    {"length", TYPE_COUNT32, IN_ENTRY(length), WITHIN(1, UINT32_MAX)},
    {"date", TYPE_TEXT, IN_ENTRY(date), WITHIN(TUNING_DATE_LENGTH - 1, TUNING_DATE_LENGTH - 1),
     .capacity = TUNING_DATE_LENGTH},
};
static const struct schema_row format_row = {"format", TYPE_COUNT32, WITHIN(FORMAT, UINT32_MAX)};

enum { SORT_ROWS_MOST = 16, GROUP_LENGTH = 5 /* of "sort." */ };

/* The config's rows of a block `sort:`, with their places in an entry and the names of their keys. */
static size_t make_sort_rows(struct schema_row rows[SORT_ROWS_MOST])
{
    const size_t moved = offsetof(struct config, sort) - offsetof(struct tuning_entry, sort);
    size_t count = 0;
    for (size_t n = 0; n < config_schema.count && count < SORT_ROWS_MOST; n++)
        if (strncmp(config_schema.rows[n].path, "sort.", GROUP_LENGTH) == 0) {
            rows[count] = config_schema.rows[n];
            rows[count].path += GROUP_LENGTH;
            rows[count++].offset -= moved;
        }
    return count;
}

/* ---- entries ---- */

struct tuning_entry tuning_entry_of(const struct device_info *info, uint32_t length)
{
    struct tuning_entry entry = {.compute_units = info->compute_units, .length = length};
    snprintf(entry.device, sizeof entry.device, "%s", info->name);
    snprintf(entry.driver, sizeof entry.driver, "%s", info->driver);
    return entry;
}

static bool same_device_and_keys(const struct tuning_entry *a, const struct tuning_entry *b)
{
    return a->compute_units == b->compute_units && a->sort.key_bits == b->sort.key_bits &&
           strcmp(a->device, b->device) == 0 && strcmp(a->driver, b->driver) == 0;
}

const struct tuning_entry *tuning_find(const struct tuning *tuning, const struct tuning_entry *wanted)
{
    const struct sort_config *sort = &wanted->sort;
    const struct tuning_entry *nearest = NULL;
    double least = INFINITY;
    for (const struct tuning_entry *entry = tuning->entries; entry < tuning->entries + tuning->count;
         entry++) {
        const double distance = fabs(log((double)entry->length / fmax(wanted->length, 1)));
        if (same_device_and_keys(entry, wanted) && distance < least &&
            (sort->method == SORT_METHOD_AUTO || sort->method == entry->sort.method) &&
            (sort->passes == SORT_AUTO || sort->passes == entry->sort.passes)) {
            least = distance;
            nearest = entry;
        }
    }
    return nearest;
}

void tuning_free(struct tuning *tuning)
{
    free(tuning->entries);
    *tuning = (struct tuning){0};
}

/* ---- reading: STATUS_USAGE where the file, or the entry, cannot be used, with the place ---- */

/* Other keys of the mapping are passed over: a newer file may have more. */
static enum status read_rows(const struct tree_node *mapping, const struct schema_row *rows, size_t count,
                             void *target)
{
    for (const struct schema_row *row = rows; row < rows + count; row++) {
        const struct tree_node *node = tree_value(mapping, row->path);
        const char *text = node ? node->text : row->fallback;
        char why[VALUE_WHY_LENGTH] = "is missing";
        if (node && node->kind != TREE_SCALAR)
            snprintf(why, sizeof why, "is not a single value");
        else if (text && value_parse(row, text, node ? node->length : strlen(text), !node || node->plain,
                                     (char *)target + row->offset, why))
            continue;
        return status_fail(STATUS_USAGE, "line %zu: %s: %s", (node ? node : mapping)->origin.line, row->path,
                           why);
    }
    return STATUS_OK;
}

static enum status read_entry(const struct tree_node *node, struct tuning_entry *entry)
{
    struct schema_row sort_rows[SORT_ROWS_MOST];
    const size_t count = make_sort_rows(sort_rows);
    TRY(read_rows(node, entry_rows, COUNT_OF(entry_rows), entry));
    TRY(read_rows(tree_value(node, "sort"), sort_rows, count, entry));
    return entry->sort.method != SORT_METHOD_AUTO && entry->sort.passes != SORT_AUTO &&
                   entry->sort.key_bits != SORT_AUTO
               ? STATUS_OK
               : status_fail(STATUS_USAGE, "line %zu: sort: needs a method, passes and key_bits",
                             node->origin.line);
}

/* An entry that is not right is left out; `problem` gets the sentence about the first one. */
static enum status read_root(const struct tree_node *root, struct tuning *tuning,
                             char problem[TUNING_PROBLEM_LENGTH])
{
    const struct tree_node *sorts = tree_value(root, "sorts");
    uint32_t format = 0;
    TRY(root ? read_rows(root, &format_row, 1, &format) : status_fail(STATUS_USAGE, "it is empty"));
    tuning->is_newer = format > FORMAT;
    if (!sorts || sorts->kind != TREE_SEQUENCE)
        return status_fail(STATUS_USAGE, "it is not a mapping with the keys format and the list sorts");
    tuning->entries = calloc(tree_count(sorts) + 1, sizeof *tuning->entries);
    if (!tuning->entries)
        return status_fail(STATUS_FAILED, "no memory for the tuned sorts");
    for (const struct tree_node *node = sorts->first_child; node; node = node->next)
        if (read_entry(node, &tuning->entries[tuning->count]) == STATUS_OK)
            tuning->count++;
        else if (problem[0] == '\0')
            snprintf(problem, TUNING_PROBLEM_LENGTH, "%.400s", status_message());
    return STATUS_OK;
}

static enum status read_text(const char *text, size_t length, struct tuning *tuning,
                             char problem[TUNING_PROBLEM_LENGTH])
{
    struct tree tree = {.root = NULL};
    struct tree_problem trouble;
    if (length > MOST_FILE_BYTES)
        return status_fail(STATUS_USAGE, "it is longer than %d bytes", MOST_FILE_BYTES);
    enum status status = tree_parse(&tree, text, length, TREE_FROM_FILE, &tree.root, &trouble);
    if (status == STATUS_USAGE)
        status = status_fail(STATUS_USAGE, "line %zu: %s", trouble.origin.line, trouble.text);
    else if (status == STATUS_OK)
        status = read_root(tree.root, tuning, problem);
    tree_free(&tree);
    return status;
}

enum status tuning_read(struct tuning *tuning, char problem[TUNING_PROBLEM_LENGTH])
{
    char path[PATH_MAX], of_entry[TUNING_PROBLEM_LENGTH] = "";
    const char *why = "";
    enum status status = STATUS_OK;
    *tuning = (struct tuning){0};
    problem[0] = '\0';
    cache_path(TUNING_FILE, path, sizeof path);
    size_t length = 0;
    char *text = path[0] != '\0' ? regular_read(path, MOST_FILE_BYTES, &length, &why) : NULL;
    if (text) {
        status = read_text(text, length, tuning, of_entry);
    } else if (path[0] != '\0' && errno != ENOENT && errno != ENOTDIR) {
        tuning->is_unread = errno != 0; /* what is no regular file has no entries to lose */
        status = status_fail(STATUS_USAGE, "%s", why);
    }
    free(text);
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

/* The entries but for those that one of the length of `but`, which may be NULL, replaces. */
static void print_entries(const struct tuning *tuning, const struct tuning_entry *but, FILE *stream)
{
    struct schema_row rows[COUNT_OF(entry_rows) + SORT_ROWS_MOST];
    memcpy(rows, entry_rows, sizeof entry_rows);
    const size_t count = COUNT_OF(entry_rows) + make_sort_rows(rows + COUNT_OF(entry_rows));
    for (size_t n = 0; n < tuning->count; n++) {
        const struct tuning_entry *entry = &tuning->entries[n];
        if (but && entry->length == but->length && same_device_and_keys(entry, but))
            continue;
        for (size_t r = 0; r < count; r++) {
            fputs(r == 0                      ? "  - "
                  : r < COUNT_OF(entry_rows)  ? "    "
                  : r == COUNT_OF(entry_rows) ? "    sort:\n      "
                                              : "      ",
                  stream);
            fprintf(stream, "%s: ", rows[r].path);
            value_print(&rows[r], entry, stream);
            fputc('\n', stream);
        }
    }
}

/* The path of the file, and the folder that it is in, which is made and opened. */
static enum status open_folder(char path[PATH_MAX], char folder[PATH_MAX], int *descriptor)
{
    cache_path(TUNING_FILE, path, PATH_MAX);
    if (path[0] == '\0')
        return status_fail(STATUS_FAILED, "no folder for the tuned sorts: set RADIXPIC_CACHE to one");
    cache_create_folders(path);
    snprintf(folder, PATH_MAX, "%.*s", (int)(strlen(path) - sizeof TUNING_FILE), path);
    *descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*descriptor >= 0 && access(folder, W_OK) == 0)
        return STATUS_OK;
    const enum status status = status_fail(
        STATUS_FAILED, "cannot write %s: %s (RADIXPIC_CACHE names another folder)", path, strerror(errno));
    below_end(*descriptor);
    return status;
}

/* Reads what is stored, which the caller frees; fails where it must stay as it is. */
static enum status read_replaceable(const char *path, struct tuning *tuning,
                                    char problem[TUNING_PROBLEM_LENGTH])
{
    TRY(tuning_read(tuning, problem));
    if (tuning->is_unread)
        return status_fail(STATUS_FAILED, "%s; it is left as it is, and RADIXPIC_CACHE names another folder",
                           problem);
    return tuning->is_newer ? status_fail(STATUS_FAILED,
                                          "%s was written by a newer radixpic, and is left as it is; "
                                          "RADIXPIC_CACHE names another folder",
                                          path)
                            : STATUS_OK;
}

static enum status write_file(int folder, const char *path, const struct tuning *old,
                              const struct tuning *found)
{
    struct replacement replacement;
    TRY(replace_begin(folder, path, TUNING_FILE, &replacement));
    fprintf(replacement.file,
            "# The fastest sorts that radixpic tune found; without this file the program takes its "
            "defaults.\nformat: %d\nsorts:\n",
            FORMAT);
    print_entries(old, &found->entries[0], replacement.file);
    print_entries(found, NULL, replacement.file);
    return replace_end(&replacement, STATUS_OK);
}

/* Of two programs that write, one reads what the other has written. The lock is that of the folder, so that
 * no file is left; where the file system has none (NFS), it is done without. */
enum status tuning_write(const struct tuning *found, char problem[TUNING_PROBLEM_LENGTH])
{
    char path[PATH_MAX], folder[PATH_MAX];
    struct tuning old;
    int lock = -1;
    TRY(open_folder(path, folder, &lock));
    while (flock(lock, LOCK_EX) != 0 && errno == EINTR)
        continue;
    enum status status = read_replaceable(path, &old, problem);
    if (status == STATUS_OK && found)
        status = write_file(lock, folder, &old, found);
    tuning_free(&old);
    below_end(lock);
    return status;
}
