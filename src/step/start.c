/* Start: the launch of kernels/start.cl. */
#include "step/start.h"

#include "step/stepper_internal.h"

static enum status launch(struct device *device, const struct stepper_setup *setup,
                          const struct fields *fields, struct particles *list)
{
    const struct species_motion motion = species_motion_make(list->species, setup);
    struct program *program = NULL;
    struct kernel *kernel = NULL;
    TRY(program_build(device, "start.cl", setup->precision, &program, "-D SHAPE_ORDER=%d",
                      (int)setup->shape));
    TRY(kernel_create(program, "start_velocities", &kernel));
    TRY(KERNEL_LAUNCH(
        kernel,
        launch_covering(list->count, device_group_items(device, FLAT_ITEMS), STAGE_PUSH,
                        6 * (uint64_t)list->count * precision_bytes(setup->precision)),
        arg_buffer(fields->ex), arg_buffer(fields->ey), arg_uint(setup->grid.nx), arg_uint(setup->grid.ny),
        arg_real(motion.half_kick), arg_real(motion.tangent), arg_real(motion.cosine), arg_uint(list->count),
        arg_buffer(list->cell_offsets), arg_buffer(list->attribute[ATTRIBUTE_OFFSET]),
        arg_buffer(list->attribute[ATTRIBUTE_VELOCITY]), arg_uint(particles_stride(list, ATTRIBUTE_VELOCITY)),
        arg_uint(particles_first(list, ATTRIBUTE_VELOCITY))));
    return device_finish(device);
}

enum status start_velocities(struct device *device, const struct stepper_setup *setup,
                             const struct fields *fields, struct particles *list)
{
    struct device *branch = NULL;
    TRY(device_branch(device, &branch));
    const enum status status = launch(branch, setup, fields, list);
    device_close(&branch);
    return status;
}
