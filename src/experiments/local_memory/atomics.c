/* Local memory, part atomics: every atomic function of OpenCL 1.2 at device scope (words in global memory)
 * and at group scope (words in local memory), from all operations on one word to as many words as items,
 * since the time depends on how many items want the same word. */
#include "experiments/local_memory/local_memory.h"

#include <string.h>

enum atomic_scope { SCOPE_DEVICE, SCOPE_GROUP, ATOMIC_SCOPES };

/* One launch: `groups` groups of a block of items make `rounds` operations each, operation n = round * items
 * + item on word item % addresses, of the device or of the item's group. On the host are words, what was
 * returned, and room for as many words as there are of these and of operations. */
struct atomic_case {
    uint32_t block;
    struct kernel *kernels[ATOMIC_SCOPES];
    enum atomic_function function;
    enum atomic_scope scope;
    uint32_t addresses, groups, rounds;
    uint32_t most_words;     /* words in the array, with those behind */
    struct buffer *words;    /* filled with initial_of() before a launch */
    struct buffer *returned; /* a word for each operation, which xchg writes */
    uint32_t *found_words, *found_returned, *scratch;
};

/* The number of operations of a launch, and of the words that it leaves. */
static uint32_t operations_of(const struct atomic_case *chosen)
{
    return chosen->block * chosen->groups * chosen->rounds;
}

static uint32_t words_of(const struct atomic_case *chosen)
{
    return chosen->scope == SCOPE_GROUP ? chosen->groups * chosen->addresses : chosen->addresses;
}

/* What the words are at first, and what operation n makes of one, in any order but for xchg. */
static uint32_t initial_of(enum atomic_function function)
{
    return function == ATOMIC_MIN || function == ATOMIC_AND ? UINT32_MAX : 0;
}

static uint32_t apply(enum atomic_function function, uint32_t word, uint32_t n, uint32_t address)
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

static enum status run(void *context)
{
    const struct atomic_case *chosen = context;
    const struct launch launch = {chosen->groups, chosen->block, STAGE_OTHER, 0};
    return KERNEL_LAUNCH(chosen->kernels[chosen->scope], launch, chosen->words, chosen->returned,
                         chosen->function, chosen->addresses, chosen->rounds, initial_of(chosen->function));
}

/* The number of the word that operation n works on. */
static uint32_t word_of(const struct atomic_case *chosen, uint32_t n)
{
    const uint32_t block = chosen->block, item = n % (block * chosen->groups);
    return chosen->scope == SCOPE_DEVICE
               ? item % chosen->addresses
               : item / block * chosen->addresses + item % block % chosen->addresses;
}

/* Every number that xchg put into a word, and the word's first number, was returned once or is still there:
 * so no operation was lost or made twice. */
static bool is_exchanged(const struct atomic_case *chosen)
{
    const uint32_t operations = operations_of(chosen), count = words_of(chosen);
    uint32_t firsts = 0, *seen = chosen->scratch;
    memset(seen, 0, operations * sizeof *seen);
    for (uint32_t n = 0; n < operations + count; n++) {
        const bool came = n < operations;
        const uint32_t value = came ? chosen->found_returned[n] : chosen->found_words[n - operations];
        const uint32_t word = came ? word_of(chosen, n) : n - operations;
        firsts += value == 0;
        if (value > 0 && (value > operations || seen[value - 1]++ > 0 || word_of(chosen, value - 1) != word))
            return false;
    }
    return firsts == count;
}

