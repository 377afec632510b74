/* Sort search: candidates in the order of their promise, timed with as few sorts as decide. */
#include "experiments/sorting/sorting.h"

#include <math.h>
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
static const double HOPELESS = 1.5;       /* times the best: not worth another sort */
static const double WORSE = 1.2;          /* times the best: a parameter has gone too far */
static const double FINAL_SHARE = 0.1;    /* of the time, for the last comparison */
static const double NOISE = 1.02;         /* what is not faster than this does not displace a default */

/* ---- the best of those that were timed ---- */

static bool fits(const struct sort_trial *trial, enum sort_method method, uint32_t passes)
{
    return (method == SORT_METHOD_AUTO || method == trial->plan.method) &&
           (passes == SORT_AUTO || passes == trial->plan.passes);
}

bool sort_trial_beats(const struct sort_trial *one, const struct sort_trial *other)
{
    const double seconds = one->seconds / (one->is_default ? NOISE : 1);
    const double others = other->seconds / (other->is_default ? NOISE : 1);
    return one->is_final != other->is_final ? one->is_final : seconds < others;
}

const struct sort_trial *sort_search_best(const struct sort_search *search, enum sort_method method,
                                          uint32_t passes)
{
    const struct sort_trial *best = NULL;
    for (size_t n = 0; n < search->trial_count; n++) {
        const struct sort_trial *trial = &search->trials[n];
        if (!trial->is_dropped && fits(trial, method, passes) && (!best || sort_trial_beats(trial, best)))
            best = trial;
    }
    return best;
}

const struct sort_trial *sort_search_default(const struct sort_search *search, uint32_t passes)
{
    const struct sort_trial *found = NULL; /* of auto: the first default, whose passes were left open */
    for (size_t n = 0; n < search->trial_count && !found; n++)
        if (search->trials[n].is_default && fits(&search->trials[n], SORT_METHOD_AUTO, passes))
            found = &search->trials[n];
    return found;
}

static double best_seconds(const struct sort_search *search, enum sort_method method, uint32_t passes)
{
    const struct sort_trial *best = sort_search_best(search, method, passes);
    return best ? best->seconds : NEVER;
}

/* ---- one trial ---- */

static void show_progress(const struct sort_search *search, const struct sorter_plan *plan)
{
    char sort[256];
    if (!search->progress)
        return;
    sorter_plan_describe(plan, sort, sizeof sort);
    fprintf(search->progress, "\r\033[K%3.0f s, %zu sorts timed: %.90s", timer_now() - search->started,
            search->trial_count, sort);
    fflush(search->progress);
}

static struct sort_case case_of(const struct sort_search *search, const struct sort_trial *trial)
{
    return (struct sort_case){.list = &search->keys.list, .plan = trial->plan, .wants_cells = true};
}

/* Every method gives the one stable permutation and the cell offsets, or something is broken. */
static enum status check_result(struct bench *bench, struct sort_case *one)
{
    char sort[256];
    TRY(device_judge_sort(bench->part, one->list, &one->lists, &one->verdict));
    sorter_plan_describe(&one->plan, sort, sizeof sort);
    return sort_is_right(&one->verdict)
               ? STATUS_OK
               : status_fail(STATUS_FAILED, "tune: a sort returned a wrong result on %s: %s",
                             bench->info->name, sort);
}

/* A bench_case() of the search for its trial at hand, until that is timed well or hopeless; a sort that may
 * have met something else of the machine's is given more chances. The lower quartile counts: what else a
 * machine does only makes a sort slower. What may be kept must be right, and no earlier result passes for
 * this one's.
 */
