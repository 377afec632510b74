/* Config reader: file -> tree -> settings -> struct -> checks -> report. */
#include "config/config_reader.h"

#include "config/stages.h"
#include "config/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FILE_BYTES = 1 << 20 };

/* "output/" and the name of the file without folders and ending; "output/run" where that is not UTF-8. */
static void default_directory(const char *name, char directory[CONFIG_TEXT_LENGTH])
{
    const char *slash = strrchr(name, '/');
    const char *base = slash ? slash + 1 : name;
    const char *dot = strrchr(base, '.');
    const size_t length = dot && dot != base ? (size_t)(dot - base) : strlen(base);
    if (text_fault(base, length, true))
        snprintf(directory, CONFIG_TEXT_LENGTH, "output/run");
    else
        snprintf(directory, CONFIG_TEXT_LENGTH, "output/%.*s", (int)length, base);
}

static enum status read_into(const char *name, const char *text, size_t length, size_t setting_count,
                             struct tree *tree, struct complaints *complaints, struct config *config)
{
    char directory[CONFIG_TEXT_LENGTH];
    struct tree_problem problem;
    const enum status parsed = tree_parse(tree, text, length, TREE_FROM_FILE, &tree->root, &problem);
    if (parsed == STATUS_FAILED)
        return parsed;
    const struct tree_node *root = complaints->root = tree->root;
    if (parsed != STATUS_OK) {
        complain(complaints, &(struct tree_node){.origin = problem.origin}, "", "%s", problem.text);
    } else if (!root || root->kind != TREE_MAPPING) {
        complain(complaints, root, "", "expected a mapping with the keys grid, time and species, found %s",
                 !root                         ? "nothing"
                 : root->kind == TREE_SEQUENCE ? "a list"
                                               : "one value");
    } else {
        TRY(settings_apply(tree, setting_count, complaints));
        default_directory(name, directory);
        read_tree(root, directory, config, complaints);
        check_config(config, complaints);
    }
    return complaints_report(complaints);
}

enum status config_read_text(const char *name, const char *text, size_t length, const char *const *settings,
                             size_t setting_count, struct config *config)
{
    struct tree tree = {.root = NULL};
    struct complaints *complaints = calloc(1, sizeof *complaints);
    struct config *result =
        calloc(1, sizeof *result); /* zero everywhere, so that equal configs are equal bytes */
    enum status status = STATUS_OK;
    if (!complaints || !result) {
        status = tree_no_memory();
        goto cleanup;
    }
    complaints->file = name;
    complaints->settings = settings;
    TRY_CLEANUP(read_into(name, text, length, setting_count, &tree, complaints, result));
    memcpy(config, result, sizeof *config);

cleanup:
    free(complaints);
    free(result);
    tree_free(&tree);
    return status;
}

/* Reads at most MOST_FILE_BYTES + 1 bytes. */
static enum status read_bytes(const char *path, char *bytes, size_t *length)
{
    FILE *file = fopen(path, "rbe");
    if (!file)
        return status_fail(STATUS_USAGE, "%s: cannot open the config: %s", path, strerror(errno));
    *length = fread(bytes, 1, MOST_FILE_BYTES + 1, file);
    const int error = ferror(file) ? errno : 0;
    fclose(file);
    if (error)
        return status_fail(STATUS_USAGE, "%s: cannot read the config: %s", path, strerror(error));
    if (*length > MOST_FILE_BYTES)
        return status_fail(STATUS_USAGE, "%s: expected a config of at most %d bytes, found more", path,
                           MOST_FILE_BYTES);
    return STATUS_OK;
}

enum status config_read(const char *path, const char *const *settings, size_t setting_count,
                        struct config *config)
{
    enum status status = STATUS_OK;
    size_t length = 0;
    char *bytes = malloc(MOST_FILE_BYTES + 1);
    if (!bytes)
        return tree_no_memory();
    TRY_CLEANUP(read_bytes(path, bytes, &length));
    TRY_CLEANUP(config_read_text(path, bytes, length, settings, setting_count, config));

cleanup:
    free(bytes);
    return status;
}
