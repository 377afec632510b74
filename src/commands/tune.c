/* radixpic tune: the fastest sort for this device, printed and kept for later runs. */
#include "commands/commands.h"
#include "experiments/sorting/sorting.h"

#include "base/cache.h"
#include "base/log.h"

#include <limits.h>
#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct options {
    struct common_options common;
    uint32_t particles; /* 0: by the device */
    uint32_t cells[2];
    uint32_t seconds;
};

static const struct option_row rows[] = {
    DEVICE_ROW,
    {"particles", 'N', "N", OPTION_NUMBER, AT(particles), 1, UINT32_C(1) << 31,
     .help = "Particles (N); without it 8388608, on a CPU 1048576. What is found serves lists from the power "
             "of two below N to the next one"},
    {"cells", 0, "C|CxD", OPTION_CELLS, AT(cells), 2, 16384, .usual = "32",
     .help = "Cells along x and y, 32x32 without it; they give the key's bits (b)"},
    {"seconds", 0, "T", OPTION_NUMBER, AT(seconds), 1, 3600, .usual = "50",
     .help = "Stop after T seconds with what is found"},
};

/* ---- tables ---- */

/* A number, or "auto" for what is left to the program. */
static const char *number_or_auto(uint32_t number, char text[16])
{
    snprintf(text, 16, number == SORT_AUTO ? "auto" : "%u", number);
    return text;
}

static bool is_best(const struct sort_search *search, const struct sort_trial *trial)
{
    return trial == sort_search_best(search, trial->plan.method, trial->plan.passes);
}

/* The trials in the order of their passes. */
static void print_trials(const struct sort_search *search, bool of_paper)
{
    for (uint32_t passes = 1; passes <= 32; passes++)
        for (size_t n = 0; n < search->trial_count; n++) {
            const struct sort_trial *trial = &search->trials[n];
            const struct radix_plan *radix = &trial->plan.radix;
            const uint64_t items = (uint64_t)radix->items_per_group * radix->groups;
            const bool is_paper = trial->plan.method == SORT_METHOD_PAPER;
            char chunks[16], tile[16];
            if (trial->plan.passes != passes || is_paper != of_paper)
                continue;
            if (is_paper)
                printf("  %2u  %2u  %4u  %5u  %9llu  %5u  %-9s  %-7s", passes, radix->radix_bits,
                       radix->items_per_group, radix->groups,
                       (unsigned long long)((search->count + items - 1) / items), radix->histogram_splits,
                       radix->transpose ? "on" : "off", radix_plan_table_name(radix));
            else
                printf("  %-8s  %2u  %6s  %5s", sort_method_name(trial->plan.method), passes,
                       number_or_auto(trial->choice.chunks, chunks),
                       trial->plan.method == SORT_METHOD_TILED
                           ? number_or_auto(trial->choice.tile_items, tile)
                           : "-");
            printf("%10.3f  %9.1f  %s\n", 1e3 * trial->seconds, 1e-6 * search->count / trial->seconds,
                   is_best(search, trial) ? "*"
                   : trial->is_dropped    ? "dropped"
                                          : "");
        }
}

static void print_grid(const struct sort_search *search)
{
    printf("\nEvery sort that was tried; * is the fastest of its method and p, dropped was hopeless:\n");
    printf("  %2s  %2s  %4s  %5s  %9s  %5s  %-9s  %-7s%10s  %9s\n", "p", "r", "I", "G", "keys/item", "s",
           "transpose", "table", "ms", "M keys/s");
    print_trials(search, true);
    printf("\n  %-8s  %2s  %6s  %5s%10s  %9s\n", "method", "p", "chunks", "items", "ms", "M keys/s");
    print_trials(search, false);
}

/* The paper's Table 3: its columns, a line for each p that was tried. */
static void print_table(const struct sort_search *search, const char *device)
{
    const int width = (int)strlen(device);
    printf("\nTable 3 of the paper, quasi-optimal sorting parameters, on this device:\n");
    printf("  %-*s  %2s  %2s  %4s  %5s  %5s  %2s  %9s\n", width, "hardware", "b", "r", "I", "G", "s", "p",
           "time, ms");
    for (uint32_t passes = 1; passes <= 32; passes++) {
        const struct sort_trial *best = sort_search_best(search, SORT_METHOD_PAPER, passes);
        if (!best)
            continue;
        const struct radix_plan *radix = &best->plan.radix;
        printf("  %-*s  %2u  %2u  %4u  %5u  %5u  %2u  %9.3f\n", width, device, radix->key_bits,
               radix->radix_bits, radix->items_per_group, radix->groups, radix->histogram_splits, passes,
               1e3 * best->seconds);
    }
}

/* What a config with this sort.passes gets with the search and without. */
static void print_choice(const struct sort_search *search, uint32_t passes)
{
    const struct sort_trial *best = sort_search_best(search, SORT_METHOD_AUTO, passes);
    const struct sort_trial *usual = sort_search_default(search, passes);
    char sort[256], setting[16];
    if (!best)
        return;
    sorter_plan_describe(&best->plan, sort, sizeof sort);
    printf("sort.passes %-4s  %s: %.3f ms\n", number_or_auto(passes, setting), sort, 1e3 * best->seconds);
    if (!usual)
        return;
    sorter_plan_describe(&usual->plan, sort, sizeof sort);
    if (best == usual)
        printf("  which is the default\n");
    else
        printf("  the default, %s: %.3f ms, %.2f times that\n", sort, 1e3 * usual->seconds,
               usual->seconds / best->seconds);
}

