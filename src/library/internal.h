/* Library, inside: what a handle of radixpic.h stands for. */
#ifndef RADIXPIC_LIBRARY_INTERNAL_H
#define RADIXPIC_LIBRARY_INTERNAL_H

#include "radixpic.h"
#include "session.h"

#include "base/thread.h"

/* Cells of the particles of a list, until the next step. */
struct cells {
    uint32_t *keys;   /* uint[count]; NULL: not asked for yet */
    bool is_unsorted; /* positions were written, and the list is not in the order of its cells */
};

struct radixpic {
    pthread_mutex_t lock;   /* of all below; recursive */
    struct session session; /* its config: without files and without an end, until radixpic_write_into() */
    struct config config;   /* as it was read; its lists are the session's, too */
    bool writes;            /* files */
    char *config_text;      /* NULL: there was no memory for it */
    char *failure;          /* the sentence of the step that failed, on all ranks; NULL: none did */
    struct cells cells[CONFIG_MAX_SPECIES];
    struct device *keys_owner; /* of their keys; NULL: there are none */
    unsigned sorts;            /* of lists of which positions were written */
    char history_names[HISTORY_HEAD_LENGTH];
    double *history; /* [rows][history_columns()] */
    size_t rows, row_capacity;
};

/* The simulation, or one that has nothing where that is NULL: functions without a status ask it. */
const struct radixpic *handle_or_none(const struct radixpic *run);

/* STATUS_USAGE in a process that was forked from the one of the first simulation or sorter. */
STATUS_CHECKED enum status handle_require_process(void);

/* Locks the simulation for the calling thread, waiting for others. Returns false, and locks nothing, in such
 * a process. */
bool handle_lock(const struct radixpic *run);
void handle_unlock(const struct radixpic *run, bool is_locked);

/* STATUS_USAGE where one of these pointers, arguments of a public function, is NULL. */
#define GIVEN(...)                                                                                           \
    handle_given(#__VA_ARGS__, sizeof((const void *[]){__VA_ARGS__}) / sizeof(void *),                       \
                 (const void *[]){__VA_ARGS__})
STATUS_CHECKED enum status handle_given(const char *names, size_t count, const void *const *pointers);

/* Returns the status of a call, made with the simulation `run` locked, of arguments that are GIVEN(). */
#define RETURN_LOCKED(call, ...)                                                                             \
    do {                                                                                                     \
        IN_C_LOCALE;                                                                                         \
        const bool is_locked = GIVEN(__VA_ARGS__) == STATUS_OK && handle_lock(run);                          \
        const enum status locked_status = is_locked ? (call) : STATUS_USAGE;                                 \
        handle_unlock(run, is_locked);                                                                       \
        return (enum radixpic_status)locked_status;                                                          \
    } while (0)

/* What every rank calls begins by it: one that has failed, with a `sentence`, makes all fail. */
STATUS_CHECKED enum status handle_meet(struct radixpic *run, const char *sentence);

/* The status of a call with which all ranks end. */
STATUS_CHECKED enum status handle_agreed(struct radixpic *run, enum status status);

/* RETURN_LOCKED() of what all ranks call. */
#define RETURN_TOGETHER(call, ...)                                                                           \
    RETURN_LOCKED(handle_meet(run, NULL) == STATUS_OK ? handle_agreed(run, call) : STATUS_FAILED, __VA_ARGS__)

/* Sorts the lists of which positions were written, and forgets the cells of all. Collective. */
STATUS_CHECKED enum status state_sort_written(struct radixpic *run);

/* Waves take their step by the current of the particles as they are, before new values are written. On ranks
 * it is collective: STATUS_USAGE where it is due and the call is not made on all of them together. */
STATUS_CHECKED enum status state_step_waves(struct radixpic *run, bool is_together);

/* Forgets the cells of all lists. */
void state_forget(struct radixpic *run);

#endif
