/* Complaints: everything that is wrong with a config, collected and then reported at once, in the order of
 * the file. */
#ifndef RADIXPIC_CONFIG_COMPLAINTS_H
#define RADIXPIC_CONFIG_COMPLAINTS_H

#include "config/yaml_tree.h"

enum {
    COMPLAINTS_MAX = 1000,  /* kept; more are only counted */
    COMPLAINTS_LISTED = 20, /* in the report */
    COMPLAINT_LENGTH = 1024
};

struct complaint {
    struct tree_origin origin;
    char path[TREE_PATH_LENGTH]; /* dotted, items of lists by number */
    char text[COMPLAINT_LENGTH]; /* "key: what is wrong" */
};

struct complaints {
    const char *file;             /* name of the file in the report */
    const char *const *settings;  /* the --set words that origins count */
    const struct tree_node *root; /* for places and for names of species; may be NULL */
    struct complaint items[COMPLAINTS_MAX];
    size_t count; /* kept */
    size_t total; /* made */
};

/* Adds a complaint about the key at `path` ("": about no key). It is placed at `node`, or when that is NULL
 * at the nearest ancestor of `path` that was written. */
void complain(struct complaints *complaints, const struct tree_node *node, const char *path,
              const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Whether no complaint is about `path` itself, something below it, or something it lies in. */
bool complaints_sound(const struct complaints *complaints, const char *path);

/* STATUS_OK without complaints; otherwise records the first of them by place as the status message, with the
 * number of the others, and returns STATUS_USAGE (STATUS_FAILED when out of memory). */
STATUS_CHECKED enum status complaints_report(struct complaints *complaints);

#endif