static void print_search(const struct sort_search *search, const struct device_info *info)
{
    print_grid(search);
    print_table(search, info->name);
    printf("\n%zu sorts tried in %.1f s%s\n", search->trial_count, search->seconds_taken,
           search->out_of_time ? "; the time was up before all were: --seconds gives more" : "");
    if (search->key_bits > 1)
        print_choice(search, 2);
    print_choice(search, SORT_AUTO);
}

/* ---- the cache ---- */

/* The best of each method and p, in the order of preference, which the times keep: what was beaten by a
 * slower one is stored with the time of that. */
static size_t find_entries(const struct sort_search *search, struct tuning_entry *entries)
{
    const struct sort_trial *best[SORT_TRIALS_MAX];
    size_t count = 0;
    double seconds = 0;
    for (size_t n = 0; n < search->trial_count; n++) {
        const struct sort_trial *trial = &search->trials[n];
        size_t place = count;
        if (!is_best(search, trial))
            continue;
        for (; place > 0 && sort_trial_beats(trial, best[place - 1]); place--)
            best[place] = best[place - 1];
        best[place] = trial;
        count++;
    }
    for (size_t n = 0; n < count; n++) {
        const struct radix_plan *radix = &best[n]->plan.radix;
        seconds = best[n]->seconds > seconds ? best[n]->seconds : seconds;
        entries[n].choice = best[n]->choice;
        entries[n].milliseconds = round(1e9 * seconds) / 1e6;
        if (best[n]->plan.method == SORT_METHOD_PAPER) /* by name: a file may outlive what auto means */
            entries[n].choice.config.table = radix->table_rows ? TABLE_ROWS : TABLE_COLUMNS;
    }
    return count;
}

static enum status store(const struct sort_search *search, const struct device_info *info)
{
    struct tuning found = {.entries = NULL};
    const struct tuning_key key = tuning_key_of(info, search->key_bits, search->count);
    const time_t now = time(NULL);
    struct tm day = {0};
    char path[PATH_MAX];
    TRY(DEVICE_NEW_ARRAY(search->bench->device, found.entries, search->trial_count + 1));
    found.count = find_entries(search, found.entries);
    if (found.count == 0)
        return status_fail(STATUS_FAILED, "no sort was timed in %.0f s; give more --seconds",
                           search->seconds_most);
    localtime_r(&now, &day);
    for (size_t n = 0; n < found.count; n++) {
        found.entries[n].key = key;
        strftime(found.entries[n].date, TUNING_DATE_LENGTH, "%Y-%m-%d", &day);
    }
    TRY(tuning_write(&found));
    cache_path(TUNING_FILE, path, sizeof path);
    log_line(&(struct log){.terminal = stdout}, LOG_QUIET,
             "stored in %s, for keys of %u bits in lists of %llu to %llu", path, search->key_bits,
             1ull << key.size_class, (2ull << key.size_class) - 1);
    return STATUS_OK;
}

static enum status tune(struct bench *bench)
{
    const struct options *options = bench->options;
    const struct device_info *info = bench->info;
    const uint32_t usual = UINT32_C(1) << (info->is_cpu ? 20 : 23);
    struct sort_search *search = NULL;
    struct tuning old;
    char problem[TUNING_PROBLEM_LENGTH];
    TRY(DEVICE_NEW(bench->device, search));
    search->bench = bench;
    search->grid =
        grid_make(&(struct grid_config){.cells = {options->cells[0], options->cells[1]}, .length = {1, 1}});
    search->count = options->particles > 0 ? options->particles : usual;
    search->seconds_most = options->seconds;
    search->progress = isatty(fileno(stderr)) ? stderr : NULL;
    TRY(tuning_check_writable()); /* before the search, not after it */
    printf("tune: the fastest sort of %u particles in %ux%u cells (keys of b = %u bits), moved by less than "
           "a cell, on %s\n",
           search->count, options->cells[0], options->cells[1], grid_key_bits(&search->grid), info->name);
    fflush(stdout);
    TRY(tuning_read(&old, problem));
    tuning_free(&old);
    if (problem[0] != '\0')
        log_line(&(struct log){.terminal = stdout}, LOG_QUIET, "warning: %s; it will be replaced", problem);
    TRY(sort_search_run(search));
    print_search(search, info);
    return store(search, info);
}

static const struct experiment experiment_tune = {
    .options = OPTION_TABLE(
        rows, NULL,
        "Find the fastest sort for a device, print the paper's Table 3 for it, and keep what is found for "
        "later runs.\v"
        "Particles in PIC order (sorted, then moved by less than a cell) are sorted by every method in one "
        "and more passes (p) with many items in a group (I), groups (G), radix bits (r) and chunks, and with "
        "the table of the histogram in both orders. The best of each go to tuning.yaml in $RADIXPIC_CACHE, "
        "else in radixpic/ of $XDG_CACHE_HOME or of ~/.cache, for this device, driver, key and size of list; "
        "runs with sort.method auto take them from there, and give the same results as without.\n\n"
        "Examples:\n"
        "  radixpic tune\n"
        "  radixpic tune --device gpu --particles 134217728 --cells 64\n"
        "  radixpic tune --cells 128x64 --seconds 20\n"),
    .run = tune,
};

enum status command_tune(int argc, char **argv)
{
    return bench_run(&experiment_tune, argc, argv);
}
