/* Performance: the group of attributes. */
#include "output/performance.h"

#include "base/timer.h"
#include "step/stepper.h"

static void record_stages(struct hdf5_object *group, const struct timers *timers)
{
    const char *names[STAGE_OTHER];
    double shares[STAGE_OTHER], all = 0;
    size_t count = 0;
    for (int stage = 0; stage < STAGE_OTHER; stage++)
        all += timers->stages[stage].seconds;
    for (int stage = 0; stage < STAGE_OTHER; stage++)
        if (timers->stages[stage].seconds > 0) {
            names[count] = stage_name((enum stage)stage);
            shares[count++] = timers->stages[stage].seconds / all;
        }
    if (count == 0)
        return;
    hdf5_texts(group, "stages", count, names);
    hdf5_doubles(group, "stageShares", count, shares);
}

void performance_record(struct hdf5_file *file, const struct view *view)
{
    struct hdf5_object *group = hdf5_group(&file->root, "performance");
    hdf5_numbers(group, "run", HDF5_UINT64, 0, &view->run);
    if (!view->stepper)
        return;
    struct device *device = view->stepper->device;
    const struct device_info *info = device_info(device);
    const uint64_t steps = view->step - view->first_step;
    const double seconds = timer_now() - view->started;
    double particles = 0;
    char sort[256] = "";
    for (uint32_t s = 0; s < view->config->species_count; s++)
        particles += (double)view->config->species[s].particles;
    sorter_plan_describe(&view->stepper->setup.sort, sort, sizeof sort);
    hdf5_text(&file->root, "kernelsFolder", program_folder());
    hdf5_numbers(&file->root, "kernelsDigest", HDF5_UINT64, 0, &info->kernels);
    hdf5_text(group, "device", info->name);
    hdf5_text(group, "driver", info->driver);
    hdf5_text(group, "stepper", view->stepper->kind->name);
    hdf5_text(group, "sort", sort);
    hdf5_numbers(group, "ranks", HDF5_UINT32, 0, &(uint32_t){(uint32_t)view->communicator->size});
    hdf5_numbers(group, "steps", HDF5_UINT64, 0, &steps);
    hdf5_double(group, "nsPerParticleStep", steps > 0 ? 1e9 * seconds / ((double)steps * particles) : 0);
    record_stages(group, device_timers(device));
}
