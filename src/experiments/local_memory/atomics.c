/* Local memory, part atomics: every atomic function of OpenCL 1.2 at device scope (words in global memory)
 * and at group scope (words in local memory), from all operations on one word to as many words as items. */
#include "experiments/local_memory/local_memory.h"

#include <string.h>

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
    const struct ladder *ladder;
    struct atomic_case chosen;
    uint32_t operations, words;
    uint32_t *found, *returned, *expected; /* of the host */
    unsigned char *seen;                   /* which operation's number */
    struct buffer *words_array, *returned_array;
};

/* A loop of cmpxchg is run over as often as others were quicker, so that its time on one word grows with the
 * square of the items that want it: there, no more than MOST_RIVALS items for each. */
static void choose_launch(struct atomics *atomics, enum atomic_function function, enum atomic_scope scope,
                          uint32_t addresses)
{
    const struct ladder *ladder = atomics->ladder;
    const uint32_t block = ladder->shape.block;
    const uint32_t rounds = scope == SCOPE_GROUP ? GROUP_ROUNDS : USUAL_ROUNDS;
    uint32_t groups = (ladder->options->operations + block * rounds - 1) / (block * rounds);
    const uint32_t few = (MOST_RIVALS * addresses + block - 1) / block;
    if (function == ATOMIC_CMPXCHG && scope == SCOPE_DEVICE && groups > few)
        groups = few;
    atomics->chosen = (struct atomic_case){function, scope, addresses, groups, rounds};
    atomics->operations = local_atomics_operations(ladder->kernels, &atomics->chosen);
    atomics->words = local_atomics_words(&atomics->chosen);
}

static enum status clear(void *context)
{
    const struct atomics *atomics = context;
    return buffer_fill(atomics->words_array, local_atomics_initial(atomics->chosen.function));
}

static enum status run_atomics(void *context)
{
    const struct atomics *atomics = context;
    return local_atomics_run(atomics->ladder->kernels, &atomics->chosen, atomics->words_array,
                             atomics->returned_array);
}

/* All numbers that were put into a word came out of it once, or are there still; and so is what was there
 * first. */
static bool is_exchanged(const struct atomics *atomics)
{
    const struct local_kernels *kernels = atomics->ladder->kernels;
    uint32_t firsts = 0;
    memset(atomics->seen, 0, atomics->operations);
    for (uint32_t n = 0; n < atomics->operations + atomics->words; n++) {
        const bool came = n < atomics->operations;
        const uint32_t value = came ? atomics->returned[n] : atomics->found[n - atomics->operations];
        const uint32_t word =
            came ? local_atomics_word(kernels, &atomics->chosen, n) : n - atomics->operations;
        firsts += value == 0;
        if (value == 0)
            continue;
        if (value > atomics->operations || atomics->seen[value - 1]++ ||
            local_atomics_word(kernels, &atomics->chosen, value - 1) != word)
            return false;
    }
    return firsts == atomics->words;
}

static bool is_reduced(const struct atomics *atomics)
{
    const struct local_kernels *kernels = atomics->ladder->kernels;
    const struct atomic_case *chosen = &atomics->chosen;
    for (uint32_t n = 0; n < atomics->words; n++)
        atomics->expected[n] = local_atomics_initial(chosen->function);
    for (uint32_t n = 0; n < atomics->operations; n++) {
        const uint32_t word = local_atomics_word(kernels, chosen, n);
        atomics->expected[word] =
            local_atomics_apply(chosen->function, atomics->expected[word], n, word % chosen->addresses);
    }
    return memcmp(atomics->found, atomics->expected, atomics->words * sizeof *atomics->found) == 0;
}

static enum status verify(void *context, bool *right)
{
    const struct atomics *atomics = context;
    const bool exchanges = atomics->chosen.function == ATOMIC_XCHG;
    TRY(buffer_read(atomics->words_array, 0, atomics->words * sizeof *atomics->found, atomics->found));
    if (exchanges)
        TRY(buffer_read(atomics->returned_array, 0, atomics->operations * sizeof *atomics->returned,
                        atomics->returned));
    *right = exchanges ? is_exchanged(atomics) : is_reduced(atomics);
    return STATUS_OK;
}

