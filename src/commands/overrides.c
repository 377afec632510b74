/* Overrides: parsing, and their order: file, --set, then --output, --device and --steps. */
#include "commands/overrides.h"

#include "config/config_reader.h"
#include "config/schema.h"

#include <stdlib.h>
#include <string.h>

static const struct argp_option options[] = {
    {"set", 's', "KEY=VALUE", 0,
     "Set a key of the config by its dotted path, e.g. time.steps=10; an item of a list by its number, 0 "
     "the first, e.g. output.phase_space.0.axes.1.bins=64, or a species by its name; may be repeated",
     0},
    {"output", 'o', "DIR", 0, "Write the run into DIR (output.directory)", 0},
    {"device", 'd', "SPEC", 0, "cpu, gpu, auto, P:D, or part of a name; see radixpic devices (device)", 0},
    {"steps", 'n', "N", 0, "Make N steps (time.steps)", 0},
    {0},
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct overrides *overrides = state->input;
    switch (key) {
    case 's':
        if (overrides->setting_count == MAX_SETTINGS)
            return arguments_refuse(state, "expected at most %d --set, found more", MAX_SETTINGS);
        overrides->settings[overrides->setting_count++] = argument;
        return 0;
    case 'o':
        overrides->output_directory = argument;
        return 0;
    case 'd':
        overrides->device = argument;
        return 0;
    case 'n':
        overrides->steps = argument;
        return 0;
    case ARGP_KEY_ARG:
        if (overrides->config_path)
            return arguments_refuse(state, "expected one CONFIG, found \"%s\" too", argument);
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

/* Gives the keys that have an option of their own its value: as strictly as the reader, so that config.yaml
 * can be read again. */
static enum status apply_options(const struct overrides *overrides, struct config *config)
{
    const char *const given[][3] = {{"--output", "output.directory", overrides->output_directory},
                                    {"--device", "device", overrides->device},
                                    {"--steps", "time.steps", overrides->steps}};
    for (size_t n = 0; n < sizeof given / sizeof given[0]; n++) {
        const struct schema_row *row = schema_find(schema(), given[n][1]);
        const char *text = given[n][2];
        char why[VALUE_WHY_LENGTH];
        if (text && !value_parse(row, text, strlen(text), true, (char *)config + row->offset, why))
            return status_fail(STATUS_USAGE, "%s: %s", given[n][0], why);
    }
    return STATUS_OK;
}

enum status overrides_read(const struct overrides *overrides, struct config *config)
{
    TRY(config_read(overrides->config_path, overrides->settings, overrides->setting_count, config));
    return apply_options(overrides, config);
}

enum status overrides_apply(const struct overrides *overrides, const char *name, struct config *config)
{
    size_t length = 0;
    char *text = config_as_text(config, &length);
    if (!text)
        return STATUS_FAILED;
    const enum status status =
        config_read_text(name, text, length, overrides->settings, overrides->setting_count, config);
    free(text);
    TRY(status);
    return apply_options(overrides, config);
}

bool overrides_any(const struct overrides *overrides)
{
    return overrides->setting_count > 0 || overrides->output_directory || overrides->device ||
           overrides->steps;
}
