/* Complaints: everything that is wrong with a config, collected and then reported at once, in the order of
 * the file. */
#ifndef RADIXPIC_CONFIG_COMPLAINTS_H
#define RADIXPIC_CONFIG_COMPLAINTS_H

#include "config/schema.h"
#include "config/yaml_tree.h"

enum { COMPLAINTS_MAX = 1000 }; /* kept; more are only counted */

struct complaint {
    struct tree_origin origin;
    char *path; /* dotted, items of lists by number */
    char *text; /* "key: what is wrong" */
};

struct complaints {
    const char *file;             /* name of the file in the report */
    const char *const *settings;  /* the --set words the origins count */
    const struct tree_node *root; /* for places and for names of species; may be NULL */
    struct complaint items[COMPLAINTS_MAX];
    size_t count; /* kept */
    size_t total; /* made */
    bool out_of_memory;
};

/* Adds a complaint about the key at `path` ("": about no key). It is placed at `node`, or when that
 * is NULL at the nearest ancestor of `path` that was written. */
void complain(struct complaints *complaints, const struct tree_node *node, const char *path,
              const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Adds "unknown key" about the scalar `key`, written below `path`, which is the group `group` of `table`,
 * with the nearest known key. */
void complain_unknown_key(struct complaints *complaints, const struct tree_node *key, const char *path,
                          const struct schema_table *table, const char *group);

/* Whether no complaint is about `path` itself, something below it, or something it lies in. */
bool complaints_sound(const struct complaints *complaints, const char *path);

/* STATUS_OK without complaints; otherwise records them all as the status message, sorted by place, and
 * returns STATUS_USAGE (STATUS_FAILED when out of memory). */
STATUS_CHECKED enum status complaints_report(struct complaints *complaints);

/* Frees the texts. */
void complaints_free(struct complaints *complaints);

#endif
