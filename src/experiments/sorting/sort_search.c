/* Sort search: candidates in the order of their promise, timed with as few sorts as decide. */
#include "experiments/sorting/sort_search.h"

#include "experiments/sorting/sorting.h"

#include <string.h>

enum {
    LEAST_REPEATS = 3,
    MOST_REPEATS = 25,
    FINAL_ROUNDS = 25,
    MOST_ITEM_BITS = 10, /* I up to 2^10 */
    MOST_GROUPS_PER_UNIT = 32,
    MOST_CHUNKS = 2048
};
static const double NEVER = 1e30;
static const double ENOUGH_SECONDS = 0.1; /* of timed sorts of one candidate */
static const double HOPELESS_WARM_UP = 4; /* times the best: a warm-up is slower than the sorts after it */
static const double LONG_SECONDS = 0.02;  /* beside which a scheduler's turns are short */
static const double HOPELESS = 1.5;       /* times the best: not worth another sort */
static const double WORSE = 1.2;          /* times the best: a parameter has gone too far */
static const double FINAL_SHARE = 0.1;    /* of the time, for the last comparison */

/* What a search works with. */
struct search {
    struct device *device;
    struct sort_search *search;
    struct grid grid;
    struct pic_keys list;
    struct buffer *permutation;
    uint32_t *expected, *found;                 /* permutations on the host */
    uint32_t *expected_offsets, *found_offsets; /* cell offsets on the host */
    double started;
};

static double best_seconds(const struct sort_search *search, enum sort_method method, uint32_t passes)
{
    const struct sort_trial *best = sort_search_best(search, method, passes);
    return best ? best->seconds : NEVER;
}

/* ---- one trial ---- */

/* The lower quartile: what else a machine does only makes a sort slower. */
static double undisturbed(const struct samples *samples)
{
    return spread_of(samples).quartile;
}

static bool is_time_left(struct search *bench, double share)
{
    struct sort_search *search = bench->search;
    const bool left =
        (search->trial_count == 0 || timer_now() - bench->started < share * search->seconds_most) &&
        search->trial_count < SORT_TRIALS_MAX;
    search->out_of_time |= !left;
    return left;
}

static void show_progress(const struct search *bench, const struct sorter_plan *plan)
{
    char sort[256];
    if (!bench->search->progress)
        return;
    sorter_plan_describe(plan, sort, sizeof sort);
    fprintf(bench->search->progress, "\r\033[K%3.0f s, %zu sorts timed: %.90s", timer_now() - bench->started,
            bench->search->trial_count, sort);
    fflush(bench->search->progress);
}

/* The device's time of one sort; `kernels` is that of its kernels alone, without what lies between them. The
 * method paper makes the sorted keys on its way; no other needs them for the rest. */
static enum status sort_once(const struct search *bench, struct sorter *sorter, enum sort_method method,
                             double *seconds, double *kernels)
{
    const struct particles *particles = &bench->list.particles;
    const struct radix_lists lists = {.keys = bench->list.keys,
                                      .sorted_keys =
                                          method == SORT_METHOD_PAPER ? bench->list.sorted_keys : NULL,
                                      .permutation = bench->permutation,
                                      .cell_offsets = particles->cell_offsets,
                                      .cells = grid_cells(&bench->grid)};
    device_reset_timers(bench->device);
    TRY(device_region_begin(bench->device));
    TRY(sorter_run(sorter, particles->count, &lists));
    TRY(device_region_end(bench->device, STAGE_OTHER, 0));
    TRY(device_finish(bench->device));
    const struct timers *timers = device_timers(bench->device);
    *seconds = timers->stages[STAGE_OTHER].seconds;
    *kernels = 0;
    for (int stage = STAGE_SORT_TRANSPOSE; stage <= STAGE_SORT_OFFSETS; stage++)
        *kernels += timers->stages[stage].seconds;
    return STATUS_OK;
}

/* What an earlier sort left must not pass for the result of the next. */
static enum status clear_results(const struct search *bench)
{
    TRY(buffer_fill(bench->permutation, UINT32_MAX));
    return buffer_fill(bench->list.particles.cell_offsets, UINT32_MAX);
}

