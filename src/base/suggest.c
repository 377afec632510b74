/* Suggest: edit distance with swaps (optimal string alignment), one row of the table at a time. */
#include "base/suggest.h"

#include "base/integers.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    LONGEST_WORD = 63, /* longer words get no suggestion */
    SHORTEST_BEGINNING = 2
};

static bool same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Edits between a[0..n) and b[0..m); both lengths at most LONGEST_WORD. */
static size_t distance(const char *a, size_t n, const char *b, size_t m)
{
    size_t rows[3][LONGEST_WORD + 1]; /* rows i-2, i-1 and i of the table, taken in turn */
    for (size_t j = 0; j <= m; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i + 2) % 3];
        const size_t *two_above = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            const size_t substitution = above[j - 1] + (same_letter(a[i - 1], b[j - 1]) ? 0 : 1);
            row[j] = at_most(substitution, at_most(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]))
                row[j] = at_most(row[j], two_above[j - 2] + 1);
        }
    }
    return rows[n % 3][m];
}

/* The only known word that begins with `word`, or is half of it or more and begins it, or NULL. */
static const char *completion(const char *word, size_t length, const char *const *known, size_t count)
{
    const char *found = NULL;
    for (size_t i = 0; i < count; i++) {
        const size_t shorter = at_most(length, strlen(known[i]));
        if (shorter < SHORTEST_BEGINNING || 2 * shorter < length || strncasecmp(word, known[i], shorter) != 0)
            continue;
        if (found)
            return NULL;
        found = known[i];
    }
    return found;
}

const char *suggest_nearest(const char *word, const char *const *known, size_t count)
{
    const size_t length = strnlen(word, LONGEST_WORD + 1);
    if (length > LONGEST_WORD)
        return NULL;
    const char *nearest = NULL;
    size_t fewest = LONGEST_WORD + 1;
    for (size_t i = 0; i < count; i++) {
        const size_t known_length = strlen(known[i]);
        if (known_length > LONGEST_WORD)
            continue;
        const size_t longer = length > known_length ? length : known_length;
        const size_t edits = distance(word, length, known[i], known_length);
        if (edits * 3 <= longer && edits < fewest) {
            nearest = known[i];
            fewest = edits;
        }
    }
    return nearest ? nearest : completion(word, length, known, count);
}

enum status suggest_unknown(const char *what, const char *word, const char *const *known, size_t count)
{
    char *list = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&list, &length);
    if (!stream)
        return status_fail(STATUS_USAGE, "%s \"%s\" is not known", what, word);
    const char *nearest = suggest_nearest(word, known, count);
    if (nearest)
        fprintf(stream, "; did you mean %s?", nearest);
    fprintf(stream, "%s", nearest ? " Known are " : "; known are ");
    for (size_t n = 0; n < count; n++)
        fprintf(stream, "%s%s", n ? ", " : "", known[n]);
    fclose(stream);
    const enum status status = status_fail(STATUS_USAGE, "%s \"%s\" is not known%s", what, word, list);
    free(list);
    return status;
}

enum status suggest_find(const char *what, const char *word, const char *const *known, size_t count,
                         size_t *found)
{
    for (*found = 0; *found < count; (*found)++)
        if (strcmp(known[*found], word) == 0)
            return STATUS_OK;
    return suggest_unknown(what, word, known, count);
}
