/* Usual options: parsing. */
#include "experiments/usual_options.h"

#include "experiments/samples.h"

const char *const usual_shapes[] = {"ngp", "cic", "tsc", NULL};
const char *const usual_precisions[] = {"single", "double", NULL};

error_t usual_option_parse(int key, char *argument, const struct argp_state *state, const char **device,
                           const char **csv_path, uint32_t *repeats)
{
    switch (key) {
    case 'd':
        *device = argument;
        return 0;
    case KEY_CSV:
        *csv_path = argument;
        return 0;
    case 'r':
        return arguments_number32(state, "--repeat", argument, 1, SAMPLES_MAX, repeats);
    case ARGP_KEY_ARG:
        return arguments_refuse(state, "'%s' is one word too many", argument);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}