/* Every method gives the one stable permutation, or something is broken. */
static enum status check_result(const struct search *bench, const struct sorter_plan *plan)
{
    const size_t bytes = bench->search->count * sizeof(uint32_t);
    const size_t offset_bytes = (grid_cells(&bench->grid) + (size_t)1) * sizeof(uint32_t);
    TRY(buffer_read(bench->permutation, 0, bytes, bench->found));
    TRY(buffer_read(bench->list.particles.cell_offsets, 0, offset_bytes, bench->found_offsets));
    if (memcmp(bench->found, bench->expected, bytes) == 0 &&
        memcmp(bench->found_offsets, bench->expected_offsets, offset_bytes) == 0)
        return STATUS_OK;
    char sort[256];
    sorter_plan_describe(plan, sort, sizeof sort);
    return status_fail(STATUS_FAILED, "tune: a sort returned a wrong result on %s: %s",
                       device_info(bench->device)->name, sort);
}

/* Whether a sort whose fastest run took so long need not be timed further; a run that may have met something
 * else of the machine's is given more chances. */
static bool is_hopeless(double fastest, double best, const struct samples *samples, double sum)
{
    return fastest > HOPELESS * best && (samples->count >= LEAST_REPEATS || sum > LONG_SECONDS);
}

static enum status time_sorts(const struct search *bench, struct sorter *sorter, struct samples *samples,
                              struct sort_trial *trial)
{
    const double best = best_seconds(bench->search, trial->plan.method, trial->plan.passes);
    double seconds = 0, kernels = 0, sum = 0, fastest = NEVER;
    /* The first launch compiles on some devices; the kernels' own time leaves that out. */
    TRY(sort_once(bench, sorter, trial->plan.method, &seconds, &kernels));
    trial->seconds = kernels;
    trial->is_dropped = kernels > HOPELESS_WARM_UP * best && kernels > LONG_SECONDS;
    while (!trial->is_dropped && samples->count < MOST_REPEATS &&
           (samples->count < LEAST_REPEATS || sum < ENOUGH_SECONDS)) {
        TRY(sort_once(bench, sorter, trial->plan.method, &seconds, &kernels));
        samples_add(samples, seconds);
        sum += seconds;
        fastest = seconds < fastest ? seconds : fastest;
        trial->seconds = undisturbed(samples);
        trial->is_dropped = is_hopeless(fastest, best, samples, sum);
    }
    return STATUS_OK;
}

/* With what dies with `part`. What may be kept must be right. */
static enum status time_trial(const struct search *bench, struct device *part, struct sort_trial *trial)
{
    const double best = best_seconds(bench->search, trial->plan.method, trial->plan.passes);
    struct sorter *sorter = NULL;
    struct samples *samples = NULL;
    TRY(DEVICE_NEW(part, samples));
    TRY(sorter_create(part, &trial->plan, bench->search->count, &sorter));
    TRY(clear_results(bench));
    TRY(time_sorts(bench, sorter, samples, trial));
    return !trial->is_dropped && trial->seconds < best ? check_result(bench, &trial->plan) : STATUS_OK;
}

/* Whether two plans are the same sort, whoever chose its parameters. */
static bool same_sort(const struct sorter_plan *a, const struct sorter_plan *b)
{
    const struct radix_plan *c = &a->radix, *d = &b->radix;
    return a->method == b->method && a->passes == b->passes && c->items_per_group == d->items_per_group &&
           c->groups == d->groups && c->histogram_splits == d->histogram_splits &&
           c->transpose == d->transpose && c->table_rows == d->table_rows &&
           a->tiled.chunks == b->tiled.chunks && a->tiled.items == b->tiled.items &&
           a->chunked.chunks == b->chunked.chunks;
}

/* Times a candidate, unless it was timed before, does not fit the device, or the time is up. `trial`, which
 * may be NULL, is set to its trial or to NULL. */