static enum status time_trial(struct bench *bench, void *context)
{
    const struct sort_search *search = context;
    struct sort_trial *trial = search->trial;
    struct sort_case one = case_of(search, trial);
    const double best = best_seconds(search, trial->plan.method, trial->plan.passes);
    struct subject subject = {&one, NULL, sort_case_run, NULL, .repeats = 1, .in_one_piece = true};
    struct times times;
    TRY(sort_case_create(bench->part, &one));
    TRY(buffer_fill(one.lists.permutation, UINT32_MAX));
    TRY(buffer_fill(one.lists.cell_offsets, UINT32_MAX));
    /* The first launch compiles on some devices; the kernels' own time leaves that out. */
    TRY(bench_time(bench, &subject, 1, &times));
    for (int stage = STAGE_SORT_TRANSPOSE; stage <= STAGE_SORT_OFFSETS; stage++)
        trial->seconds += times.stages[stage].median;
    trial->is_dropped = trial->seconds > HOPELESS_WARM_UP * best && trial->seconds > LONG_SECONDS;
    if (trial->is_dropped)
        return STATUS_OK;
    subject.repeats = MOST_REPEATS;
    subject.seconds = ENOUGH_SECONDS;
    subject.least = LEAST_REPEATS;
    subject.hopeless = HOPELESS * best;
    TRY(bench_time(bench, &subject, 1, &times));
    trial->seconds = times.total.quartile;
    trial->is_dropped = times.total.least > subject.hopeless;
    return trial->seconds < best ? check_result(bench, &one) : STATUS_OK;
}

/* Whether two plans are the same sort, whoever chose its parameters. */
static bool same_sort(const struct sorter_plan *a, const struct sorter_plan *b)
{
    char one[256], other[256];
    sorter_plan_describe(a, one, sizeof one);
    sorter_plan_describe(b, other, sizeof other);
    return strcmp(one, other) == 0;
}

/* Times a candidate, unless it was timed before, does not fit the device, or the time is up. `trial`, which
 * may be NULL, is set to its trial or to NULL. */
static enum status try_choice(struct sort_search *search, const struct sort_choice *choice,
                              struct sort_trial **trial)
{
    struct sort_trial fresh = {.choice = *choice}, *found = NULL;
    const bool is_possible =
        sorter_plan_choose(search->bench->info, choice, search->count, &fresh.plan) == STATUS_OK;
    for (size_t n = 0; is_possible && n < search->trial_count && !found; n++)
        if (same_sort(&search->trials[n].plan, &fresh.plan))
            found = &search->trials[n];
    const double seconds = timer_now() - search->started;
    const bool is_time_up = search->trial_count == SORT_TRIALS_MAX ||
                            (search->trial_count > 0 && seconds >= (1 - FINAL_SHARE) * search->seconds_most);
    if (is_possible && !found && is_time_up)
        search->out_of_time = true;
    else if (is_possible && !found) {
        show_progress(search, &fresh.plan);
        search->trial = &fresh;
        TRY(bench_case(search->bench, time_trial, search));
        found = &search->trials[search->trial_count++];
        *found = fresh;
    }
    if (trial)
        *trial = found;
    return STATUS_OK;
}

static struct sort_choice choice_of(const struct sort_search *search, enum sort_method method,
                                    uint32_t passes)
{
    return (struct sort_choice){.config = {.method = method, .passes = passes, .key_bits = search->key_bits}};
}

/* ---- candidates ---- */

static enum status try_default(struct sort_search *search, uint32_t passes)
{
    const struct sort_config config = {.passes = passes};
    struct sorter_plan plan;
    struct sort_trial *trial = NULL;
    TRY(sorter_plan_default(search->bench->info, &config, search->key_bits, search->count, &plan));
    const struct sort_choice choice = choice_of(search, plan.method, plan.passes);
    TRY(try_choice(search, &choice, &trial));
    if (trial)
        trial->is_default = true;
    return STATUS_OK;
}

/* At the best I and G: the list the other way round, and the histogram in fewer and in more parts; then, at
 * the best of all that, the histogram's table the other way round. */
