/* PIC sort options: the command line of radixpic bench pic-sort. */
#ifndef RADIXPIC_EXPERIMENTS_PIC_SORT_OPTIONS_H
#define RADIXPIC_EXPERIMENTS_PIC_SORT_OPTIONS_H

#include "base/status.h"
#include "config/config.h"
#include "experiments/paper_options.h"

enum { PIC_SORT_MAX_CASES = 8, PIC_SORT_MAX_TABLES = 2 };

struct pic_sort_options {
    const char *device, *csv_path, *keys_path;
    uint32_t particles, cells, repeats;
    struct paper_options paper;
    enum sort_method method;
    bool device_alone;                     /* without the sorts of the host */
    uint32_t key_bits[PIC_SORT_MAX_CASES]; /* one case each, with each of the tables */
    uint32_t case_count;
    enum table_kind tables[PIC_SORT_MAX_TABLES];
    uint32_t table_count;
};

/* Fills `options` with the defaults and what argv says; the texts belong to argv. *done is set where --help
 * was printed. */
STATUS_CHECKED enum status pic_sort_options_parse(int argc, char **argv, struct pic_sort_options *options,
                                                  bool *done);

#endif