static enum status try_choice(struct search *bench, const struct sort_choice *choice,
                              struct sort_trial **trial)
{
    struct sort_search *search = bench->search;
    struct sort_trial fresh = {.choice = *choice}, *found = NULL;
    const bool is_possible =
        sorter_plan_choose(device_info(bench->device), choice, search->count, &fresh.plan) == STATUS_OK;
    for (size_t n = 0; is_possible && n < search->trial_count && !found; n++)
        if (same_sort(&search->trials[n].plan, &fresh.plan))
            found = &search->trials[n];
    if (is_possible && !found && is_time_left(bench, 1 - FINAL_SHARE)) {
        struct device *part = NULL;
        show_progress(bench, &fresh.plan);
        TRY(device_branch(bench->device, &part));
        const enum status status = time_trial(bench, part, &fresh);
        device_close(&part);
        TRY(status);
        found = &search->trials[search->trial_count++];
        *found = fresh;
    }
    if (trial)
        *trial = found;
    return STATUS_OK;
}

static struct sort_choice choice_of(const struct search *bench, enum sort_method method, uint32_t passes)
{
    return (struct sort_choice){
        .config = {.method = method, .passes = passes, .key_bits = bench->search->key_bits}};
}

/* ---- candidates ---- */

static enum status try_default(struct search *bench, uint32_t passes)
{
    const struct sort_config config = {.passes = passes};
    struct sorter_plan plan;
    struct sort_trial *trial = NULL;
    TRY(sorter_plan_default(device_info(bench->device), &config, bench->search->key_bits,
                            bench->search->count, &plan));
    const struct sort_choice choice = choice_of(bench, plan.method, plan.passes);
    TRY(try_choice(bench, &choice, &trial));
    if (trial)
        trial->is_default = true;
    return STATUS_OK;
}

/* More and more groups of so many items, until more of them make it worse. */
static enum status try_groups(struct search *bench, uint32_t passes, uint32_t items, double *best)
{
    const uint32_t units = device_info(bench->device)->compute_units;
    struct sort_choice choice = choice_of(bench, SORT_METHOD_PAPER, passes);
    choice.config.items_per_group = items;
    *best = NEVER;
    for (uint64_t groups = units;
         groups <= MOST_GROUPS_PER_UNIT * (uint64_t)units && groups * items <= bench->search->count;
         groups *= 2) {
        struct sort_trial *trial = NULL;
        choice.config.groups = (uint32_t)groups;
        TRY(try_choice(bench, &choice, &trial));
        if (!trial || trial->seconds > WORSE * *best)
            break;
        if (trial->seconds < *best)
            *best = trial->seconds;
    }
    return STATUS_OK;
}

/* At the best I and G: the list the other way round, and the histogram in fewer and in more parts. */
static enum status try_around_best(struct search *bench, uint32_t passes)
{
    const struct sort_trial *best = sort_search_best(bench->search, SORT_METHOD_PAPER, passes);
    if (!best)
        return STATUS_OK;
    const struct radix_plan radix = best->plan.radix;
    struct sort_choice choice = choice_of(bench, SORT_METHOD_PAPER, passes);
    choice.config.items_per_group = radix.items_per_group;
    choice.config.groups = radix.groups;
    choice.config.transpose = radix.transpose ? TRANSPOSE_OFF : TRANSPOSE_ON;
    TRY(try_choice(bench, &choice, NULL));
    choice.config.transpose = TRANSPOSE_AUTO;
    choice.config.histogram_splits = 4 * radix.histogram_splits;
    TRY(try_choice(bench, &choice, NULL));
    choice.config.histogram_splits = radix.histogram_splits / 4;
    return choice.config.histogram_splits > 0 ? try_choice(bench, &choice, NULL) : STATUS_OK;
}

/* At the best of all else: the histogram's table the other way round. */
static enum status try_other_table(struct search *bench, uint32_t passes)
{
    const struct sort_trial *best = sort_search_best(bench->search, SORT_METHOD_PAPER, passes);
    if (!best)
        return STATUS_OK;
    struct sort_choice choice = best->choice;
    choice.config.table = best->plan.radix.table_rows ? TABLE_COLUMNS : TABLE_ROWS;
    return try_choice(bench, &choice, NULL);
}

/* The paper's grid for one number of passes: I by powers of two from the end where the device's best ones
 * are, one item on CPUs and many elsewhere, until they go too far; G by multiples of the compute units. */
