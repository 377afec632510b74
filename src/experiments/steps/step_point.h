/* Step point: a simulation of given size, on one rank or on several, taken through timed blocks of whole
 * steps and judged, so that a wrong step is never reported as fast. */
#ifndef RADIXPIC_EXPERIMENTS_STEP_POINT_H
#define RADIXPIC_EXPERIMENTS_STEP_POINT_H

#include "experiments/bench.h"
#include "step/stepper.h"

enum { MOST_ALONG = 16384 /* cells along an axis, of a config */ };

/* Electrons of thermal velocity 1 with a wave of k = 0.5, or as near to that as the box allows. Words are
 * those of the config's schema, NULL for the usual one; they belong to the caller. */
struct step_setup {
    uint64_t particles;
    uint32_t cells[2];
    double length; /* of the box along x; 0: cells of the usual length. Cells are square */
    const char *shape, *precision, *step_method, *decomposition, *sort_method;
    bool hot;       /* half of the particles stand in one cell; so thin that no field moves them */
    uint32_t steps; /* of a block; 0: as many as take a few tenths of a second */
};

/* Rows of options of the member `setup`, which every experiment that times whole steps has. */
#define PLASMA_ROWS                                                                                          \
    OPTION_ROW("particles", 'N', "N", OPTION_NUMBER64, AT(setup.particles), 1, CONFIG_MAX_PARTICLES,         \
               .usual = "4194304", .help = "Particles (N)"),                                                 \
        OPTION_ROW("cells", 0, "C", OPTION_CELLS, AT(setup.cells), 8, MOST_ALONG, .usual = "128",            \
                   .help = "Cells: N for N x N, or NXxNY, each 8 or more"),                                  \
        OPTION_ROW("shape", 0, "NAME", OPTION_WORD, AT(setup.shape), .as_in = "deposit.shape",               \
                   .usual = "cic"),                                                                          \
        OPTION_ROW("precision", 0, "NAME", OPTION_WORD, AT(setup.precision), .as_in = "precision",           \
                   .usual = "single")

/* Every rank has the same numbers, but for the stages and their bytes. */
struct step_point {
    int ranks;
    uint32_t steps;                        /* of a block */
    struct spread wall;                    /* seconds of a block on the slowest rank */
    struct spread stages[STAGE_OTHER];     /* seconds of a block on this rank */
    uint64_t stage_bytes[STAGE_OTHER];     /* of the last block */
    struct spread over_ranks[STAGE_OTHER]; /* seconds of a step over the ranks, each by its median; their mean
                                              in place of a median */
    double rank_bytes[STAGE_OTHER];        /* that a stage of a step moves for a rank, the mean over ranks */
    uint64_t stages_bytes;                 /* of all stages together */
    char method[32], sort[256];            /* the step taken; how it sorts, where that is a choice */
    char why[STEPPER_WHY_LENGTH];          /* stepper_explain() */
    size_t bytes_held;                     /* in device arrays, after the last block */
    bool has_slabs;                        /* the ranks share the transforms of the field */
    uint32_t rows_most, ghost_rows;        /* of a rank */
    uint64_t particles_most;               /* of the fullest rank */
    double leavers;                        /* particles that leave a rank in a step, the mean */
    uint64_t steps_done;                   /* with the warm-up */
    double first_field, early_field;       /* energy of the field at the start, and before round-off grows */
    double energy_drift; /* relative, of the measured step that is farthest from the start */
    bool verified;
    char verdict[256]; /* what was checked, or what was wrong */
};

/* The config of a point, through the config's own schema and checks: STATUS_USAGE for what they refuse. */
STATUS_CHECKED enum status step_point_config(const struct step_setup *setup, struct config *config);

/* A point that is run: all but the last member are the caller's. */
struct step_run {
    struct bench *bench;
    struct step_setup setup;
    struct communicator ranks;    /* may be rank 0 alone */
    const struct step_run *alone; /* that on one rank, or NULL */
    struct step_point point;
};

/* A bench_case() of a struct step_run: a warm-up block, timed blocks in pairs, one for the wall clock without
 * events and one for the stages with them, then one step that only measures. Collective over the ranks. A
 * result that is wrong is no failure: see `verified`, which becomes a verdict of the bench too. */
STATUS_CHECKED enum status step_run(struct bench *bench, void *run);

#endif
