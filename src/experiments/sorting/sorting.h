/* Sorting: what the experiments of P. Helluy, "A portable implementation of the radix sort algorithm in
 * OpenCL", 2011, share: options, keys, the host's sorts, the judge of all, phases. */
#ifndef RADIXPIC_EXPERIMENTS_SORTING_H
#define RADIXPIC_EXPERIMENTS_SORTING_H

#include "domain/particles.h"
#include "experiments/bench.h"
#include "sort/sorter.h"

/* ---- the parameters of the sort method paper on a command line ---- */

static const struct choice sort_words[] = {
    {"paper", SORT_METHOD_PAPER}, {"tiled", SORT_METHOD_TILED}, {"chunked", SORT_METHOD_CHUNKED}, {NULL, 0}};
enum { OF_PAPER = 1 << SORT_METHOD_PAPER };

/* The rows of I, G, s and the transposition; the file's struct options has them in its member `sort`. */
#define PAPER_ROW(row_name, letter, member, text)                                                            \
    {                                                                                                        \
        row_name, 0, letter, OPTION_NUMBER, AT(sort.member), 1, 65536, .owners = OF_PAPER, .help = text      \
    }
#define PAPER_ROWS                                                                                           \
    PAPER_ROW("items", "I", items_per_group,                                                                 \
              "Items in a group (I) of paper; chosen from the device without it"),                           \
        PAPER_ROW("groups", "G", groups, "Groups (G) of paper; chosen from the device without it"),          \
        PAPER_ROW("splits", "S", histogram_splits,                                                           \
                  "Parts of the histogram of paper that are scanned apart (s); chosen without it"),          \
    {                                                                                                        \
        "transpose", 0, "on|off|auto", OPTION_CHOICE, AT(sort.transpose),                                    \
            .as_in = "sort.transpose", .owners = OF_PAPER,                                                   \
            .help = "Whether paper transposes the list before and after; on for GPUs without it"             \
    }

/* The plan of a sort of `count` keys by the method and for the key_bits (b) of `asked`, in digits of at most
 * `radix_bits`, where 0 leaves the passes open. STATUS_USAGE: what does not fit the device. */
STATUS_CHECKED enum status sort_plan_make(const struct device_info *info, const struct sort_config *asked,
                                          uint32_t radix_bits, uint32_t count, struct sorter_plan *plan);

/* ---- keys as they come to a sort of particles in order ---- */

struct pic_keys {
    struct species_config species;
    struct particles particles; /* in single precision. Points at `species`: the struct stays where it is */
    struct buffer *keys, *sorted_keys, *permutation; /* uint[count]: in PIC order; room for a sort's result */
    uint32_t *on_host;                               /* the keys */
};

/* `count` particles from four van der Corput sequences in the unit square, sorted by cell and moved by u and
 * v cells, with u and v in [0, 1). Blocking. */
STATUS_CHECKED enum status pic_keys_create(struct device *device, const struct grid *grid, uint32_t count,
                                           struct pic_keys *list);

/* ---- the host ---- */

/* offsets[c] = the number of keys below c, for c = 0..cells; all 0 before. */
void host_cell_offsets(const uint32_t *keys, uint32_t count, uint32_t cells, uint32_t *offsets);

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

/* Judges a result by these properties, not by another sort; `sorted_keys` may be NULL. Host memory is of
 * `device`. */
STATUS_CHECKED enum status host_judge_sort(struct device *device, const uint32_t *keys,
                                           const uint32_t *sorted_keys, const uint32_t *permutation,
                                           uint32_t count, struct sort_verdict *verdict);

/* Judges the device's: its permutation, with the sorted keys and the cell offsets where `lists` has them. */
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

/* The rows of a sort on the device: the phases, which not every sort has, and the total. */
void sort_write(struct bench *bench, const struct sorter_plan *plan, uint32_t count,
                const struct times *times, struct spread total, int verified);

#endif
