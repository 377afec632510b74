/* Local memory, part atomics: every atomic function of OpenCL 1.2 at device scope (words in global memory)
 * and at group scope (words in local memory), from all operations on one word to as many words as items. */
#include "experiments/local_memory/local_memory.h"

#include <math.h>

static const char *const function_names[ATOMIC_FUNCTIONS] = {
    [ATOMIC_ADD] = "add", [ATOMIC_SUB] = "sub", [ATOMIC_XCHG] = "xchg", [ATOMIC_MIN] = "min",
    [ATOMIC_MAX] = "max", [ATOMIC_INC] = "inc", [ATOMIC_DEC] = "dec",   [ATOMIC_CMPXCHG] = "cmpxchg",
    [ATOMIC_AND] = "and", [ATOMIC_OR] = "or",   [ATOMIC_XOR] = "xor",
};
static const char *const scope_names[ATOMIC_SCOPES] = {[SCOPE_DEVICE] = "device", [SCOPE_GROUP] = "group"};

enum { CONTENTIONS = 8, USUAL_ROUNDS = 16, GROUP_ROUNDS = 64, MOST_RIVALS = 1024 };
static const struct {
    enum atomic_scope scope;
    uint32_t addresses;
} contentions[CONTENTIONS] = {{SCOPE_DEVICE, 1},     {SCOPE_DEVICE, 32}, {SCOPE_DEVICE, 1024},
                              {SCOPE_DEVICE, 65536}, {SCOPE_GROUP, 1},   {SCOPE_GROUP, 8},
                              {SCOPE_GROUP, 32},     {SCOPE_GROUP, 256}};

struct atomics {
    const struct ladder *ladder;
    struct atomic_case chosen;
    uint32_t operations, words;
    uint32_t *found, *returned, *scratch; /* of the host */
    struct buffer *words_array, *returned_array;
};

/* A loop of cmpxchg is run over as often as others were quicker, so that its time on one word grows with the
 * square of the items that want it: there, no more than MOST_RIVALS items for each. */
static void choose_launch(struct atomics *atomics, enum atomic_function function, int contention)
{
    const enum atomic_scope scope = contentions[contention].scope;
    const uint32_t block = atomics->ladder->shape.block, addresses = contentions[contention].addresses;
    const uint32_t rounds = scope == SCOPE_GROUP ? GROUP_ROUNDS : USUAL_ROUNDS;
    const uint32_t few = (MOST_RIVALS * addresses + block - 1) / block;
    uint32_t groups = (atomics->ladder->options->operations + block * rounds - 1) / (block * rounds);
    if (function == ATOMIC_CMPXCHG && scope == SCOPE_DEVICE && groups > few)
        groups = few;
    atomics->chosen = (struct atomic_case){function, scope, block, addresses, groups, rounds};
    atomics->operations = local_atomics_operations(&atomics->chosen);
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

static enum status verify(void *context, bool *right)
{
    const struct atomics *atomics = context;
    TRY(buffer_read(atomics->words_array, 0, atomics->words * sizeof *atomics->found, atomics->found));
    if (atomics->chosen.function == ATOMIC_XCHG)
        TRY(buffer_read(atomics->returned_array, 0, atomics->operations * sizeof *atomics->returned,
                        atomics->returned));
    *right = local_atomics_right(&atomics->chosen, atomics->found, atomics->returned, atomics->scratch);
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
    for (int n = 0; n < CONTENTIONS; n++) {
        struct times times;
        choose_launch(atomics, function, n);
        if (contentions[n].scope == SCOPE_GROUP && contentions[n].addresses > atomics->chosen.block) {
            printf(" %9s", "-");
            continue;
        }
        TRY(climb(atomics, &times));
        const struct spread seconds = times.stages[STAGE_OTHER];
        widest = fmax(widest, per_second(seconds.most - seconds.least, seconds.median));
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
    choose_launch(atomics, ATOMIC_ADD, 0);
    printf("  operations of a launch: %u at device scope (of cmpxchg fewer on few words), ",
           atomics->operations);
    choose_launch(atomics, ATOMIC_ADD, CONTENTIONS - 1);
    printf("%u at group scope; spread: (max - min)/median, the widest of a row\n", atomics->operations);
    printf("  %-9s %-39s %-39s\n  %-9s", "", " words in all (device scope, global)",
           " words of a group (group scope, local)", "function");
    for (int n = 0; n < CONTENTIONS; n++)
        printf(" %9u", contentions[n].addresses);
    printf(" %8s\n", "spread");
}

enum status ladder_atomics(struct bench *bench, void *context)
{
    struct atomics atomics = {.ladder = context};
    size_t operations = 0, words = 0;
    for (int n = 0; n < CONTENTIONS; n++) { /* arrays for the largest of all launches */
        choose_launch(&atomics, ATOMIC_ADD, n);
        operations = operations > atomics.operations ? operations : atomics.operations;
        words = words > atomics.words ? words : atomics.words;
    }
    TRY(DEVICE_NEW_ARRAY(bench->part, atomics.found, words));
    TRY(DEVICE_NEW_ARRAY(bench->part, atomics.returned, operations));
    TRY(DEVICE_NEW_ARRAY(bench->part, atomics.scratch, operations > words ? operations : words));
    TRY(ladder_array(atomics.ladder, words, &atomics.words_array));
    TRY(ladder_array(atomics.ladder, operations, &atomics.returned_array));
    print_head(&atomics);
    for (int function = 0; function < ATOMIC_FUNCTIONS; function++)
        TRY(climb_function(&atomics, (enum atomic_function)function));
    printf("  system scope (host and device): not in OpenCL 1.2, which has no shared virtual memory\n");
    return STATUS_OK;
}
