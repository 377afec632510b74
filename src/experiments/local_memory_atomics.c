/* Local memory, part atomics: every atomic function of OpenCL 1.2 at device scope (words in global memory)
 * and at group scope (words in local memory), from all operations on one word to as many words as items. */
#include "experiments/local_memory_parts.h"

#include <stdlib.h>

static const char *const function_names[ATOMIC_FUNCTIONS] = {
    [ATOMIC_ADD] = "add", [ATOMIC_SUB] = "sub", [ATOMIC_XCHG] = "xchg", [ATOMIC_MIN] = "min",
    [ATOMIC_MAX] = "max", [ATOMIC_INC] = "inc", [ATOMIC_DEC] = "dec",   [ATOMIC_CMPXCHG] = "cmpxchg",
    [ATOMIC_AND] = "and", [ATOMIC_OR] = "or",   [ATOMIC_XOR] = "xor",
};
static const char *const scope_names[ATOMIC_SCOPES] = {[SCOPE_DEVICE] = "device", [SCOPE_GROUP] = "group"};

enum { CONTENTIONS = 4, USUAL_ROUNDS = 16, GROUP_ROUNDS = 64, MOST_RIVALS = 1024 };
static const uint32_t contentions[ATOMIC_SCOPES][CONTENTIONS] = {
    [SCOPE_DEVICE] = {1, 32, 1024, 65536},
    [SCOPE_GROUP] = {1, 8, 32, 256},
};

struct atomics {
    struct atomic_case chosen;
    uint32_t operations, words;
    uint32_t *found, *returned, *expected; /* of the host */
    unsigned char *seen;                   /* which operation's number */
    double spread;                         /* of a function: the widest (max - min)/median of its launches */
    struct buffer *words_array, *returned_array;
};

/* A loop of cmpxchg is run over as often as others were quicker, so that its time on one word grows with the
 * square of the items that want it: there, no more than MOST_RIVALS items for each. */
static void choose_launch(const struct ladder *ladder, struct atomics *atomics, enum atomic_function function,
                          enum atomic_scope scope, uint32_t addresses)
{
    const uint32_t block = ladder->shape.block;
    const uint32_t rounds = scope == SCOPE_GROUP ? GROUP_ROUNDS : USUAL_ROUNDS;
    uint32_t groups = (ladder->options.operations + block * rounds - 1) / (block * rounds);
    const uint32_t few = (MOST_RIVALS * addresses + block - 1) / block;
    if (function == ATOMIC_CMPXCHG && scope == SCOPE_DEVICE && groups > few)
        groups = few;
    atomics->chosen = (struct atomic_case){function, scope, addresses, groups, rounds};
    atomics->operations = local_atomics_operations(ladder->kernels, &atomics->chosen);
    atomics->words = local_atomics_words(&atomics->chosen);
}

static enum status run_atomics(struct ladder *ladder, void *context)
{
    struct atomics *atomics = context;
    TRY(buffer_fill(atomics->words_array, local_atomics_initial(atomics->chosen.function)));
    return local_atomics_run(ladder->kernels, &atomics->chosen, atomics->words_array,
                             atomics->returned_array);
}

/* All numbers that were put into a word came out of it once, or are there still; and so is what was there
 * first. */
static bool is_exchanged(const struct ladder *ladder, struct atomics *atomics)
{
    uint32_t firsts = 0;
    for (uint32_t n = 0; n < atomics->operations; n++)
        atomics->seen[n] = 0;
    for (uint32_t n = 0; n < atomics->operations + atomics->words; n++) {
        const bool came = n < atomics->operations;
        const uint32_t value = came ? atomics->returned[n] : atomics->found[n - atomics->operations];
        const uint32_t word =
            came ? local_atomics_word(ladder->kernels, &atomics->chosen, n) : n - atomics->operations;
        firsts += value == 0;
        if (value == 0)
            continue;
        if (value > atomics->operations || atomics->seen[value - 1]++ ||
            local_atomics_word(ladder->kernels, &atomics->chosen, value - 1) != word)
            return false;
    }
    return firsts == atomics->words;
}

static bool is_right(const struct ladder *ladder, struct atomics *atomics)
{
    const struct atomic_case *chosen = &atomics->chosen;
    if (chosen->function == ATOMIC_XCHG)
        return is_exchanged(ladder, atomics);
    for (uint32_t n = 0; n < atomics->words; n++)
        atomics->expected[n] = local_atomics_initial(chosen->function);
    for (uint32_t n = 0; n < atomics->operations; n++) {
        const uint32_t word = local_atomics_word(ladder->kernels, chosen, n);
        atomics->expected[word] =
            local_atomics_apply(chosen->function, atomics->expected[word], n, word % chosen->addresses);
    }
    for (uint32_t n = 0; n < atomics->words; n++)
        if (atomics->found[n] != atomics->expected[n])
            return false;
    return true;
}

static void note_spread(struct atomics *atomics, const struct samples *times)
{
    const double median = samples_median(times);
    const double spread = median > 0 ? (samples_maximum(times) - samples_minimum(times)) / median : 0;
    if (spread > atomics->spread)
        atomics->spread = spread;
}

