/* Local memory, part refine, with dynamic parallelism: a parent whose items launch their children themselves,
 * in OpenCL C 2.0, or in 3.0 where the device has that feature of it. */
#if __OPENCL_C_VERSION__ < 200 || (__OPENCL_C_VERSION__ >= 300 && !defined(__opencl_c_device_enqueue))
#error "kernels that launch kernels need the device-side enqueue of OpenCL C 2.0"
#endif
#include "shared/local_memory.h"

/* One item per cell from `first` to before `end` of the coarse grid of `cells` x `cells`: it writes the
 * cell's value or enqueues the child that does. So no item waits for what another has written, and a child
 * may begin at once. counts[0] is how many were enqueued, counts[1] how many the device refused. */
kernel void refine_parent_enqueue(global uint *values, volatile global uint *counts, uint cells,
                                  uint threshold, uint first, uint end)
{
    const uint cell = first + (uint)get_global_id(0);
    if (cell >= end)
        return;
    const uint density = coarse_density(cell, cells);
    if (density <= threshold) {
        values[cell] = REFINEMENT_CELLS * density;
        return;
    }
    const int error = enqueue_kernel(
        get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(REFINEMENT_CELLS, REFINEMENT_CELLS),
        ^(local void *sums) {
          refine_cell(values, cell, cells, (local uint *)sums);
        },
        (uint)(REFINEMENT_CELLS * sizeof(uint)));
    atomic_inc(&counts[error == CLK_SUCCESS ? 0 : 1]);
}
