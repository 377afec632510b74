/* Reading: a config on its way from text to struct, and everything that is wrong with it. config_reader.c
 * takes its stages one after the other; errors of the user become complaints, and each stage leaves out what
 * a complaint was made about already. */
#ifndef RADIXPIC_CONFIG_READING_H
#define RADIXPIC_CONFIG_READING_H

#include "config/config.h"
#include "config/yaml_tree.h"

enum {
    COMPLAINTS_MAX = 1000,  /* kept; more are only counted */
    COMPLAINTS_LISTED = 20, /* in the report */
    COMPLAINT_LENGTH = 1024
};

struct complaint {
    struct tree_origin origin;
    /* Dotted, items by number. Of a key `kind` that of its group; keys of other kinds are not read. */
    char path[TREE_PATH_LENGTH];
    char text[COMPLAINT_LENGTH]; /* "key: what is wrong" */
};

struct reading {
    const char *file;            /* its name in messages */
    const char *const *settings; /* the --set words */
    size_t setting_count;
    struct tree tree;
    struct config *config;                  /* all zero before */
    char path[TREE_PATH_LENGTH];            /* of the key in hand; "": none */
    struct complaint items[COMPLAINTS_MAX]; /* by place; at one place as they were made */
    size_t count;                           /* of the items */
    size_t total;                           /* complaints made */
};

/* Adds a complaint about the key at reading->path. It is placed at `node`, or when that is NULL at the
 * nearest ancestor of the path that was written. */
void complain(struct reading *reading, const struct tree_node *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Whether no complaint is about `path` itself, something below it, or something it lies in. */
bool is_sound(const struct reading *reading, const char *path);

/* Fills the config from the tree: unknown, duplicate, missing and mistyped keys and numbers out of their
 * range become complaints, and leave their fields zero. */
void read_tree(struct reading *reading);

/* The rules that tie several keys together, and of these those of outputs. */
void check_config(struct reading *reading);
void check_output(struct reading *reading);
void check_ranges(struct reading *reading);
void check_electromagnetic(struct reading *reading);

/* ---- for rules ---- */

/* Whether the key of that path has no complaint. It is the key that a rule then complains about. */
bool at(struct reading *reading, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What the user wrote at that path; NULL: nothing. */
const struct tree_node *written(const struct reading *reading);

/* No item of the list before this one has its name, the first member of items of `size` bytes. */
void check_name(struct reading *reading, const char *list, const char *what, const void *items, size_t size,
                uint32_t index);

/* There is a species of that name; the complaint shows one, and `others` that the key takes too. */
void check_species_name(struct reading *reading, const char *name, const char *others);

/* The fields of an output, whose path this is, are those that the solver has. */
void check_field_list(struct reading *reading, const char *path, const struct field_list *fields);

/* The formulas of E and B of fields.GROUP, `initial` or `external`, are finite on the grid at t = 0. */
void check_field_formulas(struct reading *reading, const char *group);

/* What hardly a particle exceeds. */
double greatest_speed(const struct species_config *species);

/* Whether the ends of a range are in order, and a double holds their difference. */
bool check_ends(struct reading *reading, const double range[2], bool may_be_equal);

#endif
