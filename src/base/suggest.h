/* Suggest: the known word nearest to a mistyped one, for "did you mean". */
#ifndef RADIXPIC_BASE_SUGGEST_H
#define RADIXPIC_BASE_SUGGEST_H

#include "base/status.h"

#include <stddef.h>

/* The one of `count` known words that `word` most likely stands for, or NULL when none is near: at most a
 * third of the longer word's letters differ (insertions, deletions, substitutions, swaps of neighbours; case
 * is free), or `word` is a beginning of exactly one of them, or exactly one of them begins it and is half of
 * it or more, with at least two letters. Of two as near the first wins. The result is one of `known`. */
const char *suggest_nearest(const char *word, const char *const *known, size_t count);

/* `WHAT "WORD" is not known; did you mean NEAREST? Known are A, B, C` with STATUS_USAGE. */
STATUS_CHECKED enum status suggest_unknown(const char *what, const char *word, const char *const *known,
                                           size_t count);

/* *found <- the number of `word` among the known ones; where it is none, the same. */
STATUS_CHECKED enum status suggest_find(const char *what, const char *word, const char *const *known,
                                        size_t count, size_t *found);

#endif
