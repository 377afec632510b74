/* Local memory, part atomics: every atomic function of OpenCL 1.2 at device scope (words in global memory)
 * and at group scope (words in local memory), from all operations on one word to as many words as items. */
#include "experiments/local_memory/local_memory.h"

#include <math.h>
#include <string.h>

uint32_t local_atomics_initial(enum atomic_function function)
{
    return function == ATOMIC_MIN || function == ATOMIC_AND ? UINT32_MAX : 0;
}

uint32_t local_atomics_apply(enum atomic_function function, uint32_t word, uint32_t n, uint32_t address)
{
    const uint32_t operand = atomic_operand(n), pattern = atomic_pattern(address);
#define RESULT(NAME, name, device, host)                                                                     \
    case ATOMIC_##NAME:                                                                                      \
        return host;
    switch (function) {
        FOR_ATOMIC_FUNCTIONS(RESULT)
    default:
        return word;
    }
}

enum status local_atomics_run(const struct atomic_case *chosen)
{
    const struct launch launch = {chosen->groups, chosen->kernels->shape.block, STAGE_OTHER, 0};
    return KERNEL_LAUNCH(chosen->kernels->atomics[chosen->scope], launch, arg_buffer(chosen->words),
                         arg_buffer(chosen->returned), arg_uint(chosen->function),
                         arg_uint(chosen->addresses), arg_uint(chosen->rounds),
                         arg_uint(local_atomics_initial(chosen->function)));
}

/* The word that operation n goes to. */
static uint32_t word_of(const struct atomic_case *chosen, uint32_t n)
{
    const uint32_t block = chosen->kernels->shape.block, item = n % (block * chosen->groups);
    return chosen->scope == SCOPE_DEVICE
               ? item % chosen->addresses
               : item / block * chosen->addresses + item % block % chosen->addresses;
}

/* All numbers that were put into a word came out of it once, or are there still; and so is what was there
 * first. */
static bool is_exchanged(const struct atomic_case *chosen, const uint32_t *words, const uint32_t *returned,
                         uint32_t *seen)
{
    const uint32_t operations = local_atomics_operations(chosen), count = local_atomics_words(chosen);
    uint32_t firsts = 0;
    memset(seen, 0, operations * sizeof *seen);
    for (uint32_t n = 0; n < operations + count; n++) {
        const bool came = n < operations;
        const uint32_t value = came ? returned[n] : words[n - operations];
        const uint32_t word = came ? word_of(chosen, n) : n - operations;
        firsts += value == 0;
        if (value > 0 && (value > operations || seen[value - 1]++ > 0 || word_of(chosen, value - 1) != word))
            return false;
    }
    return firsts == count;
}

bool local_atomics_right(const struct atomic_case *chosen, const uint32_t *words, const uint32_t *returned,
                         uint32_t *scratch)
{
    const uint32_t count = local_atomics_words(chosen);
    if (chosen->function == ATOMIC_XCHG)
        return is_exchanged(chosen, words, returned, scratch);
    for (uint32_t n = 0; n < count; n++)
        scratch[n] = local_atomics_initial(chosen->function);
    for (uint32_t n = 0; n < local_atomics_operations(chosen); n++) {
        uint32_t *word = &scratch[word_of(chosen, n)];
        *word = local_atomics_apply(chosen->function, *word, n, word_of(chosen, n) % chosen->addresses);
    }
    return memcmp(words, scratch, count * sizeof *words) == 0;
}

/* ---- the part ---- */

#define WORD_OF(NAME, name, device, host) #name,
static const char *const function_names[] = {FOR_ATOMIC_FUNCTIONS(WORD_OF)};
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
    uint32_t *found, *returned, *scratch; /* of the host */
};

/* A loop of cmpxchg is run over as often as others were quicker, so that its time on one word grows with the
 * square of the items that want it: there, no more than MOST_RIVALS items for each. */
static void choose_launch(struct atomics *atomics, enum atomic_function function, int contention)
{
    struct atomic_case *chosen = &atomics->chosen;
    const uint32_t block = atomics->ladder->kernels->shape.block,
                   addresses = contentions[contention].addresses;
    const uint32_t few = (MOST_RIVALS * addresses + block - 1) / block;
    chosen->function = function;
    chosen->scope = contentions[contention].scope;
    chosen->addresses = addresses;
    chosen->rounds = chosen->scope == SCOPE_GROUP ? GROUP_ROUNDS : USUAL_ROUNDS;
    const uint32_t share = block * chosen->rounds; /* operations of a group */
    chosen->groups = (atomics->ladder->options->operations + share - 1) / share;
    if (function == ATOMIC_CMPXCHG && chosen->scope == SCOPE_DEVICE && chosen->groups > few)
        chosen->groups = few;
}

