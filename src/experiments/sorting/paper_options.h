/* Paper options: the parameters of the sort method paper on a command line. */
#ifndef RADIXPIC_EXPERIMENTS_PAPER_OPTIONS_H
#define RADIXPIC_EXPERIMENTS_PAPER_OPTIONS_H

#include "experiments/bench.h"

/* r, I, G and s of P. Helluy's Table 1; 0 where the experiment or the device is to choose. */
struct paper_options {
    uint32_t radix_bits, items, groups, splits;
    enum transpose_kind transpose;
};

static const struct choice sort_words[] = {
    {"paper", SORT_METHOD_PAPER}, {"tiled", SORT_METHOD_TILED}, {"chunked", SORT_METHOD_CHUNKED}, {NULL, 0}};
enum { OF_PAPER = 1 << SORT_METHOD_PAPER };

/* The rows of I, G, s and the transposition; `type` has them in its member `paper`. */
#define PAPER_ROWS(type)                                                                                     \
    {"items",                                                                                                \
     0,                                                                                                      \
     "I",                                                                                                    \
     OPTION_NUMBER,                                                                                          \
     offsetof(type, paper.items),                                                                            \
     1,                                                                                                      \
     65536,                                                                                                  \
     .owners = OF_PAPER,                                                                                     \
     .help = "Items in a group (I) of paper; chosen from the device without it"},                            \
        {"groups",                                                                                           \
         0,                                                                                                  \
         "G",                                                                                                \
         OPTION_NUMBER,                                                                                      \
         offsetof(type, paper.groups),                                                                       \
         1,                                                                                                  \
         65536,                                                                                              \
         .owners = OF_PAPER,                                                                                 \
         .help = "Groups (G) of paper; chosen from the device without it"},                                  \
        {"splits",                                                                                           \
         0,                                                                                                  \
         "S",                                                                                                \
         OPTION_NUMBER,                                                                                      \
         offsetof(type, paper.splits),                                                                       \
         1,                                                                                                  \
         65536,                                                                                              \
         .owners = OF_PAPER,                                                                                 \
         .help = "Parts of the histogram of paper that are scanned apart (s); chosen without it"},           \
    {                                                                                                        \
        "transpose", 0, "on|off|auto", OPTION_CHOICE, offsetof(type, paper.transpose),                       \
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

#endif
