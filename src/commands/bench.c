/* radixpic bench: the experiments by name. */
#include "base/arguments.h"
#include "commands/commands.h"
#include "experiments/deposit_bench.h"
#include "experiments/layout.h"
#include "experiments/local_memory.h"
#include "experiments/permutation.h"
#include "experiments/pic_sort.h"
#include "experiments/random_lists.h"
#include "experiments/scaling.h"
#include "experiments/step_bench.h"
#include "parallel/communicator.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    enum status (*run)(int argc, char **argv);
    const char *summary;
    bool on_ranks; /* shares its work among the ranks of mpirun */
} experiments[] = {
    {"pic-sort", experiment_pic_sort, "the paper's Table 7: sorting particles in p=2 against p=6", false},
    {"random-lists", experiment_random_lists, "the paper's Tables 4 to 6: sorting random keys of 30 bits",
     false},
    {"permutation", experiment_permutation, "in-place permutation of 3D to 7D volumes, Tables 1 to 5 of NDPA",
     false},
    {"local-memory", experiment_local_memory, "a lecture's ladder of local memory, up to child grids", false},
    {"step", experiment_step, "whole simulation steps: times of the stages, how cost grows", false},
    {"deposit", experiment_deposit, "cell by cell from a sorted list against atomic additions", false},
    {"scaling", experiment_scaling, "whole steps on the ranks of mpirun against those on one", true},
    {"layout", experiment_layout, "many arrays at once, row-wise against column-wise", false},
};
enum { EXPERIMENT_COUNT = sizeof experiments / sizeof experiments[0] };

static void print_help(void)
{
    printf("Usage: radixpic bench NAME [OPTION...]\nRun an experiment and print its table.\n\n");
    for (size_t n = 0; n < EXPERIMENT_COUNT; n++)
        printf("  %-13s %s\n", experiments[n].name, experiments[n].summary);
    printf("\nradixpic bench NAME --help tells its options.\n\n"
           "Examples:\n  radixpic bench pic-sort\n  radixpic bench pic-sort --device gpu --csv pic_sort.csv\n"
           "  radixpic bench step --sweep --max-particles 4194304\n"
           "  mpirun -n 2 radixpic bench scaling --strong\n");
}

static bool asks_for_help(int argc, char **argv)
{
    for (int n = 1; n < argc; n++)
        if (strcmp(argv[n], "--help") == 0 || strcmp(argv[n], "-h") == 0)
            return true;
    return false;
}

/* Starts experiment n with its full name as argv[0]. On several ranks most would run once on each, and all
 * write the same file. */
static enum status start(size_t n, int argc, char **argv)
{
    if (communicator_is_parallel() && !experiments[n].on_ranks && !asks_for_help(argc, argv))
        return status_fail(STATUS_USAGE,
                           "%s: runs on one rank; of the experiments only scaling runs on several, so start "
                           "this one without mpirun",
                           argv[0]);
    return experiments[n].run(argc, argv);
}

enum status command_bench(int argc, char **argv)
{
    const char *known[EXPERIMENT_COUNT];
    for (size_t n = 0; n < EXPERIMENT_COUNT; n++)
        known[n] = experiments[n].name;
    if (argc < 2)
        return status_fail(STATUS_USAGE,
                           "radixpic bench: which experiment? Say radixpic bench NAME; radixpic bench --help "
                           "lists them");
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        if (communicator_is_first())
            print_help();
        return STATUS_OK;
    }
    for (size_t n = 0; n < EXPERIMENT_COUNT; n++) {
        if (strcmp(argv[1], experiments[n].name) != 0)
            continue;
        char name[128];
        snprintf(name, sizeof name, "%s %s", argv[0], argv[1]);
        argv[1] = name;
        return start(n, argc - 1, argv + 1);
    }
    return arguments_unknown("radixpic bench: experiment", argv[1], known, EXPERIMENT_COUNT);
}
