/* External: fields of the config that particles feel beside their own: formulas of x, y and t, or the static
 * ones of a file (fields.external), and waves A g(t) cos(k x - omega t) along an axis (fields.drive); and the
 * work of the waves, and of all of them on each species.
 *
 * The table of a file is written once. Formulas are evaluated on the nodes by the device, once or, where one
 * has t in it, in each step, as terms of kernels/external.cl (config/formula_source.h). In single precision
 * too they are evaluated in double precision where the device has it, and only their values are rounded. A
 * kernel marks a node where a value is not finite: the host looks for that in the first step, and later where
 * it reads sums anyway, so that no step waits for it.
 *
 * g rises from 0 to 1 in the time `ramp` after `from`, and falls again in that time before `until`, each as
 * sin^2.
 *
 * The work of waves on the particles follows from the charge density alone. The field is -grad phi with phi =
 * -(A g/k) sin(k x - omega t), so its power, the sum over particles of q v.E, is the integral of -J.grad phi,
 * in parts that of phi div J, and by continuity that of -phi d rho/dt. On the nodes a wave of charge has the
 * factor S of the particles' shape; the field that they interpolate has the same, so the sum over the nodes
 * is right but for the grid's aliases. A step adds -phi at its middle times the change of rho: of second
 * order in the time step, as is the leapfrog's energy. That needs the mode of each wave in rho at each n. A
 * filter's factor F in it is taken out. Test particles do not count.
 *
 * The work on a species (output.history.work) is a sum over its particles that the push adds up: w q dt/2
 * times kick_power() (kernels/shared/motion.h) of the external E alone, between the momenta of each half
 * kick. With the same of the other fields that is what the kicks change in the kinetic energy, to round-off;
 * the rotation by B between them changes nothing, but for Vay's pusher, of second order in the time step.
 */
#ifndef RADIXPIC_FIELD_EXTERNAL_H
#define RADIXPIC_FIELD_EXTERNAL_H

#include "domain/fields.h"
#include "parallel/ghost_rows.h"

struct external;

/* The external fields of the config on a slab. The config outlives them; they die with the device handle. */
STATUS_CHECKED enum status external_create(const struct rank_place *place, const struct config *config,
                                           struct external **external);

/* *total <- the fields, of which `total` has fields_felt() components, those of `step` added, in an array
 * of its own, on all rows that a rank's particles feel. Where the config has none it is the fields.
 * total->external, with output.history.work, <- those of `step` alone.
 * Non-blocking but for the first time, when it is collective and requires the formulas to be finite. */
STATUS_CHECKED enum status external_apply(struct external *external, const struct fields *fields,
                                          uint64_t step, struct fields *total);

/* STATUS_FAILED where a formula was not finite on a node of any rank in the steps up to `last`, after which
 * the queue in use comes, and which it waits for. Collective. */
STATUS_CHECKED enum status external_require_finite(struct external *external, uint64_t last);

/* The work of all drives in a step that has `time` as its middle. before[2 n], before[2 n + 1] are real and
 * imaginary part of (1/(nx ny)) sum rho exp(-i k x) of drive n at its begin, `after` at its end. */
double drives_work(const struct config *config, double time, const double *before, const double *after);

#endif
