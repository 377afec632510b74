/* Library, inside: what a handle of radixpic.h stands for. */
#ifndef RADIXPIC_LIBRARY_INTERNAL_H
#define RADIXPIC_LIBRARY_INTERNAL_H

#include "radixpic.h"
#include "session.h"

/* Cells of the particles of a list, until the next step. */
struct cells {
    uint32_t *keys;   /* uint[count]; NULL: not asked for yet */
    bool is_unsorted; /* positions were written, and the list is not in the order of its cells */
};

struct radixpic {
    struct session session; /* its config: without files and without an end, until radixpic_write_into() */
    struct config config;   /* as it was read */
    bool writes;            /* files */
    char *config_text;      /* NULL: not asked for yet */
    char *failure;          /* the sentence of the step that failed; NULL: none did */
    struct cells cells[CONFIG_MAX_SPECIES];
    char history_names[HISTORY_HEAD_LENGTH];
    double *history; /* [rows][history_columns()] */
    size_t rows, row_capacity;
};

/* Sorts the lists of which positions were written, and forgets the cells of all. */
STATUS_CHECKED enum status state_settle(struct radixpic *run);

/* Forgets them. */
void state_forget(struct radixpic *run);

#endif
