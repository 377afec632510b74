/* Checkpoints: by steps, by the clock, by a signal. */
#include "output/checkpoint.h"

#include "base/stop.h"

#include <signal.h>

struct checkpoints {
    double last; /* timer_now() of the last one, or of the start */
    int signal;  /* that asks for the one that is due, or 0 */
};

enum status checkpoints_create(struct device *device, const struct config *config, void **part)
{
    struct checkpoints *checkpoints;
    (void)config;
    TRY(DEVICE_NEW(device, checkpoints));
    checkpoints->last = timer_now();
    *part = checkpoints;
    return STATUS_OK;
}

bool checkpoints_are_due(void *part, const struct view *view)
{
    struct checkpoints *checkpoints = part;
    const struct checkpoints_config *config = &view->config->output.checkpoints;
    const double minutes = (timer_now() - checkpoints->last) / 60;
    double wishes[2] = {(double)stop_signal(), config->minutes > 0 && minutes >= config->minutes};
    communicator_max(view->communicator, 2, wishes);
    checkpoints->signal = view->step >= view->config->time.steps ? 0 : (int)wishes[0];
    return checkpoints->signal != 0 || wishes[1] > 0 ||
           (view->step != view->first_step && view_is_due(view, config->every));
}

enum status checkpoints_write(void *part, const char *folder, const struct view *view, uint64_t *bytes)
{
    struct checkpoints *checkpoints = part;
    TRY(checkpoint_write(folder, view, view->config->output.checkpoints.keep, bytes));
    checkpoints->last = timer_now();
    if (checkpoints->signal == 0)
        return STATUS_OK;
    return status_fail(STATUS_STOPPED, "stopped by %s at step %llu (t = %g), with a checkpoint in %s",
                       checkpoints->signal == SIGINT ? "SIGINT" : "SIGTERM", (unsigned long long)view->step,
                       view->time, folder);
}

/* Of the state, to which the file adds some kilobytes. */
static uint64_t bytes_of(const struct config *config)
{
    uint64_t bytes = 0;
    for (uint32_t s = 0; s < config->species_count; s++) {
        bytes += sizeof(uint32_t) * config->grid.cells[0] * (uint64_t)config->grid.cells[1];
        for (enum attribute a = 0; a < ATTRIBUTES; a++)
            if (attribute_present(&config->species[s], a))
                bytes += config->species[s].particles * attribute_bytes(config->precision, a);
    }
    return bytes;
}

void checkpoints_print_size(const struct config *config)
{
    const struct checkpoints_config *checkpoints = &config->output.checkpoints;
    const uint64_t every = checkpoints->every, steps = config->time.steps;
    const double megabytes = 1e-6 * (double)bytes_of(config);
    printf("checkpoints               ");
    if (every > 0) /* none of the loaded state, one of the last */
        printf("%llu, ", (unsigned long long)(steps / every + (steps % every != 0)));
    if (checkpoints->minutes > 0)
        printf("one every %g minutes, ", checkpoints->minutes);
    printf("one when a signal stops the run; about %.3g MB each, the newest %u kept: %.3g MB\n", megabytes,
           checkpoints->keep, checkpoints->keep * megabytes);
}