static enum status try_around_best(struct sort_search *search, uint32_t passes)
{
    const struct sort_trial *best = sort_search_best(search, SORT_METHOD_PAPER, passes);
    if (!best)
        return STATUS_OK;
    const struct radix_plan radix = best->plan.radix;
    struct sort_choice choice = choice_of(search, SORT_METHOD_PAPER, passes);
    choice.config.items_per_group = radix.items_per_group;
    choice.config.groups = radix.groups;
    choice.config.transpose = radix.transpose ? TRANSPOSE_OFF : TRANSPOSE_ON;
    TRY(try_choice(search, &choice, NULL));
    choice.config.transpose = TRANSPOSE_AUTO;
    choice.config.histogram_splits = 4 * radix.histogram_splits;
    TRY(try_choice(search, &choice, NULL));
    choice.config.histogram_splits = radix.histogram_splits / 4;
    if (choice.config.histogram_splits > 0)
        TRY(try_choice(search, &choice, NULL));
    best = sort_search_best(search, SORT_METHOD_PAPER, passes);
    choice = best->choice;
    choice.config.table = best->plan.radix.table_rows ? TABLE_COLUMNS : TABLE_ROWS;
    return try_choice(search, &choice, NULL);
}

/* The paper's grid for one number of passes: I by powers of two from the end where the device's best ones
 * are, one item on CPUs and many elsewhere, until they go too far; for each, more and more groups (G), by
 * multiples of the compute units, until more of them make it worse. */
static enum status try_paper_passes(struct sort_search *search, uint32_t passes)
{
    const struct device_info *info = search->bench->info;
    const uint64_t most_groups = MOST_GROUPS_PER_UNIT * (uint64_t)info->compute_units;
    struct sort_choice choice = choice_of(search, SORT_METHOD_PAPER, passes);
    struct sort_trial *trial = NULL;
    double best = NEVER;
    int too_far = 0;
    for (uint32_t n = 0; n <= MOST_ITEM_BITS && too_far < 2; n++) {
        const uint32_t items = UINT32_C(1) << (info->is_cpu ? n : MOST_ITEM_BITS - n);
        double fastest = NEVER; /* with so many items */
        choice.config.items_per_group = items;
        for (uint64_t groups = info->compute_units; groups <= most_groups && groups * items <= search->count;
             groups *= 2) {
            choice.config.groups = (uint32_t)groups;
            TRY(try_choice(search, &choice, &trial));
            if (!trial || trial->seconds > WORSE * fastest)
                break;
            fastest = fmin(fastest, trial->seconds);
        }
        best = fmin(best, fastest);
        too_far = fastest > WORSE * best ? too_far + 1 : 0;
    }
    return try_around_best(search, passes);
}

/* The paper's two passes first, then fewer, then more with shorter digits, until they cost more than they
 * save. */
static enum status try_paper(struct sort_search *search)
{
    static const uint32_t passes[] = {2, 1, 3, 4, 5, 6};
    const uint32_t bits = search->key_bits;
    uint32_t most = 0;
    for (size_t n = 0; n < sizeof passes / sizeof passes[0]; n++) {
        const uint32_t p = passes[n];
        if (p > bits || (p > 1 && (bits - 1) / p == (bits - 1) / (p - 1)))
            continue; /* no sort, or one with the digits of one pass less */
        TRY(try_paper_passes(search, p));
        most = p > most ? p : most;
        if (n > 0 && best_seconds(search, SORT_METHOD_PAPER, most) >
                         WORSE * best_seconds(search, SORT_METHOD_PAPER, SORT_AUTO))
            break;
    }
    return STATUS_OK;
}

/* Other numbers of chunks than the program's own, then for tiles other groups; not where the method as it
 * stands is hopeless beside another. */
