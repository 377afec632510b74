/* Cells option: one number or two. */
#include "experiments/cells_option.h"

#include "config/config.h"

#include <stdio.h>
#include <string.h>

enum { MOST_ALONG = 16384 }; /* of a config too */

error_t cells_option_parse(struct argp_state *state, const char *text, uint32_t least, uint32_t cells[2])
{
    const char *cross = strchr(text, 'x');
    char first[32];
    snprintf(first, sizeof first, "%.*s", cross ? (int)(cross - text) : (int)sizeof first - 1, text);
    error_t error = arguments_number32(state, "--cells", first, least, MOST_ALONG, &cells[0]);
    cells[1] = cells[0];
    if (error == 0 && cross)
        error = arguments_number32(state, "--cells", cross + 1, least, MOST_ALONG, &cells[1]);
    const uint64_t count = (uint64_t)cells[0] * cells[1];
    if (error == 0 && count > CONFIG_MAX_CELLS)
        error = arguments_refuse(state, "--cells: %ux%u are %llu cells, more than %u", cells[0], cells[1],
                                 (unsigned long long)count, CONFIG_MAX_CELLS);
    return error;
}