static enum status climb(struct atomics *atomics, struct times *times)
{
    const struct atomic_case *chosen = &atomics->chosen;
    struct rung rung = {.part = "atomics",
                        .version = function_names[chosen->function],
                        .work = atomics->operations,
                        .unit = "Gop/s",
                        .stage = STAGE_OTHER};
    char more[64];
    snprintf(rung.size, sizeof rung.size, "%u", atomics->operations);
    snprintf(more, sizeof more, " scope=%s words=%u", scope_names[chosen->scope], chosen->addresses);
    return ladder_time(
        atomics->ladder, &rung, more,
        (struct subject){.context = atomics, .prepare = clear, .run = run_atomics, .verify = verify}, times);
}

/* Nanoseconds of an operation on so many words, and the widest (max - min)/median of these launches. */
static enum status climb_function(struct atomics *atomics, enum atomic_function function)
{
    bool verified = true;
    double widest = 0;
    printf("  %-9s", function_names[function]);
    for (int scope = 0; scope < ATOMIC_SCOPES; scope++)
        for (int n = 0; n < CONTENTIONS; n++) {
            const uint32_t addresses = contentions[scope][n];
            struct times times;
            if (scope == SCOPE_GROUP && addresses > atomics->ladder->shape.block) {
                printf(" %9s", "-");
                continue;
            }
            choose_launch(atomics, function, (enum atomic_scope)scope, addresses);
            TRY(climb(atomics, &times));
            const struct spread seconds = times.stages[STAGE_OTHER];
            const double spread = per_second(seconds.most - seconds.least, seconds.median);
            widest = spread > widest ? spread : widest;
            verified = verified && times.verified;
            printf(" %9.4f", 1e9 * seconds.median / atomics->operations);
        }
    printf(" %6.0f %%  %s\n", 100 * widest, verified ? "verified" : "WRONG");
    fflush(stdout);
    return STATUS_OK;
}

/* With how many operations a launch makes, which is more than --operations where groups would not be whole.
 */
static void print_head(struct atomics *atomics)
{
    printf("\nAtomic functions, ns an operation, medians of %u, groups of %u:\n",
           atomics->ladder->options->common.repeats, atomics->ladder->shape.block);
    choose_launch(atomics, ATOMIC_ADD, SCOPE_DEVICE, 1);
    printf("  operations of a launch: %u at device scope (of cmpxchg fewer on few words), ",
           atomics->operations);
    choose_launch(atomics, ATOMIC_ADD, SCOPE_GROUP, 1);
    printf("%u at group scope; spread: (max - min)/median, the widest of a row\n", atomics->operations);
    printf("  %-9s %-39s %-39s\n  %-9s", "", " words in all (device scope, global)",
           " words of a group (group scope, local)", "function");
    for (int scope = 0; scope < ATOMIC_SCOPES; scope++)
        for (int n = 0; n < CONTENTIONS; n++)
            printf(" %9u", contentions[scope][n]);
    printf(" %8s\n", "spread");
}

/* The arrays for the largest of all launches. */
static enum status create_arrays(struct atomics *atomics, struct device *device)
{
    size_t operations = 0, words = 0;
    for (int scope = 0; scope < ATOMIC_SCOPES; scope++)
        for (int n = 0; n < CONTENTIONS; n++) {
            choose_launch(atomics, ATOMIC_ADD, (enum atomic_scope)scope, contentions[scope][n]);
            operations = operations > atomics->operations ? operations : atomics->operations;
            words = words > atomics->words ? words : atomics->words;
        }
    TRY(DEVICE_NEW_ARRAY(device, atomics->found, words));
    TRY(DEVICE_NEW_ARRAY(device, atomics->expected, words));
    TRY(DEVICE_NEW_ARRAY(device, atomics->returned, operations));
    TRY(DEVICE_NEW_ARRAY(device, atomics->seen, operations));
    TRY(ladder_array(atomics->ladder, words, &atomics->words_array));
    return ladder_array(atomics->ladder, operations, &atomics->returned_array);
}

enum status ladder_atomics(struct bench *bench, void *context)
{
    struct atomics atomics = {.ladder = context};
    TRY(create_arrays(&atomics, bench->part));
    print_head(&atomics);
    for (int function = 0; function < ATOMIC_FUNCTIONS; function++)
        TRY(climb_function(&atomics, (enum atomic_function)function));
    printf("  system scope (host and device): not in OpenCL 1.2, which has no shared virtual memory\n");
    return STATUS_OK;
}