/* Nanoseconds of an operation in *cost. */
static enum status climb(struct ladder *ladder, struct atomics *atomics, double *cost, bool *verified)
{
    const struct atomic_case *chosen = &atomics->chosen;
    struct rung rung = {.part = "atomics",
                        .version = function_names[chosen->function],
                        .scope = scope_names[chosen->scope],
                        .addresses = chosen->addresses,
                        .work = atomics->operations,
                        .unit = "Gop/s"};
    snprintf(rung.size, sizeof rung.size, "%u", atomics->operations);
    TRY(ladder_time(ladder, run_atomics, atomics, &rung));
    TRY(buffer_read(atomics->words_array, 0, atomics->words * sizeof(uint32_t), atomics->found));
    if (chosen->function == ATOMIC_XCHG)
        TRY(buffer_read(atomics->returned_array, 0, atomics->operations * sizeof(uint32_t),
                        atomics->returned));
    rung.verified = is_right(ladder, atomics);
    *cost = 1e9 * samples_median(&rung.times) / atomics->operations;
    *verified = *verified && rung.verified;
    note_spread(atomics, &rung.times);
    ladder_note(ladder, &rung);
    return STATUS_OK;
}

static enum status climb_function(struct ladder *ladder, struct atomics *atomics,
                                  enum atomic_function function)
{
    bool verified = true;
    atomics->spread = 0;
    printf("  %-9s", function_names[function]);
    for (int scope = 0; scope < ATOMIC_SCOPES; scope++)
        for (int n = 0; n < CONTENTIONS; n++) {
            double cost = 0;
            const uint32_t addresses = contentions[scope][n];
            if (scope == SCOPE_GROUP && addresses > ladder->shape.block) {
                printf(" %9s", "-");
                continue;
            }
            choose_launch(ladder, atomics, function, (enum atomic_scope)scope, addresses);
            TRY(climb(ladder, atomics, &cost, &verified));
            printf(" %9.4f", cost);
        }
    printf(" %6.0f %%  %s\n", 100 * atomics->spread, verified ? "verified" : "WRONG");
    fflush(stdout);
    return STATUS_OK;
}

/* How many operations a launch makes, which is more than --operations where groups would not be whole. */
static void print_operations(const struct ladder *ladder, struct atomics *atomics)
{
    choose_launch(ladder, atomics, ATOMIC_ADD, SCOPE_DEVICE, 1);
    printf("  operations of a launch: %u at device scope (of cmpxchg fewer on few words), ",
           atomics->operations);
    choose_launch(ladder, atomics, ATOMIC_ADD, SCOPE_GROUP, 1);
    printf("%u at group scope; spread: (max - min)/median, the widest of a row\n", atomics->operations);
}

static void print_head(const struct ladder *ladder, struct atomics *atomics)
{
    printf("\nAtomic functions, ns an operation, medians of %u, groups of %u:\n", ladder->options.repeats,
           ladder->shape.block);
    print_operations(ladder, atomics);
    printf("  %-9s %-39s %-39s\n  %-9s", "", " words in all (device scope, global)",
           " words of a group (group scope, local)", "function");
    for (int scope = 0; scope < ATOMIC_SCOPES; scope++)
        for (int n = 0; n < CONTENTIONS; n++)
            printf(" %9u", contentions[scope][n]);
    printf(" %8s\n", "spread");
}

/* The arrays for the largest of all launches. */
static enum status create_arrays(struct ladder *ladder, struct atomics *atomics)
{
    size_t operations = 0, words = 0;
    for (int scope = 0; scope < ATOMIC_SCOPES; scope++)
        for (int n = 0; n < CONTENTIONS; n++) {
            choose_launch(ladder, atomics, ATOMIC_ADD, (enum atomic_scope)scope, contentions[scope][n]);
            operations = operations > atomics->operations ? operations : atomics->operations;
            words = words > atomics->words ? words : atomics->words;
        }
    atomics->found = malloc(words * sizeof(uint32_t));
    atomics->expected = malloc(words * sizeof(uint32_t));
    atomics->returned = malloc(operations * sizeof(uint32_t));
    atomics->seen = malloc(operations);
    if (!atomics->found || !atomics->expected || !atomics->returned || !atomics->seen)
        return status_fail(STATUS_FAILED, "--operations: no memory for the results of %zu", operations);
    TRY(ladder_array(ladder, words, NULL, &atomics->words_array));
    return ladder_array(ladder, operations, NULL, &atomics->returned_array);
}

enum status ladder_atomics(struct ladder *ladder)
{
    struct atomics atomics = {0};
    enum status status = STATUS_OK;
    TRY_CLEANUP(create_arrays(ladder, &atomics));
    print_head(ladder, &atomics);
    for (int function = 0; function < ATOMIC_FUNCTIONS; function++)
        TRY_CLEANUP(climb_function(ladder, &atomics, (enum atomic_function)function));
    printf("  system scope (host and device): not in OpenCL 1.2, which has no shared virtual memory\n");
cleanup:
    buffer_destroy(&atomics.words_array);
    buffer_destroy(&atomics.returned_array);
    free(atomics.found);
    free(atomics.expected);
    free(atomics.returned);
    free(atomics.seen);
    return status;
}