static enum status clear(void *context)
{
    const struct atomics *atomics = context;
    return buffer_fill(atomics->chosen.words, local_atomics_initial(atomics->chosen.function));
}

static enum status run_atomics(void *context)
{
    const struct atomics *atomics = context;
    return local_atomics_run(&atomics->chosen);
}

static enum status verify(void *context, bool *right)
{
    const struct atomics *atomics = context;
    const struct atomic_case *chosen = &atomics->chosen;
    const size_t word = sizeof(uint32_t);
    TRY(buffer_read(chosen->words, 0, local_atomics_words(chosen) * word, atomics->found));
    if (chosen->function == ATOMIC_XCHG)
        TRY(buffer_read(chosen->returned, 0, local_atomics_operations(chosen) * word, atomics->returned));
    *right = local_atomics_right(chosen, atomics->found, atomics->returned, atomics->scratch);
    return STATUS_OK;
}

static enum status climb(struct atomics *atomics, struct times *times)
{
    const struct atomic_case *chosen = &atomics->chosen;
    const uint32_t operations = local_atomics_operations(chosen);
    struct rung rung = {.part = "atomics",
                        .version = function_names[chosen->function],
                        .work = operations,
                        .unit = "Gop/s",
                        .stage = STAGE_OTHER};
    char more[64];
    snprintf(rung.size, sizeof rung.size, "%u", operations);
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
        if (contentions[n].scope == SCOPE_GROUP &&
            contentions[n].addresses > atomics->ladder->kernels->shape.block) {
            printf(" %9s", "-");
            continue;
        }
        TRY(climb(atomics, &times));
        const struct spread seconds = times.stages[STAGE_OTHER];
        widest = fmax(widest, per_second(seconds.most - seconds.least, seconds.median));
        verified = verified && times.verified;
        printf(" %9.4f", 1e9 * seconds.median / local_atomics_operations(&atomics->chosen));
    }
    printf(" %6.0f %%  %s\n", 100 * widest, verified ? "verified" : "WRONG");
    fflush(stdout);
    return STATUS_OK;
}

/* A launch makes more operations than --operations where groups would not be whole. */
static void print_head(struct atomics *atomics)
{
    printf("\nAtomic functions, ns an operation, medians of %u, groups of %u:\n",
           atomics->ladder->options->common.repeats, atomics->ladder->kernels->shape.block);
    choose_launch(atomics, ATOMIC_ADD, 0);
    printf("  operations of a launch: %u at device scope (of cmpxchg fewer on few words), ",
           local_atomics_operations(&atomics->chosen));
    choose_launch(atomics, ATOMIC_ADD, CONTENTIONS - 1);
    printf("%u at group scope; spread: (max - min)/median, the widest of a row\n",
           local_atomics_operations(&atomics->chosen));
    printf("  %-9s %-39s %-39s\n  %-9s", "", " words in all (device scope, global)",
           " words of a group (group scope, local)", "function");
    for (int n = 0; n < CONTENTIONS; n++)
        printf(" %9u", contentions[n].addresses);
    printf(" %8s\n", "spread");
}

enum status ladder_atomics(struct bench *bench, void *context)
{
    struct atomics atomics = {.ladder = context};
    struct atomic_case *chosen = &atomics.chosen;
    size_t operations = 0, words = 0;
    chosen->kernels = atomics.ladder->kernels;
    for (int n = 0; n < CONTENTIONS; n++) { /* arrays for the largest of all launches */
        choose_launch(&atomics, ATOMIC_ADD, n);
        operations =
            operations > local_atomics_operations(chosen) ? operations : local_atomics_operations(chosen);
        words = words > local_atomics_words(chosen) ? words : local_atomics_words(chosen);
    }
    TRY(DEVICE_NEW_ARRAY(bench->part, atomics.found, words));
    TRY(DEVICE_NEW_ARRAY(bench->part, atomics.returned, operations));
    TRY(DEVICE_NEW_ARRAY(bench->part, atomics.scratch, operations > words ? operations : words));
    TRY(ladder_array(atomics.ladder, words, &chosen->words));
    TRY(ladder_array(atomics.ladder, operations, &chosen->returned));
    print_head(&atomics);
    for (enum atomic_function function = ATOMIC_ADD; function < ATOMIC_FUNCTIONS; function++)
        TRY(climb_function(&atomics, function));
    printf("  system scope (host and device): not in OpenCL 1.2, which has no shared virtual memory\n");
    return STATUS_OK;
}
