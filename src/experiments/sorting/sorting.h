/* Sorting: what the experiments of P. Helluy, "A portable implementation of the radix sort algorithm in
 * OpenCL", 2011, share: options, keys, the host's sorts, the judge of all, phases. */
#ifndef RADIXPIC_EXPERIMENTS_SORTING_H
#define RADIXPIC_EXPERIMENTS_SORTING_H

#include "domain/particles.h"
#include "experiments/bench.h"
#include "sort/sorter.h"

/* ---- the parameters of the sort method paper on a command line ---- */

/* r, I, G and s of P. Helluy's Table 1; 0 where the experiment or the device is to choose. */
struct paper_options {
    uint32_t radix_bits, items, groups, splits;
    enum transpose_kind transpose;
};

static const struct choice sort_words[] = {
    {"paper", SORT_METHOD_PAPER}, {"tiled", SORT_METHOD_TILED}, {"chunked", SORT_METHOD_CHUNKED}, {NULL, 0}};
enum { OF_PAPER = 1 << SORT_METHOD_PAPER };

/* The rows of I, G, s and the transposition; the file's struct options has them in its member `paper`. */
#define PAPER_ROW(row_name, letter, member, text)                                                            \
    {                                                                                                        \
        row_name, 0, letter, OPTION_NUMBER, AT(paper.member), 1, 65536, .owners = OF_PAPER, .help = text     \
    }
#define PAPER_ROWS                                                                                           \
    PAPER_ROW("items", "I", items, "Items in a group (I) of paper; chosen from the device without it"),      \
        PAPER_ROW("groups", "G", groups, "Groups (G) of paper; chosen from the device without it"),          \
        PAPER_ROW("splits", "S", splits,                                                                     \
                  "Parts of the histogram of paper that are scanned apart (s); chosen without it"),          \
    {                                                                                                        \
        "transpose", 0, "on|off|auto", OPTION_CHOICE, AT(paper.transpose),                                   \
            .as_in = "sort.transpose", .owners = OF_PAPER,                                                   \
            .help = "Whether paper transposes the list before and after; on for GPUs without it"             \
    }

/* A digit is no longer than the key of b = `key_bits`. */
static inline uint32_t paper_digit_bits(uint32_t radix_bits, uint32_t key_bits)
{
    return radix_bits < key_bits ? radix_bits : key_bits;
}

/* The config of a sort of keys of b = `key_bits` bits by digits of `radix_bits`. */
static inline struct sort_config paper_sort_config(const struct paper_options *paper, uint32_t key_bits,
                                                   uint32_t radix_bits, enum table_kind table)
{
    return (struct sort_config){.method = SORT_METHOD_PAPER,
                                .key_bits = key_bits,
                                .passes = (key_bits + radix_bits - 1) / radix_bits,
                                .items_per_group = paper->items,
                                .groups = paper->groups,
                                .histogram_splits = paper->splits,
                                .transpose = paper->transpose,
                                .table = table};
}

/* ---- keys as they come to a sort of particles in order ---- */

struct pic_keys {
    struct species_config species;
    struct particles particles; /* in single precision. Points at `species`: the struct stays where it is */
    struct buffer *keys, *sorted_keys; /* uint[count]: in PIC order, and room for a sort's result */
};

/* `count` particles from four van der Corput sequences in the unit square, sorted by cell as `plan` says,
 * which is for keys of this grid, and moved by u and v cells, with u and v in [0, 1). Blocking. */
STATUS_CHECKED enum status pic_keys_create(struct device *device, const struct grid *grid, uint32_t count,
                                           const struct sorter_plan *plan, struct pic_keys *list);

/* ---- the host; all its sorts return the stable permutation ---- */

/* A plain serial counting sort of `count` keys below `key_limit`: permutation[j] is where the j-th sorted key
 * was. */
STATUS_CHECKED enum status host_counting_sort(const uint32_t *keys, uint32_t count, uint32_t key_limit,
                                              uint32_t *permutation);

/* The same by the C library's qsort() of (key, index) pairs. */
STATUS_CHECKED enum status host_qsort(const uint32_t *keys, uint32_t count, uint32_t *permutation);

/* What a sort must be. */
struct sort_verdict {
    bool sorted;      /* keys do not decrease */
    bool stable;      /* equal keys keep their order */
    bool permutation; /* every index appears once, and sorted_keys[j] = keys[permutation[j]] */
};

static inline bool sort_is_right(const struct sort_verdict *verdict)
{
    return verdict->sorted && verdict->stable && verdict->permutation;
}

/* Judges a result by these properties, not by another sort. */
STATUS_CHECKED enum status host_judge_sort(const uint32_t *keys, const uint32_t *sorted_keys,
                                           const uint32_t *permutation, uint32_t count,
                                           struct sort_verdict *verdict);

/* Judges the device's: its permutation, with the sorted keys where lists->sorted_keys is there and the keys
 * that the permutation stands for where not, and the cell offsets where lists->cell_offsets is. Host memory
 * is of `device`. */
STATUS_CHECKED enum status device_judge_sort(struct device *device, const uint32_t *keys, uint32_t count,
                                             const struct radix_lists *lists, struct sort_verdict *verdict);

/* ---- the phases of the paper's sort, as its tables name them ---- */

enum { SORT_PHASES = 4 };

static const struct {
    const char *name, *quantity;
    enum stage stage;
} sort_phases[SORT_PHASES] = {{"transpose", "transpose_ms", STAGE_SORT_TRANSPOSE},
                              {"histogram", "histogram_ms", STAGE_SORT_HISTOGRAM},
                              {"scan", "scan_ms", STAGE_SORT_SCAN},
                              {"reorder", "reorder_ms", STAGE_SORT_REORDER}};

static inline void write_sort_phases(const struct bench *bench, const struct times *times, int verified)
{
    for (size_t p = 0; p < SORT_PHASES; p++)
        if (times->stages[sort_phases[p].stage].most > 0) /* which this sort does not do without */
            bench_row(bench, sort_phases[p].quantity, times->stages[sort_phases[p].stage], 1e3, verified);
}

/* Key=value words of the parameters that the method paper has, "" for others. */
static inline void sort_parameters(const struct sorter_plan *plan, size_t size, char *text)
{
    const struct radix_plan *radix = &plan->radix;
    text[0] = '\0';
    if (plan->method == SORT_METHOD_PAPER)
        snprintf(text, size, " r=%u I=%u G=%u s=%u transpose=%s table=%s", radix->radix_bits,
                 radix->items_per_group, radix->groups, radix->histogram_splits,
                 radix->transpose ? "on" : "off", radix_plan_table_name(radix));
}

#endif