static enum status try_chunks(struct sort_search *search, enum sort_method method, uint32_t passes)
{
    const uint32_t units = search->bench->info->compute_units;
    struct sort_choice choice = choice_of(search, method, passes);
    struct sort_trial *trial = NULL;
    TRY(try_choice(search, &choice, &trial));
    if (!trial || trial->seconds > HOPELESS * best_seconds(search, SORT_METHOD_AUTO, passes))
        return STATUS_OK;
    for (uint64_t chunks = units; chunks <= MOST_CHUNKS && chunks <= 16 * (uint64_t)units; chunks *= 2) {
        choice.chunks = (uint32_t)chunks;
        TRY(try_choice(search, &choice, NULL));
    }
    const struct sort_trial *best = sort_search_best(search, method, trial->plan.passes);
    choice.chunks = best->choice.chunks;
    for (uint32_t items = 64; method == SORT_METHOD_TILED && items >= 32; items /= 2) {
        choice.tile_items = items;
        TRY(try_choice(search, &choice, NULL));
    }
    return STATUS_OK;
}

static enum status try_all(struct sort_search *search)
{
    const bool is_cpu = search->bench->info->is_cpu;
    const uint32_t most_passes = search->key_bits > 1 ? 2 : 1;
    TRY(try_default(search, SORT_AUTO));
    TRY(try_default(search, most_passes));
    for (uint32_t passes = 1; passes <= most_passes; passes++)
        TRY(try_chunks(search, is_cpu ? SORT_METHOD_CHUNKED : SORT_METHOD_TILED, passes));
    TRY(try_paper(search));
    for (uint32_t passes = 1; passes <= most_passes; passes++)
        TRY(try_chunks(search, is_cpu ? SORT_METHOD_TILED : SORT_METHOD_CHUNKED, passes));
    return STATUS_OK;
}

/* ---- the last comparison ---- */

enum { FINALISTS = 4 };

/* Times the bests and the defaults again, in turns: other load on the machine falls on all of them alike, and
 * one short time among those of many candidates does not decide. */
static enum status compare_finalists(struct sort_search *search)
{
    const struct sort_trial *candidates[FINALISTS] = {
        sort_search_best(search, SORT_METHOD_AUTO, 2), sort_search_default(search, 2),
        sort_search_best(search, SORT_METHOD_AUTO, SORT_AUTO), sort_search_default(search, SORT_AUTO)};
    struct sort_trial *finalists[FINALISTS];
    struct sort_case finals[FINALISTS];
    struct subject subjects[FINALISTS];
    struct times times[FINALISTS];
    size_t count = 0;
    for (size_t n = 0; n < FINALISTS; n++) {
        if (!candidates[n] || candidates[n]->is_final)
            continue;
        finalists[count] = &search->trials[candidates[n] - search->trials];
        finalists[count]->is_final = true; /* so it comes in once */
        finals[count] = case_of(search, finalists[count]);
        TRY(sort_case_create(search->bench->part, &finals[count]));
        subjects[count] = (struct subject){&finals[count], NULL, sort_case_run, NULL, .in_one_piece = true};
        count++;
    }
    if (count == 0)
        return STATUS_OK;
    const double left = search->seconds_most - (timer_now() - search->started);
    subjects[0].warm_ups = 1;
    subjects[0].repeats = FINAL_ROUNDS;
    subjects[0].seconds = fmax(left / (double)count, 1e-3); /* that it takes of these, as the others do */
    subjects[0].least = LEAST_REPEATS;
    TRY(bench_time(search->bench, subjects, count, times));
    for (size_t n = 0; n < count; n++)
        finalists[n]->seconds = times[n].total.quartile;
    return STATUS_OK;
}

enum status sort_search_run(struct sort_search *search)
{
    search->key_bits = grid_key_bits(&search->grid);
    TRY(pic_keys_create(search->bench->part, &search->grid, search->count, &search->keys));
    search->started = timer_now();
    enum status status = try_all(search);
    if (status == STATUS_OK)
        status = compare_finalists(search);
    if (search->progress)
        fprintf(search->progress, "\r\033[K");
    search->seconds_taken = timer_now() - search->started;
    return status;
}
