/* Announce: the first lines of a run. */
#include "commands/announce.h"

#include "commands/consequences.h"

#include <string.h>

/* "3 ranks, 10 to 11 of 32 rows each" */
static void announce_ranks(const struct simulation *simulation, struct log *log)
{
    const struct partition *partition = &simulation->partition;
    uint32_t fewest = partition->rows, most = 0;
    for (int rank = 0; rank < partition->ranks; rank++) {
        const uint32_t rows = partition_rows(partition, rank);
        fewest = rows < fewest ? rows : fewest;
        most = rows > most ? rows : most;
    }
    char least[16] = ""; /* "5 to " */
    if (fewest < most)
        snprintf(least, sizeof least, "%u to ", fewest);
    if (partition->ranks > 1)
        log_line(log, LOG_NORMAL, "%d ranks, %s%u of %u rows each", partition->ranks, least, most,
                 partition->rows);
}

static bool is_radix(const struct simulation *simulation)
{
    return simulation->stepper.kind == &radix_step;
}

/* The stepper, how it sorts, and what another one would change. */
static void announce_step(const struct simulation *simulation, struct log *log)
{
    const struct sorter_plan *sort_plan = &simulation->stepper.setup.sort;
    const struct stepper_kind *fused = NULL;
    char sort[256];
    log_line(log, LOG_NORMAL, "step: %s", simulation->stepper.kind->summary);
    sorter_plan_describe(sort_plan, sort, sizeof sort);
    log_line(log, is_radix(simulation) ? LOG_NORMAL : LOG_VERBOSE, "sort: %s", sort);
    if (is_radix(simulation) &&
        stepper_choose(STEP_AUTO, device_info(simulation->device), &simulation->stepper.setup, &fused) ==
            STATUS_OK &&
        fused != &radix_step)
        log_line(log, LOG_NORMAL,
                 "step.method=fused would take %s; the same particles up to round-off, in less time",
                 fused->summary);
    if (sort_plan->note[0] != '\0')
        log_line(log, LOG_QUIET, "warning: %s", sort_plan->note);
}

void announce(const struct simulation *simulation, struct log *log)
{
    const struct config *config = simulation->config;
    const struct device_info *info = device_info(simulation->device);
    const uint64_t particles = simulation_particles(config);
    log_line(log, LOG_NORMAL, "%s", config->title);
    log_line(log, LOG_NORMAL,
             "%llu particles of %u species on %ux%u cells, %llu steps of %g, %s precision, on %s",
             (unsigned long long)particles, config->species_count, config->grid.cells[0],
             config->grid.cells[1], (unsigned long long)config->time.steps, config->time.step,
             config->precision == PRECISION_DOUBLE ? "double" : "single", info->name);
    announce_ranks(simulation, log);
    log_line(log, LOG_VERBOSE, "%u compute units, %zu KiB local memory", info->compute_units,
             info->local_memory / 1024);
    announce_step(simulation, log);
    /* Transforms on the host of a GPU cross the bus in every step, which the log should show. */
    const bool on_host_of_gpu =
        !info->is_cpu && strcmp(field_solver_name(simulation->field_solver), "FFTW") == 0;
    log_line(log, on_host_of_gpu ? LOG_NORMAL : LOG_VERBOSE, "field solver: %s%s",
             field_solver_name(simulation->field_solver), on_host_of_gpu ? ", on the host" : "");
    consequences_warn(config, log);
    consequences_warn_idle(config, simulation->stepper.setup.sort.method, !is_radix(simulation), log);
}
