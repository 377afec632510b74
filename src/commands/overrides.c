/* Overrides: parsing, and their order: file, --set, then --output, --device and --steps. */
#include "commands/overrides.h"

#include "config/config_reader.h"
#include "config/value.h"

#include <stdlib.h>
#include <string.h>

enum { KEY_SET = 's', KEY_OUTPUT = 'o', KEY_DEVICE = 'd', KEY_STEPS = 'n' };

static const struct argp_option options[] = {
    {"set", KEY_SET, "KEY=VALUE", 0,
     "Set a key of the config by its dotted path, e.g. time.steps=10; an item of a list by its number, 0 "
     "the first, e.g. output.phase_space.0.axes.1.bins=64, or a species by its name; may be repeated",
     0},
    {"output", KEY_OUTPUT, "DIR", 0, "Write the run into DIR (output.directory)", 0},
    {"device", KEY_DEVICE, "SPEC", 0, "cpu, gpu, auto, P:D, or part of a name; see radixpic devices (device)",
     0},
    {"steps", KEY_STEPS, "N", 0, "Make N steps (time.steps)", 0},
    {0},
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct overrides *overrides = state->input;
    switch (key) {
    case KEY_SET:
        if (overrides->setting_count == MAX_SETTINGS)
            return arguments_refuse(state, "expected at most %d --set, found more", MAX_SETTINGS);
        overrides->settings[overrides->setting_count++] = argument;
        return 0;
    case KEY_OUTPUT:
        overrides->output_directory = argument;
        return 0;
    case KEY_DEVICE:
        overrides->device = argument;
        return 0;
    case KEY_STEPS:
        overrides->steps = argument;
        return 0;
    case ARGP_KEY_ARG:
        if (overrides->config_path)
            return arguments_refuse(state, "expected one CONFIG, found '%s' too", argument);
        overrides->config_path = argument;
        return 0;
    case ARGP_KEY_END:
        if (!overrides->config_path && !overrides->config_is_optional)
            return arguments_refuse(state, "expected a CONFIG; see %s --help", state->name);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {.options = options, .parser = parse};
const struct argp_child override_children[] = {{&argp, 0, NULL, 0}, {0}};

/* Gives the key `path` the value of its own option, if any: as strictly as the reader, so that
 * config.yaml can be read again. */
static enum status apply(const char *option, const char *path, const char *text, struct config *config)
{
    const struct schema_row *row = schema_find(schema(), path);
    char why[VALUE_WHY_LENGTH];
    if (!text || value_parse(row, text, strlen(text), true, (char *)config + row->offset, why))
        return STATUS_OK;
    return status_fail(STATUS_USAGE, "%s: %s", option, why);
}

/* These options go over the file and --set. */
static enum status apply_options(const struct overrides *overrides, struct config *config)
{
    TRY(apply("--output", "output.directory", overrides->output_directory, config));
    TRY(apply("--device", "device", overrides->device, config));
    return apply("--steps", "time.steps", overrides->steps, config);
}

enum status overrides_read(const struct overrides *overrides, struct config *config)
{
    TRY(config_read(overrides->config_path, overrides->settings, overrides->setting_count, config));
    return apply_options(overrides, config);
}

enum status overrides_apply(const struct overrides *overrides, const char *name, struct config *config)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    if (!stream)
        return status_fail(STATUS_FAILED, "no memory for the config of %s", name);
    enum status status = config_echo(config, stream);
    fclose(stream);
    if (status == STATUS_OK)
        status = config_read_text(name, text, length, overrides->settings, overrides->setting_count, config);
    free(text);
    TRY(status);
    return apply_options(overrides, config);
}

bool overrides_any(const struct overrides *overrides)
{
    return overrides->setting_count > 0 || overrides->output_directory || overrides->device ||
           overrides->steps;
}
