/* Overrides: the options that `run` and `check` share, and how they change a config. */
#ifndef RADIXPIC_COMMANDS_OVERRIDES_H
#define RADIXPIC_COMMANDS_OVERRIDES_H

#include "base/arguments.h"
#include "config/config.h"

enum { MAX_SETTINGS = 256 };

/* As the command line gave them; the texts belong to argv. */
struct overrides {
    const char *config_path;
    bool config_is_optional;
    const char *settings[MAX_SETTINGS]; /* of --set */
    size_t setting_count;
    const char *output_directory; /* NULL: as the config says */
    const char *device;           /* the same */
    const char *steps;            /* the same */
};

/* The options, as the children of a command's argp; the input is a struct overrides. */
extern const struct argp_child override_children[];

/* Reads the config with all overrides in place. */
STATUS_CHECKED enum status overrides_read(const struct overrides *overrides, struct config *config);

/* Puts them onto `config`, which the file `name` holds, for messages. */
STATUS_CHECKED enum status overrides_apply(const struct overrides *overrides, const char *name,
                                           struct config *config);

/* Whether there are any. */
bool overrides_any(const struct overrides *overrides);

#endif
