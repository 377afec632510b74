/* radixpic bench: the experiments by name. */
#include "experiments/bench.h"
#include "base/suggest.h"
#include "commands/commands.h"

#include <string.h>

static const struct experiment *const experiments[] = {
    &experiment_pic_sort, &experiment_random_lists, &experiment_permutation, &experiment_local_memory,
    &experiment_step,     &experiment_deposit,      &experiment_scaling,     &experiment_layout,
};
enum { EXPERIMENT_COUNT = sizeof experiments / sizeof experiments[0] };

static void print_help(void)
{
    printf("Usage: radixpic bench NAME [OPTION...]\nRun an experiment and print its table.\n\n");
    for (size_t n = 0; n < EXPERIMENT_COUNT; n++)
        printf("  %-13s %s\n", experiments[n]->name, experiments[n]->summary);
    printf("\nradixpic bench NAME --help tells its options.\n\n"
           "Examples:\n  radixpic bench pic-sort\n  radixpic bench pic-sort --device gpu --csv pic_sort.csv\n"
           "  radixpic bench step --sweep --max-particles 4194304\n"
           "  mpirun -n 2 radixpic bench scaling --strong\n");
}

enum status command_bench(int argc, char **argv)
{
    const char *known[EXPERIMENT_COUNT];
    char name[128];
    size_t found;
    for (size_t n = 0; n < EXPERIMENT_COUNT; n++)
        known[n] = experiments[n]->name;
    if (argc < 2)
        return status_fail(STATUS_USAGE,
                           "radixpic bench: which experiment? Say radixpic bench NAME; radixpic bench --help "
                           "lists them");
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        if (communicator_is_first())
            print_help();
        return STATUS_OK;
    }
    TRY(suggest_find("radixpic bench: experiment", argv[1], known, EXPERIMENT_COUNT, &found));
    snprintf(name, sizeof name, "%s %s", argv[0], argv[1]);
    argv[1] = name;
    return bench_run(experiments[found], argc - 1, argv + 1);
}
