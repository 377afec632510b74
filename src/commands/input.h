/* Input: the config of a run, of a file or a checkpoint, and options of `run` and `check` that change it. */
#ifndef RADIXPIC_COMMANDS_INPUT_H
#define RADIXPIC_COMMANDS_INPUT_H

#include "config/options.h"
#include "folder/run_folder.h"
#include "input/checkpoint.h"

/* As the command line gave them; the texts belong to argv. */
struct overrides {
    const char *config_path;
    struct option_texts settings; /* of --set */
    const char *output_directory; /* NULL: as the config says */
    const char *device;           /* NULL: as the config says */
    const char *steps;            /* NULL: as the config says */
};

/* Rows for the option table of a command; its `struct options` must have a member `overrides`. */
#define OVERRIDE_ROWS                                                                                        \
    OPTION_ROW("CONFIG", 0, NULL, OPTION_ARGUMENT, AT(overrides.config_path)),                               \
        OPTION_ROW("set", 's', "KEY=VALUE", OPTION_TEXTS, AT(overrides.settings),                            \
                   .help = "Set a key of the config by its dotted path, e.g. time.steps=10; an item of a "   \
                           "list by its number, 0 the first, e.g. output.phase_space.0.axes.1.bins=64, or "  \
                           "a species by its name; may be repeated"),                                        \
        OPTION_ROW("output", 'o', "DIR", OPTION_TEXT, AT(overrides.output_directory),                        \
                   .help = "Write the run into DIR (output.directory)"),                                     \
        OPTION_ROW("device", 'd', "SPEC", OPTION_TEXT, AT(overrides.device),                                 \
                   .help = "cpu, gpu, auto, P:D, or part of a name; see radixpic devices (device)"),         \
        OPTION_ROW("steps", 'n', "N", OPTION_TEXT, AT(overrides.steps), .help = "Make N steps (time.steps)")

/* STATUS_USAGE where the command `name` lacks a CONFIG. */
STATUS_CHECKED enum status overrides_require(const char *name, const struct overrides *overrides);

/* Reads the config with all overrides in place. */
STATUS_CHECKED enum status overrides_read(const struct overrides *overrides, struct config *config);

/* What `run --resume` does in the folder of a run. */
enum resume {
    RESUME_FRESH, /* it starts: there is nothing, or a run that ended before its first checkpoint */
    RESUME_LATEST,
    RESUME_NOTHING /* the run is complete */
};

/* Collective. Locks the config's folder and looks what is there. STATUS_USAGE where that is a run that the
 * config cannot go on with. */
STATUS_CHECKED enum status resume_choose(const struct communicator *communicator, const struct config *config,
                                         struct run_folder *folder, enum resume *choice);

/* Collective. Opens the checkpoint of a request: "latest", the newest one of a run folder, which is locked
 * then in `folder`; or the path of a checkpoint, of a folder of them or of a run; --resume has it, or
 * --restart. And reads CONFIG, or else that of the run folder or of the checkpoint, with all overrides.
 * STATUS_USAGE when there is no checkpoint, or when the config is not one that it can go on with;
 * STATUS_FAILED when it is broken. All ranks end alike. The caller closes the checkpoint in any case. */
STATUS_CHECKED enum status restart_open(const struct communicator *communicator,
                                        const struct overrides *overrides, const char *request, bool resumes,
                                        struct run_folder *folder, struct checkpoint **checkpoint,
                                        struct config *config);

#endif