static enum status try_paper_passes(struct search *bench, uint32_t passes)
{
    const bool ascending = device_info(bench->device)->is_cpu;
    double best = NEVER;
    int too_far = 0;
    for (uint32_t n = 0; n <= MOST_ITEM_BITS && too_far < 2; n++) {
        double seconds;
        TRY(try_groups(bench, passes, UINT32_C(1) << (ascending ? n : MOST_ITEM_BITS - n), &seconds));
        if (seconds < best)
            best = seconds;
        too_far = seconds > WORSE * best ? too_far + 1 : 0;
    }
    TRY(try_around_best(bench, passes));
    return try_other_table(bench, passes);
}

static uint32_t radix_bits_of(uint32_t key_bits, uint32_t passes)
{
    return (key_bits + passes - 1) / passes;
}

/* The paper's two passes first, then fewer, then more with shorter digits, until they cost more than they
 * save. */
static enum status try_paper(struct search *bench)
{
    static const uint32_t passes[] = {2, 1, 3, 4, 5, 6};
    const uint32_t bits = bench->search->key_bits;
    uint32_t most = 0;
    for (size_t n = 0; n < sizeof passes / sizeof passes[0]; n++) {
        const uint32_t p = passes[n];
        if (p > bits || (p > 1 && radix_bits_of(bits, p) == radix_bits_of(bits, p - 1)))
            continue; /* no sort, or the same as with one pass less */
        TRY(try_paper_passes(bench, p));
        most = p > most ? p : most;
        if (n > 0 && best_seconds(bench->search, SORT_METHOD_PAPER, most) >
                         WORSE * best_seconds(bench->search, SORT_METHOD_PAPER, SORT_AUTO))
            break;
    }
    return STATUS_OK;
}

/* Other numbers of chunks than the program's own, then for tiles other groups; not where the method as it
 * stands is hopeless beside another. */
static enum status try_chunks(struct search *bench, enum sort_method method, uint32_t passes)
{
    const uint32_t units = device_info(bench->device)->compute_units;
    struct sort_choice choice = choice_of(bench, method, passes);
    struct sort_trial *trial = NULL;
    TRY(try_choice(bench, &choice, &trial));
    if (!trial || trial->seconds > HOPELESS * best_seconds(bench->search, SORT_METHOD_AUTO, passes))
        return STATUS_OK;
    for (uint64_t chunks = units; chunks <= MOST_CHUNKS && chunks <= 16 * (uint64_t)units; chunks *= 2) {
        choice.chunks = (uint32_t)chunks;
        TRY(try_choice(bench, &choice, NULL));
    }
    const struct sort_trial *best = sort_search_best(bench->search, method, trial->plan.passes);
    choice.chunks = best->choice.chunks;
    for (uint32_t items = 64; method == SORT_METHOD_TILED && items >= 32; items /= 2) {
        choice.tile_items = items;
        TRY(try_choice(bench, &choice, NULL));
    }
    return STATUS_OK;
}

static enum status try_method(struct search *bench, enum sort_method method)
{
    if (method == SORT_METHOD_PAPER)
        return try_paper(bench);
    for (uint32_t passes = 1; passes <= 2 && passes <= bench->search->key_bits; passes++)
        TRY(try_chunks(bench, method, passes));
    return STATUS_OK;
}

static enum status try_all(struct search *bench)
{
    static const enum sort_method for_cpu[] = {SORT_METHOD_CHUNKED, SORT_METHOD_PAPER, SORT_METHOD_TILED};
    static const enum sort_method for_others[] = {SORT_METHOD_TILED, SORT_METHOD_PAPER, SORT_METHOD_CHUNKED};
    const bool is_cpu = device_info(bench->device)->is_cpu;
    TRY(try_default(bench, SORT_AUTO));
    TRY(try_default(bench, bench->search->key_bits > 1 ? 2 : 1));
    for (size_t n = 0; n < sizeof for_cpu / sizeof for_cpu[0]; n++)
        TRY(try_method(bench, is_cpu ? for_cpu[n] : for_others[n]));
    return STATUS_OK;
}

/* ---- the last comparison ---- */

enum { FINALISTS = 4 };

