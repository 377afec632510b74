/* Config reader: file -> tree -> settings -> struct -> checks -> report. */
#include "config/config_reader.h"

#include "base/regular.h"
#include "config/check.h"
#include "config/reading.h"

#include <stdlib.h>

enum { MOST_FILE_BYTES = 1 << 20 };

/* What follows from all of a config. */
static void derive(struct config *config)
{
    bool any_weights = false;
    for (uint32_t s = 0; s < config->species_count; s++)
        any_weights |= config->species[s].weights != WEIGHTS_EQUAL;
    for (uint32_t s = 0; s < config->species_count; s++) {
        config->species[s].random_key = config->seed | (uint64_t)s << 32;
        config->species[s].carries_weights = any_weights;
    }
}

static enum status read_into(struct reading *reading, const char *text, size_t length)
{
    struct tree_problem problem;
    const enum status parsed =
        tree_parse(&reading->tree, text, length, TREE_FROM_FILE, &reading->tree.root, &problem);
    if (parsed == STATUS_FAILED)
        return parsed;
    const struct tree_node *root = reading->tree.root;
    if (parsed != STATUS_OK) {
        complain(reading, &(struct tree_node){.origin = problem.origin}, "%s", problem.text);
    } else if (!root || root->kind != TREE_MAPPING) {
        complain(reading, root, "expected a mapping with the keys grid, time and species, found %s",
                 !root                         ? "nothing"
                 : root->kind == TREE_SEQUENCE ? "a list"
                                               : "one value");
    } else {
        TRY(apply_settings(reading));
        read_constants(reading);
        read_tree(reading);
        check_constants(reading);
        check_config(reading);
        derive(reading->config);
    }
    return complaints_report(reading);
}

enum status config_read_text(const char *name, const char *text, size_t length, const char *const *settings,
                             size_t setting_count, struct config *config)
{
    struct config result = {0};
    struct reading reading = {
        .file = name, .settings = settings, .setting_count = setting_count, .config = &result};
    const enum status status = read_into(&reading, text, length);
    tree_free(&reading.tree);
    complaints_free(&reading);
    if (status == STATUS_OK)
        *config = result;
    else
        config_free(&result);
    return status;
}

enum status config_read(const char *path, const char *const *settings, size_t setting_count,
                        struct config *config)
{
    size_t length = 0;
    const char *why = "";
    char *bytes = regular_read(path, MOST_FILE_BYTES, &length, &why);
    if (!bytes)
        return status_fail(STATUS_USAGE, "%s: cannot read the config: %s", path, why);
    const enum status status =
        length > MOST_FILE_BYTES
            ? status_fail(STATUS_USAGE, "%s: expected a config of at most %d bytes, found more", path,
                          MOST_FILE_BYTES)
            : config_read_text(path, bytes, length, settings, setting_count, config);
    free(bytes);
    return status;
}
