/* Sorting: what the experiments of P. Helluy, "A portable implementation of the radix sort algorithm in
 * OpenCL", 2011, share: options, lists of keys, the judge of all sorts, and their timing. */
#ifndef RADIXPIC_EXPERIMENTS_SORTING_H
#define RADIXPIC_EXPERIMENTS_SORTING_H

#include "domain/particles.h"
#include "experiments/bench.h"
#include "sort/sorter.h"

/* ---- the parameters of the sort method paper on a command line ---- */

static const struct choice sort_words[] = {{"auto", SORT_METHOD_AUTO},
                                           {"paper", SORT_METHOD_PAPER},
                                           {"tiled", SORT_METHOD_TILED},
                                           {"chunked", SORT_METHOD_CHUNKED},
                                           {NULL, 0}};
enum { OF_PAPER = 1 << SORT_METHOD_PAPER };

/* The rows of I, G, s and the transposition; the file's struct options has them in its member `sort`. */
#define PAPER_ROW(row_name, letter, member, text)                                                            \
    OPTION_ROW(row_name, 0, letter, OPTION_NUMBER, AT(sort.member), 1, 65536, .owners = OF_PAPER,            \
               .help = text)
#define PAPER_ROWS                                                                                           \
    PAPER_ROW("items", "I", items_per_group,                                                                 \
              "Items in a group (I) of paper; chosen from the device without it"),                           \
        PAPER_ROW("groups", "G", groups, "Groups (G) of paper; chosen from the device without it"),          \
        PAPER_ROW("splits", "S", histogram_splits,                                                           \
                  "Parts of the histogram of paper that are scanned apart (s); chosen without it"),          \
        OPTION_ROW("transpose", 0, "on|off|auto", OPTION_CHOICE, AT(sort.transpose),                         \
                   .as_in = "sort.transpose", .owners = OF_PAPER,                                            \
                   .help = "Whether paper transposes the list before and after; on for GPUs without it")

/* The plan of a sort of `count` keys by the method and for the key_bits (b) of `asked`, in digits of at most
 * `radix_bits`, where 0 leaves the passes open. STATUS_USAGE: what does not fit the device. */
STATUS_CHECKED enum status sort_plan_make(const struct device_info *info, const struct sort_config *asked,
                                          uint32_t radix_bits, uint32_t count, struct sorter_plan *plan);

/* ---- lists of keys ---- */

struct sort_list {
    uint32_t count;           /* N */
    struct radix_lists lists; /* the keys, and arrays for sorted keys and a permutation */
    struct buffer *keys;      /* lists.keys, not const, to write the keys */
    uint32_t *on_host;        /* the keys on the host; NULL until the caller has made them */
    const uint32_t *in_order; /* the keys as the host has sorted them; NULL where it has not */
};

/* `count` keys below `cells`, which are not filled in, nor is there an array for the cell offsets. */
STATUS_CHECKED enum status sort_list_create(struct device *device, uint32_t count, uint32_t cells,
                                            struct sort_list *list);

/* What a list of keys below `cells` is: the cells of particles that were in order and moved by less than a
 * cell, up along both axes or up and down; or, of entry j, a hash of j, j cells/N, or that from the end. */
enum key_order { KEYS_ONE_WAY, KEYS_BOTH_WAYS, KEYS_RANDOM, KEYS_SORTED, KEYS_REVERSED, KEY_ORDERS };

/* Keys as they come to a sort of particles in order. */
struct pic_keys {
    struct species_config species;
    struct particles particles; /* in single precision. Points at `species`: the struct stays where it is */
    struct sort_list list;
    struct kernel *move;
};

/* `count` particles from four van der Corput sequences in the unit square, sorted by cell, and the list of
 * KEYS_ONE_WAY: of their cells after a move by u and v cells, with u and v in [0, 1). Blocking. */
STATUS_CHECKED enum status pic_keys_create(struct device *device, const struct grid *grid, uint32_t count,
                                           struct pic_keys *keys);

/* Makes the list one of that order; KEYS_BOTH_WAYS with u and v in [-1, 1). Blocking. */
STATUS_CHECKED enum status pic_keys_fill(struct pic_keys *keys, const struct grid *grid,
                                         enum key_order order);

/* ---- what a sort must be ---- */

struct sort_verdict {
    bool sorted; /* keys do not decrease, and equal the host's sorted keys and cell offsets where those are at
                    hand */
    bool stable; /* equal keys keep their order */
    bool permutation; /* every index appears once, and sorted_keys[j] = keys[permutation[j]] */
};

static inline bool sort_is_right(const struct sort_verdict *verdict)
{
    return verdict->sorted && verdict->stable && verdict->permutation;
}

/* offsets[c] = the number of keys below c, for c = 0..cells; all 0 before. */
void host_cell_offsets(const uint32_t *keys, uint32_t count, uint32_t cells, uint32_t *offsets);

/* Judges by these properties, not by another sort; `sorted_keys` may be NULL. Host memory is `device`'s. */
STATUS_CHECKED enum status host_judge_sort(struct device *device, const uint32_t *keys,
                                           const uint32_t *sorted_keys, const uint32_t *permutation,
                                           uint32_t count, struct sort_verdict *verdict);

/* Judges a sort of the list on the device, by those of permutation, sorted keys and cell offsets that `lists`
 * has. */
STATUS_CHECKED enum status device_judge_sort(struct device *device, const struct sort_list *list,
                                             const struct radix_lists *lists, struct sort_verdict *verdict);

/* ---- sorts on the device ---- */

/* One way to sort a list; the first four are the caller's. */
struct sort_case {
    const struct sort_list *list;
    struct sorter_plan plan;
    bool wants_cells;  /* cell offsets, and no sorted keys where the method does not make them on its way */
    const char *order; /* the word for the order of the list; NULL: it is not reported */
    struct bench *bench;
    struct radix_lists lists;
    struct sorter *sorter;
    uint32_t row;       /* sorts that are timed as one; 0: not chosen yet */
    struct times times; /* the total is that of one sort in such a row */
    struct sort_verdict verdict;
};

/* Creates what a sort of the case needs; and makes one sort, of a struct sort_case. */
STATUS_CHECKED enum status sort_case_create(struct device *device, struct sort_case *one);
STATUS_CHECKED enum status sort_case_run(void *sort_case);

enum { SORT_CASES_MOST = 3 };
struct sort_cases {
    struct sort_case *cases;
    uint32_t count; /* up to SORT_CASES_MOST, which are timed in turns */
};

/* A bench_case() of a struct sort_cases. */
STATUS_CHECKED enum status sort_cases_time(struct bench *bench, void *sort_cases);

/* ---- tables of sorts ---- */

/* Rows of a sort: its phases and "total", which has the speedup over qsort on the host where that ran. */
extern const struct bench_table sort_table;

/* A row of a sort of `count` keys that moves so many bytes. */
void sort_row(const struct bench *bench, const char *name, uint32_t count, struct spread seconds,
              uint64_t bytes, struct spread speedup);

/* Method, b, p and the parameters of paper as words of a case. Returns `words`. */
enum { SORT_WORDS_LENGTH = 128 };
const char *sort_words_of(const struct sorter_plan *plan, char words[SORT_WORDS_LENGTH]);

/* Names the case, and prints and writes its phases, which not every sort has, its total and its verdict.
 * `reference` has the seconds of qsort, 0 where it did not run. */
void sort_report(const struct sort_case *one, double reference);

/* Prints what a sort of the case at hand returned, as its verdict. */
void sort_print_verdict(const struct bench *bench, const struct sort_verdict *verdict);

#endif
