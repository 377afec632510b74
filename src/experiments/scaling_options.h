/* Scaling options: the command line of radixpic bench scaling. */
#ifndef RADIXPIC_EXPERIMENTS_SCALING_OPTIONS_H
#define RADIXPIC_EXPERIMENTS_SCALING_OPTIONS_H

#include "config/config.h"
#include "experiments/step_point.h"

/* What the runs on one rank and on all of them have in common. */
enum scaling_kind {
    SCALING_WEAK,     /* particles and cells of a rank; the box grows along x */
    SCALING_SAME_BOX, /* particles of a rank; the box */
    SCALING_STRONG    /* particles and box */
};

struct scaling_options {
    const char *device, *csv_path;
    enum scaling_kind kind;
    enum decomposition_kind decomposition; /* wanted of several ranks */
    struct step_setup setup;               /* of the run on one rank; the box is not filled in */
};

/* "weak", "same box" or "strong". */
const char *scaling_kind_name(enum scaling_kind kind);

/* Fills `options` with the defaults and what argv says, as far as that many ranks can run it; the texts
 * belong to argv. *done is set where --help was printed. */
STATUS_CHECKED enum status scaling_options_parse(int argc, char **argv, int ranks,
                                                 struct scaling_options *options, bool *done);

/* The setup of a run on that many ranks, with its box. */
struct step_setup scaling_setup(const struct scaling_options *options, int ranks);

#endif
