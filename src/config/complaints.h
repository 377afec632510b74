/* Complaints: all that is wrong with a config, each at the place where it was written. Errors of the user
 * become complaints, and each stage of reading leaves out what a complaint was made about already. */
#ifndef RADIXPIC_CONFIG_COMPLAINTS_H
#define RADIXPIC_CONFIG_COMPLAINTS_H

#include "config/config.h"
#include "config/yaml_tree.h"

enum {
    COMPLAINTS_MAX = 1000,  /* kept; more are only counted */
    COMPLAINTS_LISTED = 20, /* in the report */
    COMPLAINT_LENGTH = 896  /* bytes of what is wrong, with its end */
};

struct complaint {
    struct complaint *next;
    struct tree_origin origin;
    /* Dotted, items by number. Of a key `kind` that of its group; keys of other kinds are not read. */
    char path[TREE_PATH_LENGTH];
    char text[]; /* "key: what is wrong" */
};

/* A config on its way from text to struct. */
struct reading {
    const char *file;            /* its name in messages */
    const char *const *settings; /* the --set words */
    size_t setting_count;
    struct tree tree;
    struct config *config; /* all zero before */
    struct constants constants;
    char path[TREE_PATH_LENGTH];  /* of the key in hand; "": none */
    struct complaint *complaints; /* by place; at one place as they were made */
    size_t count;                 /* of these */
    size_t total;                 /* complaints made */
};

/* Adds a complaint about the key at reading->path. It is placed at `node`, or when that is NULL at the
 * nearest ancestor of the path that was written. */
void complain(struct reading *reading, const struct tree_node *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Whether no complaint is about `path` itself, something below it, or something it lies in. */
bool is_sound(const struct reading *reading, const char *path);

/* Whether the key of that path has no complaint. It is the key in hand from then on. */
bool at(struct reading *reading, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What the user wrote at the key in hand; NULL: nothing. */
const struct tree_node *written(const struct reading *reading);

/* STATUS_OK without complaints; otherwise records the first of them by place as the status message, with the
 * number of all, and returns STATUS_USAGE (STATUS_FAILED when out of memory). */
STATUS_CHECKED enum status complaints_report(const struct reading *reading);

/* Frees the complaints. */
void complaints_free(struct reading *reading);

#endif
