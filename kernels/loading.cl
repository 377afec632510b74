/* Loading: every work-item makes its own particles from their global indices; nothing is shared.
 *
 * Needs fp64 whatever the precision of the state is.
 */
/* Fused multiply-adds would round differently from device to device and from the host's twin. */
#pragma OPENCL FP_CONTRACT OFF

#define LANES 1
#include "shared/loading.h"

/* Particle n < count here is particle first + n of the species. Its offset is element stride * n, its
 * velocity stride * n + velocity_first, its id its global index. For no w, weight or id any buffer stands in.
 */
kernel void load_particles(ulong first, uint count, global const struct recipe *recipe,
                           global const struct cosine *terms, global const double *tables,
                           global real2 *offset, global real2 *velocity, uint stride, uint velocity_first,
                           uint has_w, global real *w, global uint *key, uint has_ids, global ulong *id,
                           uint has_weights, global real *weight)
{
    const uint n = (uint)get_global_id(0);
    if (n >= count)
        return;
    const struct loaded_particle particle = recipe_particle(recipe, terms, tables, first + n);
    const struct site x = site_rounded(particle.cell[0], (real)particle.offset[0], recipe->cells[0]);
    const struct site y = site_rounded(particle.cell[1], (real)particle.offset[1], recipe->cells[1]);
    offset[stride * n] = (real2)((real)x.offset, (real)y.offset);
    velocity[stride * n + velocity_first] = (real2)((real)particle.velocity[0], (real)particle.velocity[1]);
    key[n] = cell_index(x.cell, y.cell, recipe->cells[1]);
    if (has_w)
        w[n] = (real)particle.velocity[2];
    if (has_weights)
        weight[n] = (real)particle.weight;
    if (has_ids)
        id[n] = first + n;
}
