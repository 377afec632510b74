/* Usual options: those of every experiment's command line, and the words that several choose from. */
#ifndef RADIXPIC_EXPERIMENTS_USUAL_OPTIONS_H
#define RADIXPIC_EXPERIMENTS_USUAL_OPTIONS_H

#include "base/arguments.h"

enum { KEY_CSV = 2000 }; /* of --csv; --device is 'd', --repeat is 'r' */

/* Each ends with NULL, for arguments_word() and arguments_choice(). The config's schema knows them too, but
 * would name its own key in a refusal. */
extern const char *const usual_shapes[], *const usual_precisions[];

/* In a parser, for the keys that an experiment does not know itself: --device, --csv, --repeat, 1 to
 * SAMPLES_MAX, and a word too many, which is refused. The texts belong to argv. ARGP_ERR_UNKNOWN for
 * others. */
error_t usual_option_parse(int key, char *argument, const struct argp_state *state, const char **device,
                           const char **csv_path, uint32_t *repeats);

#endif