/* The words that the device left, and the numbers that xchg returned, are those that the host finds. */
static bool is_right(const struct atomic_case *chosen)
{
    const uint32_t count = words_of(chosen);
    uint32_t *scratch = chosen->scratch;
    if (chosen->function == ATOMIC_XCHG)
        return is_exchanged(chosen);
    for (uint32_t n = 0; n < count; n++)
        scratch[n] = initial_of(chosen->function);
    for (uint32_t n = 0; n < operations_of(chosen); n++) {
        uint32_t *word = &scratch[word_of(chosen, n)];
        *word = apply(chosen->function, *word, n, word_of(chosen, n) % chosen->addresses);
    }
    return memcmp(chosen->found_words, scratch, count * sizeof *scratch) == 0;
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

/* A loop of cmpxchg is run over as often as others were quicker, so that its time on one word grows with the
 * square of the items that want it: there, no more than MOST_RIVALS items for each. */
static void choose_launch(const struct local_memory *all, struct atomic_case *chosen,
                          enum atomic_function function, int contention)
{
    const uint32_t block = all->shape.block, addresses = contentions[contention].addresses;
    chosen->function = function;
    chosen->scope = contentions[contention].scope;
    chosen->addresses = addresses;
    chosen->rounds = chosen->scope == SCOPE_GROUP ? GROUP_ROUNDS : USUAL_ROUNDS;
    chosen->groups = divide_up(all->options->operations, block * chosen->rounds);
    if (function == ATOMIC_CMPXCHG && chosen->scope == SCOPE_DEVICE)
        chosen->groups = at_most(chosen->groups, divide_up(MOST_RIVALS * addresses, block));
}

static enum status clear(void *context)
{
    const struct atomic_case *chosen = context;
    return buffer_fill(chosen->words, initial_of(chosen->function));
}

static enum status verify(void *context, bool *right)
{
    const struct atomic_case *chosen = context;
    const size_t word = sizeof(uint32_t);
    TRY(buffer_read(chosen->words, 0, chosen->most_words * word, chosen->found_words));
    if (chosen->function == ATOMIC_XCHG)
        TRY(buffer_read(chosen->returned, 0, operations_of(chosen) * word, chosen->found_returned));
    *right = is_right(chosen);
    for (uint32_t n = words_of(chosen); n < chosen->most_words; n++)
        *right = *right && chosen->found_words[n] == initial_of(chosen->function);
    return STATUS_OK;
}

static enum status report_case(const struct local_memory *all, struct atomic_case *chosen)
{
    const uint32_t operations = operations_of(chosen);
    struct timing timing = {.part = "atomics",
                            .version = function_names[chosen->function],
                            .work = operations,
                            .kind = WORK_OPERATIONS,
                            .subject = {.context = chosen, .prepare = clear, .run = run, .verify = verify}};
    snprintf(timing.size, sizeof timing.size, "%u scope=%s words=%u", operations, scope_names[chosen->scope],
             chosen->addresses);
    return timing_report(all, &timing);
}

enum status local_memory_atomics(struct bench *bench, void *context)
{
    const struct local_memory *all = context;
    struct atomic_case chosen = {.block = all->shape.block};
    uint32_t operations = 0;
    TRY(kernel_create(all->program, "atomics_global", &chosen.kernels[SCOPE_DEVICE]));
    TRY(kernel_create(all->program, "atomics_local", &chosen.kernels[SCOPE_GROUP]));
    for (int n = 0; n < CONTENTIONS; n++) { /* arrays for the largest of all launches */
        choose_launch(all, &chosen, ATOMIC_ADD, n);
        operations = at_least(operations, operations_of(&chosen));
        chosen.most_words = at_least(chosen.most_words, words_of(&chosen) + BEHIND);
    }
    TRY(DEVICE_NEW_ARRAY(bench->part, chosen.found_words, chosen.most_words));
    TRY(DEVICE_NEW_ARRAY(bench->part, chosen.found_returned, operations));
    TRY(DEVICE_NEW_ARRAY(bench->part, chosen.scratch, at_least(operations, chosen.most_words)));
    TRY(buffer_create(bench->part, chosen.most_words * sizeof(uint32_t), "numbers", &chosen.words));
    TRY(buffer_create(bench->part, operations * sizeof(uint32_t), "numbers", &chosen.returned));
    printf("\nAtomic functions on words of the device (global memory) and of a group of %u (local memory); "
           "whole "
           "groups make the operations, of cmpxchg fewer on few words:\n",
           all->shape.block);
    bench_head(&timing_table);
    for (enum atomic_function function = ATOMIC_ADD; function < ATOMIC_FUNCTIONS; function++)
        for (int n = 0; n < CONTENTIONS; n++) {
            choose_launch(all, &chosen, function, n);
            if (chosen.scope == SCOPE_DEVICE || chosen.addresses <= all->shape.block)
                TRY(report_case(all, &chosen));
        }
    printf("  system scope (host and device): not in OpenCL 1.2, which has no shared virtual memory\n");
    return STATUS_OK;
}
