/* Arguments: argp, with a nearest known word for what is misspelt and without its exit(). */
#ifndef RADIXPIC_BASE_ARGUMENTS_H
#define RADIXPIC_BASE_ARGUMENTS_H

#include "base/status.h"

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

/* Parses argv (argv[0] is the full name, e.g. "radixpic run") into `input` by `argp`, which must
 * have options. STATUS_USAGE with a sentence for a bad option, or for an argument that the parser leaves. */
STATUS_CHECKED enum status arguments_parse(const struct argp *argp, int argc, char **argv, void *input);

/* In a parser: prints the help, and ends the parsing without an error. */
void arguments_help(struct argp_state *state);

/* Whether --help prints, as it does by default: under mpirun only one process prints it. */
void arguments_show_help(bool shown);

/* In a parser: records the sentence "NAME: ..." and returns the error that ends the parsing. */
error_t arguments_refuse(const struct argp_state *state, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* `WHAT "WORD" is not known; did you mean NEAREST? Known are A, B, C` with STATUS_USAGE. */
STATUS_CHECKED enum status arguments_unknown(const char *what, const char *word, const char *const *known,
                                             size_t count);

#endif