/* The trials that decide, each once: the bests and the defaults. */
static size_t choose_finalists(struct sort_search *search, struct sort_trial *finalists[FINALISTS])
{
    const struct sort_trial *candidates[FINALISTS] = {
        sort_search_best(search, SORT_METHOD_AUTO, 2), sort_search_default(search, 2),
        sort_search_best(search, SORT_METHOD_AUTO, SORT_AUTO), sort_search_default(search, SORT_AUTO)};
    size_t count = 0;
    for (size_t n = 0; n < FINALISTS; n++) {
        bool is_new = candidates[n] != NULL;
        for (size_t m = 0; m < n; m++)
            is_new = is_new && candidates[m] != candidates[n];
        if (is_new)
            finalists[count++] = &search->trials[candidates[n] - search->trials];
    }
    return count;
}

/* Times the bests and the defaults again, in turns: other load on the machine falls on all of them alike, and
 * one short time among those of many candidates does not decide. */
static enum status compare_finalists(struct search *bench)
{
    struct sort_trial *finalists[FINALISTS];
    struct sorter *sorters[FINALISTS] = {NULL};
    struct samples *samples = NULL;
    double seconds = 0, kernels = 0;
    const size_t count = choose_finalists(bench->search, finalists);
    TRY(DEVICE_NEW_ARRAY(bench->device, samples, FINALISTS));
    for (size_t n = 0; n < count; n++)
        TRY(sorter_create(bench->device, &finalists[n]->plan, bench->search->count, &sorters[n]));
    for (int round = 0; round <= FINAL_ROUNDS; round++) {
        for (size_t n = 0; n < count; n++) {
            TRY(sort_once(bench, sorters[n], finalists[n]->plan.method, &seconds, &kernels));
            if (round > 0)
                samples_add(&samples[n], seconds);
        }
        if (round >= LEAST_REPEATS && timer_now() - bench->started > bench->search->seconds_most)
            break;
    }
    for (size_t n = 0; n < count; n++) {
        finalists[n]->seconds = undisturbed(&samples[n]);
        finalists[n]->is_final = true;
    }
    return STATUS_OK;
}

/* ---- the whole ---- */

static enum status make_keys(struct search *bench)
{
    struct sort_search *search = bench->search;
    const struct sort_config config = {.passes = SORT_AUTO};
    const size_t bytes = search->count * sizeof(uint32_t);
    struct sorter_plan plan;
    TRY(sorter_plan_default(device_info(bench->device), &config, search->key_bits, search->count, &plan));
    TRY(pic_keys_create(bench->device, &bench->grid, search->count, &plan, &bench->list));
    TRY(buffer_create(bench->device, bytes, "the permutation", &bench->permutation));
    TRY(DEVICE_NEW_ARRAY(bench->device, bench->expected, search->count));
    TRY(DEVICE_NEW_ARRAY(bench->device, bench->found, search->count));
    TRY(DEVICE_NEW_ARRAY(bench->device, bench->expected_offsets, grid_cells(&bench->grid) + (size_t)1));
    TRY(DEVICE_NEW_ARRAY(bench->device, bench->found_offsets, grid_cells(&bench->grid) + (size_t)1));
    TRY(buffer_read(bench->list.keys, 0, bytes, bench->found));
    for (uint32_t j = 0; j < search->count; j++)
        bench->expected_offsets[bench->found[j] + 1]++;
    for (uint32_t cell = 0; cell < grid_cells(&bench->grid); cell++)
        bench->expected_offsets[cell + 1] += bench->expected_offsets[cell];
    return host_counting_sort(bench->found, search->count, grid_cells(&bench->grid), bench->expected);
}

enum status sort_search_run(struct device *device, const struct grid *grid, struct sort_search *search)
{
    struct search bench = {.device = device, .search = search, .grid = *grid};
    search->key_bits = grid_key_bits(grid);
    TRY(make_keys(&bench));
    bench.started = timer_now();
    enum status status = try_all(&bench);
    if (status == STATUS_OK)
        status = compare_finalists(&bench);
    if (search->progress)
        fprintf(search->progress, "\r\033[K");
    search->seconds_taken = timer_now() - bench.started;
    return status;
}
