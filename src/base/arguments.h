/* Arguments: argp, with a nearest known word for what is misspelt and without its exit(). */
#ifndef RADIXPIC_BASE_ARGUMENTS_H
#define RADIXPIC_BASE_ARGUMENTS_H

#include "base/status.h"

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

/* Parses argv (argv[0] is the full name, e.g. "radixpic run") into `input` by `argp`, to which --help is
 * added. *done is set where --help was asked for and printed. STATUS_USAGE with a sentence for a bad option
 * or word. */
STATUS_CHECKED enum status arguments_parse(const struct argp *argp, int argc, char **argv, void *input,
                                           bool *done);

/* Whether --help prints, as it does unless told otherwise: one of many processes with the same arguments is
 * enough. */
void arguments_show_help(bool shown);

/* In a parser: records the sentence "NAME: ..." and returns the error that ends the parsing. */
error_t arguments_refuse(const struct argp_state *state, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* In a parser: a whole number within [low, high], nothing after it; else arguments_refuse(). */
error_t arguments_number(const struct argp_state *state, const char *option, const char *text, uint64_t low,
                         uint64_t high, uint64_t *number);

/* The same for 32 bits. */
error_t arguments_number32(const struct argp_state *state, const char *option, const char *text, uint32_t low,
                           uint32_t high, uint32_t *number);

/* In a parser: such numbers with commas between them, at most `most` of them, into list[*count]. */
error_t arguments_numbers32(const struct argp_state *state, const char *option, const char *text,
                            uint32_t low, uint32_t high, uint32_t most, uint32_t *list, uint32_t *count);

/* In a parser: 0 where no number of list[count] is there twice; else arguments_refuse(). */
error_t arguments_distinct32(const struct argp_state *state, const char *option, const uint32_t *list,
                             uint32_t count);

/* In a parser: *which of the words, the last of which is NULL; else arguments_refuse() with all of them. */
error_t arguments_choice(const struct argp_state *state, const char *option, const char *text,
                         const char *const *words, size_t *which);

/* The same as the word itself, one of `words`. */
error_t arguments_word(const struct argp_state *state, const char *option, const char *text,
                       const char *const *words, const char **word);

/* The same for on and off. */
error_t arguments_switch(const struct argp_state *state, const char *option, const char *text, bool *on);

/* Long enough for any word that a parser takes. A longer one is cut and ends in "...", which none takes. */
enum { ARGUMENTS_WORD = 32 };

/* Walks over words with commas between them: copies the first of `text` into `word` and returns where the one
 * after it begins, NULL after the last. */
const char *arguments_next_word(const char *text, char word[ARGUMENTS_WORD]);

/* "WHAT 'WORD' is not known; did you mean NEAREST? Known are A, B, C." with STATUS_USAGE. */
STATUS_CHECKED enum status arguments_unknown(const char *what, const char *word, const char *const *known,
                                             size_t count);

#endif
